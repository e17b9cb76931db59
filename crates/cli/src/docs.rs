//! `hookexec docs`: the pages of documentation, which are part of the program.

use super::table::Table;
use super::{CommandError, output};

/// Prints a page of the documentation
///
/// Without a topic it lists the pages. They are those of this version.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec docs configuration | less")]
pub(crate) struct Args {
    /// The page
    #[arg(value_parser = PAGES.map(|(name, ..)| name))]
    topic: Option<String>,
}

/// The pages of `docs/` behind the README: the name, what each is about, and the text.
macro_rules! pages {
    ($($name:literal: $about:literal;)+) => {
        [
            ("readme", "What hookexec is, with files to paste", include_str!("../README.md")),
            $(($name, $about, include_str!(concat!("../docs/", $name, ".md")))),+
        ]
    };
}

const PAGES: [(&str, &str, &str); 22] = pages! {
    "platforms": "What differs on macOS and Windows";
    "installation": "Packages, and where `install` keeps it";
    "configuration": "Every key of hooks.yaml";
    "events": "What each event can do";
    "command-hooks": "What a command is given, and how it is stopped";
    "commands": "The commands and the files of a tool call";
    "builtins": "Guards and helpers without a process";
    "agents": "Claude Code, Codex, Cursor and others";
    "approval": "A person elsewhere decides what hooks ask";
    "trust": "Which files may run, and who approves";
    "testing": "`explain` and `test`";
    "continuous-integration": "`check` and `test` before a commit or a merge";
    "audit": "The log of decisions, and `replay`";
    "fleet": "One policy on many machines";
    "telemetry": "A collector that reads the log";
    "faults": "What comes of a broken hook";
    "serve": "One process for many events";
    "mcp-proxy": "A guard before an MCP server";
    "protocol": "Hooks that are long-lived processes";
    "hosts": "The libraries for Python and Node";
    "embedding": "The Rust library";
};

impl Args {
    pub(crate) fn execute(&self) -> Result<(), CommandError> {
        let page = self.topic.as_deref();
        if let Some((.., text)) = page.and_then(|topic| PAGES.iter().find(|it| it.0 == topic)) {
            return output::print_data(text);
        }
        let mut table = Table::new(["topic", "what it is about"]);
        for (name, about, _) in PAGES {
            table.row([name.to_owned(), about.to_owned()]);
        }
        output::print(&format!("{}\n`hookexec docs TOPIC` prints a page\n", table.text()))
    }
}
