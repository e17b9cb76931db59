//! The rows of the table; the heads of its two files describe their form.

use std::sync::LazyLock;

use memchr::memmem;
use serde::Deserialize as _;
use serde::de::value::{Error, StrDeserializer};

use super::{Role, Special, Toolset};

const TOOLS: &str = include_str!("../../data/tools.txt");
const ARGUMENTS: &str = include_str!("../../data/arguments.txt");

/// One tool under one or more names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tool {
    kinds: &'static str,
    names: &'static str,
    pub(super) special: Special,
}

impl Tool {
    fn of_row(row: &'static str) -> Option<Self> {
        let (head, names) = row.split_once(": ").filter(|_| !row.starts_with('#'))?;
        let (kinds, special) = head.split_once(" !").unwrap_or((head, ""));
        let special = match special {
            "patches" => Special::Patches,
            "opaque" => Special::Opaque,
            "deletes" => Special::Deletes,
            _ => Special::Nothing,
        };
        Some(Self { kinds, names, special })
    }

    /// Reads a row, if it has this name.
    pub(super) fn named(row: &'static str, name: &str) -> Option<Self> {
        Self::of_row(row).filter(|tool| tool.is_named(name))
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.kinds.split(' ').filter(|kind| *kind != "-")
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.names.split(' ')
    }

    pub(super) fn is_named(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }
}

/// Returns the tools of each agent.
pub(super) fn toolsets() -> impl Iterator<Item = Toolset> {
    memmem::find_iter(TOOLS.as_bytes(), "\n[").filter_map(|at| {
        let (head, rows) = TOOLS[at + 2..].split_once('\n')?;
        let rows = &rows[..memmem::find(rows.as_bytes(), b"\n[").unwrap_or(rows.len())];
        let (agents, forms) = head.split_once(']')?;
        Some(Toolset { agents, forms: forms.trim_start(), rows })
    })
}

pub(super) fn of_agent(name: &str) -> Option<Toolset> {
    toolsets().find(|toolset| toolset.agents.split(' ').any(|agent| agent == name))
}

impl Toolset {
    pub(super) fn tools(&self) -> impl Iterator<Item = Tool> + use<> {
        self.rows.lines().filter_map(Tool::of_row)
    }
}

/// Returns every tool of that name, of whichever agent.
pub(super) fn named(name: &str) -> impl Iterator<Item = Tool> {
    rows_with(name).filter_map(move |row| Tool::named(row, name))
}

/// Returns the rows in which a name stands behind a blank. Every start asks for one name, and to read all
/// rows for it takes longer than the rest of the start.
pub(super) fn rows_with(name: &str) -> impl Iterator<Item = &'static str> {
    // An empty name would stand everywhere.
    let wanted = if name.is_empty() { "\n\n\n" } else { name };
    let places = memmem::find_iter(TOOLS.as_bytes(), wanted);
    places.filter(|at| TOOLS[..*at].ends_with(' ')).map(|at| {
        let start = TOOLS[..at].rfind('\n').map_or(0, |end| end + 1);
        TOOLS[start..].lines().next().unwrap_or_default()
    })
}

/// The names of the arguments that have a role in tools of a kind.
pub(super) struct Arguments {
    kind: &'static str,
    pub(super) role: Role,
    pub(super) names: &'static str,
}

/// Returns the rows of the arguments of tools of a kind.
pub(super) fn arguments(kind: &str) -> impl Iterator<Item = &'static Arguments> {
    static ROWS: LazyLock<Vec<Arguments>> = LazyLock::new(|| {
        let mut rows = Vec::with_capacity(64);
        for line in ARGUMENTS.lines() {
            Arguments::add_row(line, &mut rows);
        }
        rows
    });
    ROWS.iter().filter(move |row| row.kind == kind)
}

impl Arguments {
    fn add_row(row: &'static str, rows: &mut Vec<Self>) -> Option<()> {
        let (kinds, row) = row.split_once(": ").filter(|_| !row.starts_with('#'))?;
        let (role, names) = row.split_once(' ')?;
        let role = Role::deserialize(StrDeserializer::<Error>::new(role)).ok()?;
        rows.extend(kinds.split(' ').map(|kind| Self { kind, role, names }));
        Some(())
    }
}
