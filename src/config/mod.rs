//! `hooks.yaml`: read, checked and resolved, with every problem of a file in one go.

mod assembly;
mod audit;
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
pub(crate) mod picoclaw;
pub(crate) mod policy;
mod process;
pub(crate) mod rollout;
pub(crate) mod schema;
mod when;

#[doc(inline)]
pub use hookexec_files::diagnostic::{Diagnostic, Diagnostics, Severity};
#[doc(inline)]
pub use hookexec_files::source::Location;
pub(crate) use hookexec_files::source::SourceFile;

pub(crate) use assembly::{Assembly, FileConfig};
pub use audit::AuditSettings;
pub(crate) use check::Identity;
#[cfg(test)]
pub(crate) use condition::Condition;
pub use failed::FailedFile;
pub(crate) use failed::Untrusted;
pub use layer::Layer;
pub(crate) use layer::{InLayer, file_of_layer};
pub(crate) use limit::{Period, RunLimit};
pub use model::{Command, Config, Hook, InheritEnv, OnError, Phase, SideEffects};
pub(crate) use model::{EventMethod, Limits, Process, Protocol};
pub use own_keys::Groups;
pub(crate) use policy::{Policy, PolicySettings};
pub(crate) use schema::config_schema;
