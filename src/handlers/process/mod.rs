//! `type: process`: long-lived children that speak JSON-RPC 2.0 over stdio.

/// The processes of one executor, started when they are first needed.
#[derive(Debug, Default)]
pub struct Processes {}
