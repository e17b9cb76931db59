//! `hooks.yaml`: read, checked and resolved, with every problem of a file in one go.

mod audit;
mod build_error;
mod builder;
mod check;
pub(crate) mod condition;
pub(crate) mod document;
pub(crate) mod failed;
mod hook;
mod keys;
pub(crate) mod layer;
mod limit;
mod matcher;
pub(crate) mod model;
mod own_keys;
pub(crate) mod policy;
pub(crate) mod process;
pub(crate) mod schema;
mod when;

#[doc(inline)]
pub use hookexec_files::diagnostic::{Diagnostic, Diagnostics, Severity};
#[doc(inline)]
pub use hookexec_files::source::{Location, SourceFile};

pub use audit::AuditSettings;
pub use build_error::BuildError;
pub use builder::{ConfigBuilder, Draft, FileConfig};
pub(crate) use check::Identity;
pub use condition::{Condition, Trace};
pub use document::{hooks_block, read_text};
pub use failed::{FailedFile, Untrusted};
pub use layer::{InLayer, Layer, file_of_layer};
pub use limit::Period;
pub(crate) use limit::RunLimit;
#[cfg(test)]
pub(crate) use model::Limits;
pub use model::{
    Command, Config, Hook, InheritEnv, KeyLocations, OnError, Phase, Process, SideEffects,
};
pub(crate) use model::{EventMethod, Protocol};
pub use own_keys::Groups;
pub use policy::PolicySettings;
pub use policy::Source;
pub(crate) use schema::config_schema;
pub use schema::key_tables;
