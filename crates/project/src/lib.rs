//! Which hooks files count: those of all layers, as far as a person approved them, with the policies
//! that they name; and the log of decisions.
//!
//! [`load`] finds the files. `registry.record_by(hookexec_project::log::recorder)` writes the log that
//! they configure in `audit:`.
//!
//! ```no_run
//! use hookexec::{Executor, Registry};
//! use hookexec_project::LoadOptions;
//!
//! let mut registry = Registry::new();
//! registry.record_by(hookexec_project::log::recorder);
//! let config = hookexec_project::load(&LoadOptions::default())?.config;
//! let executor = Executor::builder(config).registry(registry).build()?;
//! # Ok::<(), hookexec::config::Diagnostics>(())
//! ```
#![forbid(unsafe_code)]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "its interface may change with any version"
)]

mod check;
mod layout;
mod load;
pub mod log;
pub mod policy;
pub mod trust;

pub use check::{Check, check};
pub use load::{LoadOptions, Loaded, Place, Stamps, Watcher, load};
