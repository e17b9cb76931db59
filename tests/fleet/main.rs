//! Policies: built, tested, signed, moved through a real registry, and in force on machines.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]
#![expect(clippy::expect_used, reason = "a test that can't go on fails")]

mod archives;
mod machines;
mod registry;
#[path = "../support/mod.rs"]
mod support;
mod team;
mod walk;
#[cfg(feature = "http")]
mod web;
