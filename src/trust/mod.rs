//! Which hooks files of projects may run: those that a person approved.
//!
//! An approval covers the bytes of a hooks file and, hook by hook, the scripts that it executes. A
//! [`Bundle`] is that file with those scripts; a [`TrustStore`] keeps the digests that were approved,
//! and the bytes, to show what changed.

pub(crate) mod bases;
pub(crate) mod bundle;
pub(crate) mod changes;
mod command_words;
mod diff;
mod permissions;
mod programs;
mod records;
mod scripts;
mod settings;
mod store;
#[cfg(test)]
mod tests;

pub use bundle::{Bundle, BundleFile, CoveredHook, ScriptProblem};
pub use changes::ScriptChange;
pub use command_words::DIRECTORIES;
pub use permissions::UnsafeFile;
pub(crate) use permissions::{check_permissions, check_plain, check_project_file};
pub use store::{Approval, Trust, TrustStore};
