//! YAML with places and all mistakes, strict JSON, lines of JSON-RPC, bounded patterns, process groups,
//! private files, the directories of a user, and what differs between systems.
//!
//! This package knows no hooks. It is for the packages of hookexec alone: its interface may change with
//! any version.
#![forbid(unsafe_code)]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    reason = "only packages of hookexec use it"
)]

pub mod address;
pub mod bounded;
pub mod depth;
pub mod diagnostic;
pub mod directories;
pub mod expand;
pub mod files;
pub mod glob;
pub mod group;
pub mod hooks_file;
pub mod json;
pub mod kinds;
pub mod locks;
pub mod node;
pub mod paths;
pub mod pattern;
pub mod plain;
pub mod platform;
pub mod reader;
pub mod rpc;
pub mod section;
pub mod source;
pub mod suggest;
pub mod surrogates;
pub mod template;
pub mod text;
pub mod units;
pub mod yaml;
