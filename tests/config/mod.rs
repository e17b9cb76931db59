//! Configuration files as people write them: good, bad and hostile.

mod defaults;
#[cfg(feature = "schema")]
mod docs;
mod hostile;
mod invalid;
mod layers;
mod mistakes;
mod policy;
#[cfg(feature = "schema")]
mod schema;
mod valid;
mod warned;
