//! The command line, from outside: one binary, because linking one takes less time than linking many.
#![cfg(test)]

#[path = "../agents/mod.rs"]
mod agents;
mod approval;
mod approve;
mod basics;
mod builtins;
mod configuration;
mod examples;
mod first_steps;
#[cfg(unix)]
#[path = "../fleet/mod.rs"]
mod fleet;
mod generated;
mod home;
mod hosts;
mod layers;
#[path = "../mcp/mod.rs"]
mod mcp;
mod nested;
mod practise;
mod processes;
mod ranks;
mod readme;
mod recipes;
#[path = "../support/registry.rs"]
mod registry;
mod run;
#[path = "../serve/mod.rs"]
mod serve;
mod signals;
#[path = "../support/state.rs"]
mod state;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/terminal.rs"]
mod terminal;
mod trust;
#[path = "../workbench/mod.rs"]
mod workbench;
