//! `type: process`: long-lived children that speak JSON-RPC 2.0 over stdio.
//!
//! `processes` holds the children of an executor, `supervisor` starts one of them when it is needed,
//! `attend` is the task that reads and writes its pipes, `client` matches calls and replies. What is
//! said over them is in `wire`, `answer` and `rewrite`; `rpc` knows lines and messages only.

mod answer;
mod attend;
mod client;
mod error;
mod greeting;
mod handler;
mod health;
mod injected;
mod lane;
mod launch;
mod observe;
mod outbox;
mod processes;
mod rewrite;
pub(crate) mod rpc;
mod same;
mod statistics;
mod supervisor;
mod wire;

pub use handler::ProcessFactory;
pub use processes::{ProcessCheck, Processes};
pub use statistics::ProcessStatistics;
