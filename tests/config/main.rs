//! Configuration files as people write them: good, bad and hostile.
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail by panicking")]

mod defaults;
#[cfg(feature = "schema")]
mod docs;
mod hostile;
mod invalid;
mod layers;
mod mistakes;
mod policy;
#[path = "../support/registry.rs"]
mod registry;
#[cfg(feature = "schema")]
mod schema;
mod valid;
mod warned;
