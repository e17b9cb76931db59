//! JSON-RPC 2.0, one object a line: framing and messages, apart from who speaks and why.

mod line;
mod message;

pub(crate) use line::{Line, LineDecoder};
pub(crate) use message::Incoming;
pub(super) use message::{RpcError, notification, refusal, request};
