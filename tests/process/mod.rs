//! Process hooks, against real children that behave and misbehave.

mod basics;
mod dying;
mod examples;
mod harness;
mod mcp;
mod pressure;
mod replies;
mod rewrites;
mod stage;
mod stages;
mod starting;
mod stopping;
mod transcript;
