//! `hooks.yaml`: read, checked and resolved, with every problem of a file in one go.

mod acceptance;
mod alike;
mod audit;
mod check;
mod condition;
mod diagnostic;
mod docker;
mod document;
mod file;
pub(crate) mod home;
mod hook;
mod keys;
mod kinds;
pub(crate) mod layers;
mod load;
mod matcher;
mod model;
mod node;
pub(crate) mod picoclaw;
mod places;
mod process;
mod reader;
mod render;
mod schema;
mod section;
mod source;
mod summary;
mod units;
mod when;
mod yaml;

/// Reading YAML files of other kinds with the same messages. Not covered by semantic versioning.
#[doc(hidden)]
pub mod reading {
    pub use super::file::read_named as read_file;
    pub use super::kinds::{At, Count, Filled, Words, reference};
    pub use super::node::{Node, Value};
    pub use super::reader::{Fields, Reader, read_text};
    pub use super::section::{Key, Kind, object};
}

pub use acceptance::ProjectFile;
pub(crate) use alike::Alike;
pub use condition::{Condition, Leaf, Trace};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use home::home_directory;
pub use layers::{Layer, LoadOptions};
pub(crate) use load::Loading;
pub use model::{
    Command, Config, EventMethod, FailedFile, Hook, InheritEnv, Limits, OnError, Process,
    SideEffects,
};
pub use schema::{config_schema, key_tables};
pub use source::{KeyLocations, Location, SourceFile};
pub use summary::HookSummary;
