//! The command line, from outside.
#![cfg(test)]

mod basics;
mod generated;
mod run;
mod signals;
#[path = "../support/mod.rs"]
mod support;
