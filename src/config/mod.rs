//! `hooks.yaml`: read, checked and resolved, with every problem of a file in one go.

mod alike;
mod assembly;
mod audit;
mod check;
mod condition;
mod defaults;
mod diagnostic;
mod docker;
mod document;
mod hook;
mod layer;
mod matcher;
mod model;
mod node;
pub(crate) mod picoclaw;
mod process;
mod reader;
mod render;
#[cfg(feature = "schema")]
mod schema;
mod source;
mod summary;
mod units;
mod when;
mod yaml;

pub(crate) use alike::Alike;
pub(crate) use assembly::{Assembly, syntax_error, whole_file};
pub use audit::{AuditInput, AuditSettings};
pub use condition::{Condition, Leaf, Trace};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use layer::Layer;
pub use model::{
    Command, Config, EventMethod, FailedFile, Hook, InheritEnv, Limits, OnError, Process,
    SideEffects, Untrusted,
};
#[doc(hidden)]
pub use node::{Node, Value};
#[doc(hidden)]
pub use reader::{Fields, Reader};
#[cfg(feature = "schema")]
pub use schema::config_schema;
pub use source::{KeyLocations, Location, SourceFile};
pub use summary::HookSummary;
#[doc(hidden)]
pub use yaml::{SyntaxError, parse as parse_yaml};
