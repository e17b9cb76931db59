//! `hooks.yaml`: read, checked and resolved, with every problem of a file in one go.

mod assembly;
mod audit;
mod check;
mod condition;
mod diagnostic;
mod document;
mod hook;
mod keys;
mod kinds;
mod layer;
mod limit;
mod matcher;
mod model;
mod node;
pub(crate) mod picoclaw;
mod process;
mod reader;
mod render;
mod schema;
mod section;
mod source;
mod units;
mod when;
mod yaml;

/// Reading YAML files of other kinds with the same messages. Not covered by semantic versioning.
#[doc(hidden)]
pub mod reading {
    pub use super::kinds::{At, Count, Filled, Words, reference};
    pub use super::node::{Node, Value};
    pub use super::reader::{Fields, Reader, read_text};
    pub use super::section::{Key, Kind, object};
}

pub(crate) use assembly::{Assembly, syntax_error};
pub use audit::{AuditInput, AuditSettings};
pub use condition::{Condition, Leaf, List, Trace};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use layer::Layer;
pub use limit::{Period, RunLimit};
pub(crate) use model::Identity;
pub use model::{
    Command, Config, EventMethod, FailedFile, Hook, InheritEnv, Limits, OnError, Phase, Process,
    SideEffects, Untrusted,
};
pub(crate) use node::{Node, Value};
pub use schema::{config_schema, key_tables};
pub use source::{KeyLocations, Location, SourceFile};
pub(crate) use yaml::parse as parse_yaml;
