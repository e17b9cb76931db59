//! The rows of the table, which the build script takes from two files of `data`; their heads describe the
//! form.

use super::{Role, Special, Toolset};

include!(concat!(env!("OUT_DIR"), "/tools.rs"));
include!(concat!(env!("OUT_DIR"), "/arguments.rs"));

/// One tool under one or more names.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) kinds: &'static [&'static str],
    pub(super) names: &'static [&'static str],
    pub(super) special: Special,
}

/// The names of the arguments that have a role in tools of some kinds.
#[derive(Debug)]
pub(super) struct Arguments {
    kinds: &'static [&'static str],
    pub(super) role: Role,
    pub(super) names: &'static [&'static str],
}

/// Returns every tool of that name, of whichever agent.
pub(super) fn named(name: &str) -> impl Iterator<Item = &'static Tool> {
    let found = PLACES.binary_search_by_key(&name, |(known, _)| known);
    let places = found.map_or(&[][..], |at| PLACES[at].1);
    places.iter().map(|(toolset, tool)| &TOOLSETS[*toolset].tools[*tool])
}

/// Returns the names that a tool had or has, if it has several.
pub(super) fn renamed(name: &str) -> &'static [&'static str] {
    RENAMED.iter().find(|names| names.contains(&name)).copied().unwrap_or_default()
}

/// Returns the rows of the arguments of tools of a kind.
pub(super) fn arguments(kind: &str) -> impl Iterator<Item = &'static Arguments> {
    ARGUMENTS.iter().filter(move |row| row.kinds.contains(&kind))
}
