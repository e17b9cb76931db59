//! hookexec in the settings of coding agents: installation, removal, checks, the import of other
//! hooks, and changes to the text of a hooks file. Returns data and prints nothing.
//!
//! This package is for the packages of hookexec alone: its interface may change with any version.
#![forbid(unsafe_code)]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    reason = "only packages of hookexec use it"
)]

pub mod codex;
pub mod doctor;
pub mod edit;
pub mod import;
pub mod lints;
pub mod matchers;
pub mod program;
pub mod scripts;
pub mod settings;
#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
pub mod system;
pub mod waits;
