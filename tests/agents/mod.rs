//! The adapters of the coding agents, seen from outside.

mod approve;
mod channels;
mod claude_fields;
mod claude_hooks;
mod delivery;
mod dialect;
mod dispatch;
mod doctor;
mod golden;
mod import;
mod install;
mod late;
mod mcp;
mod missing;
mod moments;
mod payloads;
mod plugins;
mod private_names;
mod run;
mod suite;
