//! Policies: built, tested, signed, moved through a real registry, and in force on machines.

mod archives;
mod machines;
mod registry;
mod team;
mod walk;
#[cfg(feature = "http")]
mod web;
