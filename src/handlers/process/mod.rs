//! `type: process`: long-lived children that speak JSON-RPC 2.0 over stdio. MCP servers do, too.
//!
//! `processes` holds the children of an executor. `entry` starts a child when it is needed, and
//! `task` owns it while it runs: one task reads and writes its pipes, matches calls and replies by
//! id, and keeps deadlines. `connection` is the handle that callers have. `wire`, `answer` and
//! `rewrite` say what the messages mean; `rpc` knows lines and messages only.

mod answer;
mod connection;
mod conversation;
mod crashes;
mod entry;
mod greeting;
mod handler;
mod injected;
mod minder;
mod notifications;
mod observe;
pub(crate) mod processes;
mod rewrite;
mod same;
pub(crate) mod statistics;
mod stream;
mod wire;
mod writer;

pub(super) use handler::Callee;
pub(crate) use handler::build;
pub(crate) use processes::Processes;
