//! Bundles: built, tested, signed, moved through a real registry, and in force on machines.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]
#![expect(clippy::expect_used, reason = "a test that can't go on fails")]

mod bundles;
mod machines;
mod packs;
mod registry;
#[path = "../support/server.rs"]
mod server;
#[path = "../support/mod.rs"]
mod support;
mod team;
#[cfg(feature = "http")]
mod walk;
mod web;
