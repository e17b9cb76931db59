//! `hooks.yaml`: read, checked and resolved, with every problem of a file in one go.

mod acceptance;
mod alike;
mod audit;
mod cases;
#[cfg(feature = "schema")]
mod cases_schema;
mod check;
mod condition;
mod defaults;
mod diagnostic;
mod docker;
mod document;
mod file;
pub(crate) mod home;
mod hook;
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
#[cfg(feature = "schema")]
mod schema;
mod source;
mod summary;
mod units;
mod when;
mod yaml;

pub use acceptance::ProjectFile;
pub(crate) use alike::Alike;
#[cfg(feature = "schema")]
pub use cases_schema::cases_schema;
pub use condition::{Condition, Leaf, Trace};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use home::home_directory;
pub use layers::{Layer, LoadOptions};
pub(crate) use load::Loading;
pub use model::{
    Command, Config, EventMethod, FailedFile, Hook, InheritEnv, Limits, OnError, Process,
    SideEffects,
};
#[cfg(feature = "schema")]
pub use schema::config_schema;
pub use source::{KeyLocations, Location, SourceFile};
pub use summary::HookSummary;
