//! The engine as a server: the protocol through the library, everything else through the command.
#![cfg(test)]

mod agents;
mod connect;
mod hosts;
mod install;
mod load;
mod partner;
mod process;
mod protocol;
mod reload;
#[path = "../support/state.rs"]
mod state;
#[path = "../support/mod.rs"]
mod support;
