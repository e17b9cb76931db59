//! `hookexec docs`: the pages of documentation, and the tables in them, which are part of the program.

pub(crate) mod agents;
pub(crate) mod builtins;
pub(crate) mod events;

use clap::Subcommand;
use hookexec::schema;
use hookexec_workbench::testing;
use serde::Serialize;

use crate::CommandError;
use crate::console::output::{self, PlainFormat};
use crate::console::table::Table;

/// Prints a page of the documentation, a table of it, or a JSON schema
///
/// Without a topic it lists the pages. They are those of this version.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "Example: hookexec docs configuration | less"
)]
pub(crate) struct Args {
    /// The page
    #[arg(value_name = "TOPIC", value_parser = PAGES.map(|(name, ..)| name))]
    topic: Option<String>,

    #[command(subcommand)]
    reference: Option<Reference>,
}

/// References that are made from the tables of the program.
#[derive(Debug, Subcommand)]
enum Reference {
    Events(events::Args),
    Agents(agents::Args),
    Builtins(builtins::Args),
    Schema(SchemaArgs),
}

/// How a table is shown.
#[derive(Debug, clap::Args)]
struct Shown {
    /// How to show it
    #[arg(long, value_enum, default_value_t)]
    format: PlainFormat,

    /// Prints the whole page of the documentation that holds the table
    #[arg(long, conflicts_with = "format")]
    page: bool,
}

impl Shown {
    /// Prints the page `topic`, or `value` as JSON or as `text`.
    fn show(
        &self,
        topic: &str,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), CommandError> {
        if self.page { output::print_data(page(topic)) } else { self.format.show(value, text) }
    }
}

/// The pages of `docs/` behind the README: the name, what each is about, and the text.
macro_rules! pages {
    ($($name:literal: $about:literal;)+) => {
        [
            ("readme", "What hookexec is, with files to paste", include_str!("../../../README.md")),
            $(($name, $about, include_str!(concat!("../../../docs/", $name, ".md"))),)+
            ("groups", "Words and paths that rules can name: `@secrets`", hookexec_rules::GROUPS),
            ("options", "Options that rules know: twins, values, files", hookexec_rules::OPTIONS),
        ]
    };
}

const PAGES: [(&str, &str, &str); 30] = pages! {
    "quickstart": "From nothing to a guard with a test";
    "platforms": "What differs on macOS and Windows";
    "installation": "Packages, and where `install` keeps the program";
    "configuration": "How to write hooks.yaml";
    "keys": "Every key of hooks.yaml";
    "hook-types": "Servers, MCP tools and models as hooks";
    "events": "What each event can do";
    "command-hooks": "What a command is given, and how it is stopped";
    "rules": "Commands and files that are denied or allowed";
    "commands": "The commands and the files of a tool call";
    "builtins": "Guards and helpers without a process";
    "recipes": "Policies to copy, with their tests";
    "agents": "Claude Code, Codex, Cursor and others";
    "agent-reference": "How agents are installed, called and answered";
    "import": "Hooks written for Claude Code and others";
    "approval": "A person elsewhere decides what hooks ask";
    "trust": "Which files may run, and who approves";
    "testing": "`explain` and `test`";
    "continuous-integration": "`check` and `test` before a commit or a merge";
    "audit": "The log of decisions, and `test --log`";
    "fleet": "One policy on many machines";
    "telemetry": "A collector that reads the log";
    "faults": "What comes of a broken hook";
    "serve": "Process hooks, and one server for many events";
    "mcp-proxy": "A guard before an MCP server";
    "hosts": "The libraries for Python and Node";
    "embedding": "The Rust library";
};

/// The pages of `docs/agents/`, each with the name of its agent.
macro_rules! agent_pages {
    ($($name:literal)+) => {
        [$(($name, include_str!(concat!("../../../docs/agents/", $name, ".md")))),+]
    };
}

const AGENT_PAGES: [(&str, &str); 15] = agent_pages! {
    "claude-code" "codex" "gemini" "qwen" "copilot" "cursor" "droid" "windsurf" "kiro" "opencode"
    "openclaw" "kimi" "vibe" "kilo" "pi"
};

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        match (self.reference, self.topic) {
            (Some(Reference::Events(args)), _) => args.execute(),
            (Some(Reference::Agents(args)), _) => args.execute(),
            (Some(Reference::Builtins(args)), _) => args.execute(),
            (Some(Reference::Schema(args)), _) => args.execute(),
            (None, Some(topic)) => output::print_data(page(&topic)),
            (None, None) => list_pages(),
        }
    }
}

/// Returns a page, by its topic or by the name of its agent.
fn page(topic: &str) -> &'static str {
    let pages = PAGES.map(|(name, _, text)| (name, text));
    let mut pages = pages.into_iter().chain(AGENT_PAGES);
    pages.find(|(name, _)| *name == topic).map_or("", |(_, text)| text)
}

fn list_pages() -> Result<(), CommandError> {
    let mut table = Table::new(["topic", "what it is about"]);
    for (name, about, _) in PAGES {
        table.row([name.to_owned(), about.to_owned()]);
    }
    output::print(&format!(
        "{}\n`hookexec docs TOPIC` prints a page. `events`, `builtins` and `agents` print\n\
         a table, and the whole page with `--page`. `docs schema` prints JSON schemas\n",
        table.text()
    ))
}

/// Prints the JSON schema (draft 7) of hooks.yaml, of test cases, of a hook's input and answer
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec docs schema config > hooks.schema.json")]
struct SchemaArgs {
    /// The document
    #[arg(value_enum, default_value_t = Document::Config)]
    document: Document,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Document {
    /// The hooks file
    Config,
    /// A file of test cases
    Cases,
    /// The input that a hook reads on stdin, and `hookexec run` too
    Input,
    /// The answer of a hook on stdout
    Output,
    /// The answer of `hookexec run`
    Verdict,
}

impl SchemaArgs {
    fn execute(self) -> Result<(), CommandError> {
        output::print_json(&match self.document {
            Document::Config => crate::registry::all().config_schema(),
            Document::Cases => testing::cases_schema(),
            Document::Input => schema::input(),
            Document::Output => schema::output(),
            Document::Verdict => schema::verdict(),
        })
    }
}
