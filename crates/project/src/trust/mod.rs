//! Which hooks files of projects may run: those that a person approved.
//!
//! An approval covers the bytes of a hooks file and of every file of the project that its commands name.
//! It stores the paths that the commands name, so that no command is read at an event: each path must
//! lead to nothing or to the approved bytes.

mod coverage;
mod permissions;
mod programs;
mod project_file;
mod review;
mod store;
#[cfg(test)]
mod tests;

pub use coverage::{Coverage, in_known_directory};
pub(crate) use permissions::{check_file, check_plain};
pub use programs::is_shell_word;
pub(crate) use programs::typed;
pub use project_file::{Blocked, FileChange, Found, NamedFile, NamedPath, ProjectFile, Start};
pub use review::{Review, Status};
pub use store::{Approval, TrustStore};
