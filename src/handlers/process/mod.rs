//! `type: process`: long-lived children that speak JSON-RPC 2.0 over stdio.

/// The processes of one executor, started when they are first needed.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Processes {}

impl Processes {
    /// Stops every process: end of input, then TERM, then KILL to its group.
    #[expect(clippy::unused_async, reason = "stopping a child waits for it")]
    pub async fn shutdown(&self) {}
}
