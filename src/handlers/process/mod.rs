//! `type: process`: long-lived children that speak JSON-RPC 2.0 over stdio. MCP servers do, too.
//!
//! `processes` holds the children of an executor, and `entry` starts one when it is needed. A caller
//! writes its call by the `connection` to a child and waits there for the reply. The `minder` of the
//! child reads what it says and ends it. `picoclaw` says what the messages mean; `rpc` knows lines and
//! messages only.

mod connection;
mod conversation;
mod entry;
mod greeting;
mod handler;
mod injected;
mod minder;
mod notifications;
mod picoclaw;
pub(crate) mod processes;

pub use handler::CalledProcess;
pub(crate) use handler::build;
pub(crate) use processes::Processes;
