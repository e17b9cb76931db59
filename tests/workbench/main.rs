//! Explaining, testing, recording and replaying, from outside.
#![cfg(test)]

mod audit;
mod cases;
mod explain;
mod from;
mod page;
#[path = "../support/mod.rs"]
mod support;
mod walk;
