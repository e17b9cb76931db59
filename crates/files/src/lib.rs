//! Private files, the directories of a user, and what differs between systems.
//!
//! This package knows no hooks. It is for the packages of hookexec alone: its interface may change with
//! any version.
#![forbid(unsafe_code)]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    reason = "only packages of hookexec use it"
)]

pub mod bounded;
pub mod directories;
pub mod files;
pub mod locks;
pub mod paths;
pub mod platform;
pub mod suggest;
pub mod template;
pub mod text;
