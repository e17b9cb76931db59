//! Deterministic control over AI agents.
//!
//! `hookexec` reads a declarative `hooks.yaml`; at each event in an agent's life it runs the hooks
//! that match and folds their answers into one [`Verdict`].
#![forbid(unsafe_code)]

pub mod agents;
pub mod config;
pub mod event;
pub mod executor;
pub mod handlers;
pub mod lifecycle;
mod pattern;
pub mod registry;
#[cfg(feature = "schema")]
pub mod schema;
mod suggest;
pub mod trust;
pub mod wire;

pub use config::Config;
pub use event::{Contract, Event};
pub use executor::{Executor, ExecutorBuilder};
pub use registry::{
    Call, Handler, HandlerEnv, HandlerError, HandlerFactory, HandlerResult, Registry,
};
pub use wire::{Decision, Input, Output, Verdict};
