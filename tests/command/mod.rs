//! Command hooks against real programs, below the executor: the handler alone.

mod basics;
mod environment;
mod harness;
mod starting;
mod traps;
