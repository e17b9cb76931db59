//! `hooks.yaml`: read, checked and resolved, with every problem of a file in one go.

mod condition;
mod defaults;
mod diagnostic;
mod document;
mod hook;
mod load;
mod model;
mod node;
mod process;
mod reader;
mod source;
mod units;
mod when;
mod yaml;

pub use condition::{Condition, Leaf, Trace};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use model::{Command, Config, EventMethod, Hook, InheritEnv, OnError, Process, SideEffects};
pub use source::{Location, SourceFile};
