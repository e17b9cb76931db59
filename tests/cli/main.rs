//! The command line, from outside.
#![cfg(test)]

mod approval;
mod approve;
mod basics;
mod builtins;
mod configuration;
mod examples;
mod first_steps;
mod generated;
mod home;
mod hosts;
mod layers;
mod nested;
mod practise;
mod processes;
mod ranks;
mod readme;
#[path = "../support/registry.rs"]
mod registry;
mod run;
mod signals;
#[path = "../support/state.rs"]
mod state;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/terminal.rs"]
mod terminal;
mod trust;
