//! A fault: what goes wrong, as a hook of each type does it, and how such a hook ends.

use crate::expected::Ends;
use crate::server::Reply;

/// The types of hooks, in the order of a fault's cases.
pub(crate) const TYPES: [&str; 6] = ["command", "process", "builtin", "mcp", "http", "model"];

/// Something that goes wrong.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    pub(crate) cases: [Case; TYPES.len()],
}

impl Fault {
    pub(crate) const fn case(&'static self, kind: usize) -> &'static Case {
        &self.cases[kind]
    }
}

/// A fault of a type.
pub(crate) enum Case {
    /// It can't happen there, and why.
    Meaningless(&'static str),
    Run(Hooks),
}

/// Hooks that do the same wrong in different ways.
pub(crate) struct Hooks {
    pub(crate) ends: Ends,
    pub(crate) variants: &'static [(Run, Cause)],
    /// Whether it hangs, so that its timeout is what ends it.
    pub(crate) hangs: bool,
    /// How many dispatches of it may be under way at once, in cells side by side.
    pub(crate) at_once: usize,
    /// Whether it leaves a background job, which is left alone.
    pub(crate) lives_on: bool,
    /// Whether the input is larger than a pipe holds.
    pub(crate) large_input: bool,
}

/// Part of what the report must say.
pub(crate) type Cause = &'static str;

/// What a hook runs.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// A text for the shell.
    Shell(&'static str),
    /// A program without a shell.
    Program(&'static str),
    /// A process: a text for the shell that says what it does with each call, of number `$id`.
    Calls(&'static str),
    /// A process: a text for the shell that says everything it does.
    Script(&'static str),
    /// A builtin by name.
    Builtin(&'static str),
    /// What a server replies.
    Replies(Reply),
}

impl Hooks {
    pub(crate) const fn new(ends: Ends, variants: &'static [(Run, Cause)]) -> Self {
        Self { ends, variants, hangs: false, at_once: 128, lives_on: false, large_input: false }
    }
}

pub(crate) const fn silent(variants: &'static [(Run, Cause)]) -> Hooks {
    Hooks::new(Ends::Silent, variants)
}

pub(crate) const fn allows(variants: &'static [(Run, Cause)]) -> Hooks {
    Hooks::new(Ends::Allows, variants)
}

pub(crate) const fn fails(variants: &'static [(Run, Cause)]) -> Hooks {
    Hooks::new(Ends::Fails, variants)
}

pub(crate) const fn errs(variants: &'static [(Run, Cause)]) -> Hooks {
    Hooks::new(Ends::Errs, variants)
}

pub(crate) const fn hangs(variants: &'static [(Run, Cause)]) -> Hooks {
    // Who hangs costs nothing but time.
    Hooks { hangs: true, at_once: 10_000, ..Hooks::new(Ends::Fails, variants) }
}

pub(crate) const fn waits(variants: &'static [(Run, Cause)]) -> Hooks {
    // Each holds a thread.
    Hooks { hangs: true, ..Hooks::new(Ends::Fails, variants) }
}
