//! Explaining, testing, recording and replaying, from outside.
#![cfg(test)]

mod cases;
mod explain;
#[path = "../support/mod.rs"]
mod support;
