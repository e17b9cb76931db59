//! `hooks.yaml`: read, checked and resolved, with every problem of a file in one go.

mod builder;
mod check;
pub(crate) mod condition;
pub(crate) mod document;
pub(crate) mod failed;
mod hook;
mod keys;
pub(crate) mod layer;
mod limit;
pub(crate) mod model;
pub(crate) mod process;
pub(crate) mod schema;
pub(crate) mod settings;
mod when;

#[doc(inline)]
pub use hookexec_files::diagnostic::{Diagnostic, Diagnostics, Severity};
#[doc(inline)]
pub use hookexec_files::source::{Location, SourceFile};

pub use builder::{ConfigBuilder, FileConfig};
pub(crate) use check::Identity;
pub use condition::{Condition, Trace};
pub use document::{hooks_block, read_text};
pub(crate) use failed::BuildError;
pub use failed::{FailedFile, Untrusted};
pub use hook::Groups;
pub(crate) use layer::ByRank;
pub use layer::{InLayer, Layer, file_of_layer};
pub use limit::Period;
pub(crate) use limit::RunLimit;
#[cfg(test)]
pub(crate) use model::Limits;
pub use model::{Command, Hook, InheritEnv, KeyLocations, OnError, Phase, Process, SideEffects};
pub(crate) use model::{Config, EventMethod, Protocol};
pub(crate) use schema::config_schema;
pub use schema::key_tables;
pub use settings::{AuditSettings, PolicySettings, Source};
