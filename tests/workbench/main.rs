//! Explaining, testing, recording and replaying, from outside.
#![cfg(test)]

mod audit;
mod cases;
mod explain;
mod from;
mod page;
#[cfg(feature = "http")]
mod ship;
#[path = "../support/mod.rs"]
mod support;
mod walk;
