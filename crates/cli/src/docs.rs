//! `hookexec docs`: the pages of documentation, which are part of the program.

use super::error::CommandError;
use super::exit::Exit;
use super::output;
use super::table::Table;

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

/// The pages: the name, what it is about, and the text.
const PAGES: [(&str, &str, &str); 16] = [
    ("readme", "What hookexec is, with files to paste", include_str!("../README.md")),
    (
        "installation",
        "Packages, and where `install` keeps it",
        include_str!("../docs/installation.md"),
    ),
    ("configuration", "Every key of hooks.yaml", include_str!("../docs/configuration.md")),
    ("events", "What each event can do", include_str!("../docs/events.md")),
    (
        "command-hooks",
        "What a command is given, and how it is stopped",
        include_str!("../docs/command-hooks.md"),
    ),
    ("commands", "The commands and the files of a tool call", include_str!("../docs/commands.md")),
    ("builtins", "Guards and helpers without a process", include_str!("../docs/builtins.md")),
    ("agents", "Claude Code, Codex, Cursor and others", include_str!("../docs/agents.md")),
    ("trust", "Which files may run, and who approves", include_str!("../docs/trust.md")),
    ("testing", "`explain` and `test`", include_str!("../docs/testing.md")),
    (
        "continuous-integration",
        "`check` and `test` before a commit or a merge",
        include_str!("../docs/continuous-integration.md"),
    ),
    ("audit", "The log of decisions, and `replay`", include_str!("../docs/audit.md")),
    ("faults", "What comes of a broken hook", include_str!("../docs/faults.md")),
    ("serve", "One process for many events", include_str!("../docs/serve.md")),
    ("protocol", "Hooks that are long-lived processes", include_str!("../docs/protocol.md")),
    ("embedding", "The Rust library", include_str!("../docs/embedding.md")),
];

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let page = self.topic.as_deref();
        if let Some((.., text)) = page.and_then(|topic| PAGES.iter().find(|it| it.0 == topic)) {
            output::print_data(text)?;
            return Ok(Exit::Success);
        }
        let mut table = Table::new(["topic", "what it is about"]);
        for (name, about, _) in PAGES {
            table.row([name.to_owned(), about.to_owned()]);
        }
        output::print(&format!("{}\n`hookexec docs TOPIC` prints a page\n", table.text()))?;
        Ok(Exit::Success)
    }
}
