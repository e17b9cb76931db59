//! `hooks.yaml`: read, checked and resolved, with every problem of a file in one go.

mod assembly;
mod audit;
mod check;
pub(crate) mod condition;
mod diagnostic;
pub(crate) mod document;
pub(crate) mod failed;
mod hook;
mod keys;
pub(crate) mod kinds;
mod layer;
mod limit;
mod matcher;
pub(crate) mod model;
pub(crate) mod node;
pub(crate) mod picoclaw;
pub(crate) mod policy;
mod process;
pub(crate) mod reader;
mod render;
pub(crate) mod rollout;
pub(crate) mod schema;
pub(crate) mod section;
pub(crate) mod source;
pub(crate) mod units;
mod when;
pub(crate) mod yaml;

pub(crate) use assembly::{Assembly, FileConfig};
pub use audit::AuditSettings;
pub(crate) use check::Identity;
#[cfg(test)]
pub(crate) use condition::Condition;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use failed::FailedFile;
pub(crate) use failed::Untrusted;
pub use layer::Layer;
pub(crate) use limit::{Period, RunLimit};
pub use model::{Command, Config, Hook, InheritEnv, OnError, Phase, SideEffects};
pub(crate) use model::{EventMethod, Limits, Process, Protocol};
pub(crate) use policy::{Policy, PolicySettings};
pub(crate) use schema::config_schema;
pub use source::Location;
pub(crate) use source::SourceFile;
