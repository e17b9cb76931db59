//! The tables of tools and of their arguments.
//!
//! The data is `tools.txt` and `arguments.txt`, whose heads describe the rows. Each is read once.

use std::sync::LazyLock;

use super::mcp::Mcp;
use super::{Arguments, Role, Special, TOOL_KINDS, Tool, Toolset};

pub(super) const TOOLS: &str = include_str!("../../data/tools.txt");
pub(super) const ARGUMENTS: &str = include_str!("../../data/arguments.txt");

/// The tools of each agent; the last are those of programs that have no adapter.
pub(super) static TOOLSETS: LazyLock<Vec<Toolset>> = LazyLock::new(|| toolsets(TOOLS));

/// An agent that has no row.
pub(super) static UNKNOWN: Toolset =
    Toolset { agents: Vec::new(), tools: Vec::new(), mcp: Mcp { begin: "?", joints: Vec::new() } };

/// The arguments of tools by their kinds.
pub(super) static ROLES: LazyLock<Vec<Arguments>> =
    LazyLock::new(|| sections(ARGUMENTS).into_iter().map(arguments).collect());

/// Old and new names of one tool. Those of Claude Code 2.1.329, whose matchers fit each of them; then
/// those of Gemini CLI and Qwen Code.
pub(super) const RENAMED: [&[&str]; 11] = [
    &["Agent", "Task"],
    &["TaskStop", "KillShell", "KillBash"],
    &["ListAgents", "ListPeers"],
    &["SendUserMessage", "Brief"],
    &["ListMcpResourcesTool", "ListMcpResources"],
    &["ReadMcpResourceTool", "ReadMcpResource"],
    &["ReadMcpResourceDirTool", "ReadMcpResourceDir"],
    &["SetGoal", "ProposeGoal"],
    &["REPL", "Eval"],
    &["grep_search", "search_file_content"],
    &["agent", "task"],
];

/// A part of a table.
pub(super) struct Section {
    pub(super) head: Line,
    /// The indented lines behind the head.
    pub(super) rows: Vec<Line>,
}

/// The words before the first colon of a line, and those behind it.
pub(super) struct Line {
    pub(super) key: Vec<&'static str>,
    words: Vec<&'static str>,
}

pub(super) fn sections(table: &'static str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for text in table.lines().filter(|text| !text.starts_with('#')) {
        let (key, words) = text.split_once(':').unwrap_or((text, ""));
        let line = Line {
            key: key.split_whitespace().collect(),
            words: words.split_whitespace().collect(),
        };
        match sections.last_mut() {
            Some(section) if text.starts_with(' ') => section.rows.push(line),
            _ => sections.push(Section { head: line, rows: Vec::new() }),
        }
    }
    sections
}

pub(super) fn toolsets(table: &'static str) -> Vec<Toolset> {
    sections(table).into_iter().map(toolset).collect()
}

fn toolset(section: Section) -> Toolset {
    let mut naming = section.head.words.into_iter();
    Toolset {
        agents: section.head.key,
        mcp: Mcp { begin: naming.next().unwrap_or("?"), joints: naming.collect() },
        tools: section.rows.into_iter().map(tool).collect(),
    }
}

fn tool(line: Line) -> Tool {
    let mut kinds = line.key;
    let special = kinds.last().map_or(Special::Nothing, |word| marked(word));
    kinds.retain(|word| TOOL_KINDS.iter().any(|(kind, _)| kind == word));
    Tool { names: line.words, kinds, special }
}

pub(super) fn marked(word: &str) -> Special {
    match word {
        "patches" => Special::Patches,
        "opaque" => Special::Opaque,
        "deletes" => Special::Deletes,
        _ => Special::Nothing,
    }
}

fn arguments(section: Section) -> Arguments {
    let mut names = Vec::new();
    for line in section.rows {
        if let Some(role) = line.key.first().and_then(|word| role(word)) {
            names.push((role, line.words));
        }
    }
    Arguments { kinds: section.head.key, names }
}

pub(super) fn role(word: &str) -> Option<Role> {
    Some(match word {
        "command" => Role::Command,
        "words" => Role::Words,
        "path" => Role::Path,
        "paths" => Role::Paths,
        "edits" => Role::Edits,
        "url" => Role::Url,
        "content" => Role::Content,
        "old" => Role::Old,
        "new" => Role::New,
        "patch" => Role::Patch,
        "pattern" => Role::Pattern,
        "glob" => Role::Glob,
        "query" => Role::Query,
        "prose" => Role::Prose,
        _ => return None,
    })
}
