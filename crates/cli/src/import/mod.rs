//! `hookexec init --from`: hooks written for another engine, as a hooks.yaml.

mod command;
mod docker_agent;
mod format;
mod hook;
mod json;
mod judge;
mod matcher;
mod mcp;
mod parameters;
mod permissions;
mod picoclaw;
mod settings;
mod yaml;

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hookexec::Config;
use hookexec::config::{Command, Diagnostics, Severity};
use hookexec::internal::{SourceFile, files};
use hookexec_agents::Agent;

use super::config::{ConfigArgs, Purpose};
use super::error::{CommandError, OrCommandError as _, unreadable};
use super::output;
use super::report::counted;
use super::settings::inspect::AgentFile;
use super::settings::store;
use super::table::steps;
use format::Format;
use settings::Import;
pub(super) use yaml::inline;

/// Options of `init --from`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "From another engine")]
pub(super) struct ImportArgs {
    /// Writes the hooks of another engine as a hooks.yaml: FILE is its file, such as
    /// claude-code:.claude/settings.json
    #[arg(long, value_name = "ENGINE:FILE", value_parser = source, conflicts_with = "directory",
        long_help = from_help())]
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

fn from_help() -> String {
    format!(
        "Writes the hooks of another engine as a hooks.yaml: FILE is its file, such as \
         claude-code:.claude/settings.json\n\n\
         Scripts go on reading what they read before, where hookexec speaks their dialect; the head of \
         the file says so. What can't be imported is an error that names its line, and nothing is \
         written. ENGINE is one of {}",
        engines()
    )
}

fn engines() -> String {
    let agents = Agent::all().filter_map(Format::of).map(|format| format.agent.name());
    let engines: Vec<&str> = agents.chain(["docker-agent", "picoclaw"]).collect();
    engines.join(", ")
}

/// A file of another engine.
#[derive(Debug, Clone)]
struct Source {
    engine: Engine,
    name: String,
    file: PathBuf,
}

/// The settings to import from: those of a coding agent, or the file of an agent engine.
#[derive(Debug, Clone, Copy)]
enum Engine {
    Agent(Format),
    DockerAgent,
    Picoclaw,
}

/// Reads `ENGINE:FILE`.
fn source(text: &str) -> Result<Source, String> {
    let Some((name, file)) = text.split_once(':') else {
        return Err("expected ENGINE:FILE, such as claude-code:.claude/settings.json".to_owned());
    };
    let engine = match name {
        "docker-agent" => Some(Engine::DockerAgent),
        "picoclaw" => Some(Engine::Picoclaw),
        name => name.parse().ok().and_then(Format::of).map(Engine::Agent),
    };
    let Some(engine) = engine else {
        return Err(format!("`{name}` is not an engine [possible values: {}]", engines()));
    };
    Ok(Source { engine, name: name.to_owned(), file: file.into() })
}

impl ImportArgs {
    /// Writes the hooks of another engine, if one is named, and returns whether one is. Without
    /// `--output` they go to the directory of the `users` hooks files, or else to stdout.
    pub(super) fn execute(&self, users: Option<&Path>) -> Result<bool, CommandError> {
        let Some(source) = &self.from else { return Ok(false) };
        let (file, name) = (&source.file, self.agent.as_deref());
        let text = read(file)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let wrong = |error| CommandError::data(format!("{}: {error}", file.display()));
        let mut command = format!("{}:{}", source.name, inline(&file.display().to_string()));
        let (agent, import, written) = match source.engine {
            Engine::Agent(format) => {
                let import = settings::read(format, SourceFile::new(file, text), file);
                let import = import.map_err(wrong)?;
                let written = yaml::write(format, &command, &import);
                (Some(format.agent), import, written)
            }
            Engine::DockerAgent => {
                let import = docker_agent::read(file, text, name).map_err(CommandError::config)?;
                let _ = write!(command, " --agent {}", inline(name.unwrap_or_default()));
                let written = yaml::write_plain(&command, &import);
                (None, import, written)
            }
            Engine::Picoclaw => {
                let (hooks, problems) = picoclaw::read(file, text).map_err(wrong)?;
                let import = Import { problems, ..Import::default() };
                let written = yaml::write_picoclaw(&command, &hooks, &import);
                (None, import, written)
            }
        };
        self.complete(&import)?;
        Config::from_yaml(&written, "hooks.yaml").map_err(CommandError::config)?;
        let users = users.map(|users| users.join(format!("hooks.d/{}.yaml", source.name)));
        match self.output.as_ref().or(users.as_ref()) {
            None => output::print_data(&written)?,
            Some(path) => {
                create(path, &written)?;
                output::talk(&format!("wrote {}\n\n", path.display()));
                output::talk(&steps(&next_steps(path, agent)));
                output::talk(&double(file, &import, agent));
            }
        }
        Ok(true)
    }

