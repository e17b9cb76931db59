//! The engine as a server and its client, the questions to people, and the proxy before an MCP server.
//!
//! This package is for the packages of hookexec alone: its interface may change with any version.
#![forbid(unsafe_code)]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    reason = "only packages of hookexec use it"
)]

pub mod approve;
pub mod mcp;
pub mod server;
