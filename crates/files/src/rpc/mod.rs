//! JSON-RPC 2.0, one object a line: framing and messages, apart from who speaks and why.

mod line;
pub mod mcp;
mod message;

pub use line::{Line, LineDecoder};
pub use message::{Incoming, RpcError, nothing, notification, refusal, request};