    /// Refuses an import that leaves something out, unless it may; says what it is.
    fn complete(&self, import: &Import) -> Result<(), CommandError> {
        match import.own_entries {
            0 => {}
            1 => output::talk("skipped 1 entry of hookexec itself\n"),
            count => output::talk(&format!("skipped {count} entries of hookexec itself\n")),
        }
        if import.problems.has_errors() && !self.partial {
            return Err(CommandError::config(import.problems.clone())
                .hint("`--partial` imports the rest, and says in a comment what is left out"));
        }
        output::talk(&as_warnings(&import.problems).render(true));
        Ok(())
    }
}

/// Returns what to remove from the settings, where hooks that were imported would run twice.
fn double(file: &Path, import: &Import, agent: Option<Agent>) -> String {
    let count = import.scripts().count();
    let Some(agent) = agent.filter(|_| count > 0) else { return String::new() };
    let mut lines: Vec<usize> = import.scripts().map(|hook| hook.location.line()).collect();
    lines.sort_unstable();
    lines.dedup();
    let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
    let place = match lines.as_slice() {
        [line] => format!("line {line}"),
        lines => format!("lines {}", lines.join(", ")),
    };
    let stay = match (import.own_entries > 0, import.problems.has_errors()) {
        (true, true) => "Leave hookexec's own entries and the hooks that were left out.\n",
        (true, false) => "Leave hookexec's own entries.\n",
        (false, true) => "Leave the hooks that were left out.\n",
        (false, false) => "",
    };
    let (hooks, title) = (counted(count, "imported hook"), agent.title());
    let file = file.display();
    format!("\nNow remove the {hooks} ({place}) from {file}, or they run twice in {title}.\n{stay}")
}

impl Import {
    /// Returns the hooks that run twice if they stay in the settings. Permission rules may stay.
    fn scripts(&self) -> impl Iterator<Item = &yaml::Hook> {
        let groups = self.events.iter().flat_map(|(_, groups)| groups);
        groups.flat_map(|group| &group.hooks).filter(|hook| hook.kind != "builtin")
    }
}

/// Returns the commands of the hooks in a file that could be imported, but for entries of ours.
pub(super) fn commands(file: &AgentFile) -> Vec<Command> {
    if Format::of(file.agent).is_none() || file.ignored.is_some() {
        return Vec::new();
    }
    let entries = file.entries.as_deref().unwrap_or_default().iter();
    let foreign = entries.filter(|entry| !entry.is_ours() && !command::is_ours(&entry.command));
    foreign.map(|entry| command::whole(&entry.command, &entry.args)).collect()
}

fn read(path: &Path) -> Result<String, CommandError> {
    let text = store::read(path).and_then(|text| text.ok_or(ErrorKind::NotFound.into()));
    text.or_usage(unreadable(path))
}

/// Returns the problems as what they are where the rest is imported.
fn as_warnings(problems: &Diagnostics) -> Diagnostics {
    let mut warnings = Diagnostics::default();
    warnings.extend(problems.iter().cloned().map(|mut problem| {
        problem.severity = Severity::Warning;
        problem
    }));
    warnings
}

fn next_steps(written: &Path, agent: Option<Agent>) -> Vec<(String, String)> {
    let file = written.display();
    let install = format!("hookexec install {}", agent.map_or("AGENT", Agent::name));
    let mut next =
        vec![(format!("hookexec check --config {file}"), "look for problems".to_owned())];
    let loaded = ConfigArgs::default().load(Purpose::Show);
    let same = |path: &Path| files::real(path) == files::real(written);
    let (in_project, is_found) = loaded.map_or((false, false), |loaded| {
        let mut of_project = loaded.found.project_files.iter();
        let mut all = loaded.found.config.files.iter();
        (of_project.any(|file| same(&file.path)), all.any(|file| same(file)))
    });
    if in_project {
        next.push((format!("hookexec trust add {file}"), "let its hooks run".to_owned()));
    } else if !is_found {
        let run = format!("hookexec run --config {file} ...");
        next.push((run, "use it: it is not found by its name".to_owned()));
    }
    next.push((install, "put hookexec into the agents".to_owned()));
    next
}

fn create(path: &Path, text: &str) -> Result<(), CommandError> {
    if let Some(directory) = path.parent() {
        output::create_directory(directory)?;
    }
    if path.symlink_metadata().is_ok() {
        let problem = format!("can't write {}: there is one already", path.display());
        return Err(CommandError::usage(problem)
            .hint("give `--output` another name, or move that file away"));
    }
    output::create(path, text)
}
