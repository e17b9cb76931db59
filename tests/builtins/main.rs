//! The shipped builtins, against the real thing.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]

mod audit_log;
mod commands;
mod conditions;
mod context;
mod files;
mod git;
mod http_post;
mod limit_calls;
mod max_iterations;
#[cfg(feature = "http")]
#[path = "../support/one_post.rs"]
mod one_post;

#[cfg(unix)]
mod places;
#[cfg(unix)]
#[path = "../support/random.rs"]
mod random;
mod redact_secrets;
mod registered;
#[path = "../support/registry.rs"]
mod registry;
mod responses;
mod rules;
mod secrets;
mod support;
