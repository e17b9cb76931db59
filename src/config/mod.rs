//! `hooks.yaml`: read, checked and resolved, with every problem of a file in one go.

mod condition;
mod diagnostic;
mod model;
mod source;

pub use condition::Condition;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use model::{Command, Config, EventMethod, Hook, InheritEnv, OnError, Process};
pub use source::{Location, SourceFile};
