//! The command line, from outside.
#![cfg(test)]

mod basics;
mod generated;
#[path = "../support/mod.rs"]
mod support;
