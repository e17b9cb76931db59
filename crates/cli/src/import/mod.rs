//! `hookexec init --from`: hooks written for another engine, as a hooks.yaml.

mod block;
mod docker_agent;
mod hook;
mod settings;
mod tree;
mod yaml;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use hookexec::Config;
use hookexec::config::Diagnostics;
use hookexec::internal::read_text;
use hookexec_agents::Agent;
use hookexec_files::node::Node;
use hookexec_files::reader::Reader;
use serde_json::Value as Json;

use super::error::{CommandError, OrCommandError as _, unreadable, with_hint};
use super::init::refuse_existing;
use super::report::counted;
use super::settings::inspect::AgentFile;
use super::settings::store;
use super::settings::text::parse;
use super::{output, plain};
use block::{Import, Imported};
use settings::format;
use tree::{NOWHERE, made};
use yaml::inline;

/// Options of `init --from`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "From another engine")]
pub(super) struct ImportArgs {
    /// Writes the hooks of another engine as a hooks.yaml: FILE is its file, such as
    /// claude-code:.claude/settings.json
    ///
    /// Scripts go on reading what they read before, where hookexec speaks their dialect; the head of
    /// the file says so. What can't be imported is an error that names its line, and nothing is
    /// written. ENGINE is claude-code, codex, gemini, docker-agent or picoclaw
    #[arg(long, value_name = "ENGINE:FILE", conflicts_with = "directory")]
    from: Option<Source>,

    /// Where to write them, instead of stdout; existing files are not overwritten
    #[arg(short, long, value_name = "FILE", requires = "from", conflicts_with = "user")]
    output: Option<PathBuf>,

    /// Which agent of a docker-agent file
    #[arg(long, value_name = "NAME", requires = "from")]
    agent: Option<String>,

    /// Leaves out what can't be imported, and says so in a comment
    #[arg(long, requires = "from")]
    partial: bool,
}

/// A file of another engine.
#[derive(Debug, Clone)]
struct Source {
    engine: String,
    file: PathBuf,
}

impl FromStr for Source {
    type Err = String;

    /// Reads `ENGINE:FILE`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((engine, file)) if ENGINES.contains(&engine) => {
                Ok(Self { engine: engine.to_owned(), file: file.into() })
            }
            _ => Err(format!(
                "expected ENGINE:FILE, such as claude-code:.claude/settings.json; ENGINE is one of: {}",
                ENGINES.join(", ")
            )),
        }
    }
}

/// The coding agents with an `ImportFormat`, and the agent engines.
const ENGINES: [&str; 5] = ["claude-code", "codex", "gemini", DOCKER_AGENT, "picoclaw"];
const DOCKER_AGENT: &str = "docker-agent";

impl ImportArgs {
    /// Writes the hooks of another engine, if one is named, and returns whether one is. Without
    /// `--output` they go to the directory of the `users` hooks files, or else to stdout.
    pub(super) fn execute(&self, users: Option<&Path>) -> Result<bool, CommandError> {
        let Some(source) = &self.from else { return Ok(false) };
        let imported = self.read(source)?;
        if imported.own_entries > 0 {
            let skipped = counted(imported.own_entries, "hook");
            output::talk(&format!("skipped {skipped} of hookexec itself\n"));
        }
        if imported.problems.has_errors() && !self.partial {
            return Err(CommandError::config(imported.problems)
                .hint("`--partial` imports the rest, and says in a comment what is left out"));
        }
        if !imported.problems.is_empty() {
            output::talk(&format!("left out, or doubtful:\n{}\n", imported.problems));
        }
        let written = head(source, &imported.problems) + "\n" + &imported.yaml;
        let config = Config::from_yaml(&written, "hooks.yaml").map_err(CommandError::config)?;
        if config.hooks.len() != imported.hooks {
            let lost = counted(imported.hooks.abs_diff(config.hooks.len()), "hook");
            return Err(CommandError::internal(format!("the import would lose {lost}"))
                .hint("write them by hand, and report this"));
        }
        let path = match (&self.output, users) {
            (Some(path), _) => path.clone(),
            (None, Some(users)) => users.join(format!("hooks.d/{}.yaml", source.engine)),
            (None, None) => {
                output::print_data(&written)?;
                return Ok(true);
            }
        };
        if let Some(directory) = path.parent() {
            output::create_directory(directory)?;
        }
        refuse_existing(&path)?;
        output::create(&path, &written)?;
        let (path, file) = (path.display(), source.file.display());
        let mut next = format!("Look for problems with `hookexec check --config {path}`.");
        if users.is_none() {
            let _ = write!(next, " `hookexec trust add {path}` approves a file of a project.");
        }
        output::talk(&format!(
            "wrote {path}\n\n{next}\nThen remove the imported hooks from {file}, or they run twice.\n"
        ));
        Ok(true)
    }

    /// Reads the hooks of a file.
    fn read(&self, source: &Source) -> Result<Imported, CommandError> {
        let file = &source.file;
        let Some(text) = store::read(file).or_usage(unreadable(file))? else {
            return Err(CommandError::usage(unreadable(file) + ": there is no such file"));
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if source.engine == DOCKER_AGENT {
            let read = |_: &mut Reader, root: &Node<'_>| {
                let mut import = Import::new(file, text);
                let is_read = docker_agent::read(&mut import, root, self.agent.as_deref());
                Some(import.finish(is_read, None))
            };
            return read_text(file, text, read).flatten().map_err(CommandError::config);
        }
        let root = match parse(text).or_usage(file.display())? {
            Some(json) => tree::of_json(&json),
            None => made(Json::Null, &NOWHERE),
        };
        let mut import = Import::new(file, text);
        let imported = if let Ok(agent) = source.engine.parse() {
            settings::read(agent, import, &root)
        } else {
            // PicoClaw's `config.json`.
            let is_read = import.key(&root, "hooks").and_then(|hooks| import.add_block(hooks));
            import.finish(is_read, None)
        };
        imported.map_err(CommandError::config)
    }
}

const HEAD: &str = "\
#
# With `dialect: claude-code` a script reads and answers as under Claude Code. Without it, it reads hookexec's
# input, with the tools and arguments of AGENT. A hook that gives no answer denies a tool call here, where AGENT
# lets it run, as `on_error: warn` does here. `hookexec docs agents --page` says more.
";

/// Returns the comment at the head of the hooks file.
fn head(source: &Source, problems: &Diagnostics) -> String {
    let file = inline(&source.file.display().to_string());
    let mut head = format!("# Written by `hookexec init --from {}:{file}`.\n", source.engine);
    if let Ok(agent) = source.engine.parse::<Agent>() {
        head.push_str(&HEAD.replace("AGENT", agent.title()));
    }
    if !problems.is_empty() {
        head.push_str("#\n# LEFT OUT, or doubtful. What is left out guards nothing here:\n");
    }
    for problem in problems.iter() {
        let _ = writeln!(head, "#   {}", plain::line(&with_hint(problem)));
    }
    head
}

/// Returns whether a file has hooks to import.
pub(super) fn has_foreign_hooks(file: &AgentFile) -> bool {
    let entries = file.entries.as_deref().unwrap_or_default();
    format(file.agent).is_some() && entries.iter().any(|entry| !entry.is_ours)
}
