//! Explaining, testing, recording and replaying, from outside.
#![cfg(test)]

mod audit;
mod cases;
mod explain;
#[path = "../support/mod.rs"]
mod support;
mod walk;
