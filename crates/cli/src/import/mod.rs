//! `hookexec init --from`: hooks written for another engine, as a hooks.yaml.

mod command;
mod docker_agent;
mod hook;
mod hooks;
mod matcher;
mod mcp;
mod parameters;
mod permissions;
mod settings;
mod tree;
mod yaml;

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hookexec::Config;
use hookexec::config::{Command, Diagnostics, Location, Severity};
use hookexec::internal::files;
use hookexec::internal::reading::{Node, Reader, Value, read_text};
use hookexec_agents::{Agent, ImportFormat};
use jsonc_parser::ast::Value as Json;

use super::config::{ConfigArgs, Purpose};
use super::error::{CommandError, OrCommandError as _, unreadable};
use super::output;
use super::report::counted;
use super::settings::inspect::AgentFile;
use super::settings::store;
use super::settings::text::parse;
use super::table::steps;
use hooks::{Import, Imported};
use settings::format;
use yaml::Written;
use yaml::inline;

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
    let agents = Agent::all().filter(|agent| format(*agent).is_some()).map(Agent::name);
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
    Agent(Agent, &'static ImportFormat),
    DockerAgent,
    Picoclaw,
}

/// Reads `ENGINE:FILE`.
fn source(text: &str) -> Result<Source, String> {
    let Some((name, file)) = text.split_once(':') else {
        return Err("expected ENGINE:FILE, such as claude-code:.claude/settings.json".to_owned());
    };
    let agent = name.parse::<Agent>().ok();
    let engine = match (name, agent.and_then(|agent| Some((agent, format(agent)?)))) {
        ("docker-agent", _) => Engine::DockerAgent,
        ("picoclaw", _) => Engine::Picoclaw,
        (_, Some((agent, format))) => Engine::Agent(agent, format),
        _ => return Err(format!("`{name}` is not an engine [possible values: {}]", engines())),
    };
    Ok(Source { engine, name: name.to_owned(), file: file.into() })
}

impl ImportArgs {
    /// Writes the hooks of another engine, if one is named, and returns whether one is. Without
    /// `--output` they go to the directory of the `users` hooks files, or else to stdout.
    pub(super) fn execute(&self, users: Option<&Path>) -> Result<bool, CommandError> {
        let Some(source) = &self.from else { return Ok(false) };
        let imported = self.imported(source)?;
        self.complete(&imported)?;
        let written = self.written(source, &imported);
        let config = Config::from_yaml(&written, "hooks.yaml").map_err(CommandError::config)?;
        if config.hooks.len() < imported.sound {
            let lost = counted(imported.sound - config.hooks.len(), "hook");
            return Err(CommandError::internal(format!("the import would lose {lost}"))
                .hint("write the hooks that are used twice by an alias out, or import by hand"));
        }
        let users = users.map(|users| users.join(format!("hooks.d/{}.yaml", source.name)));
        let Some(path) = self.output.as_ref().or(users.as_ref()) else {
            output::print_data(&written)?;
            return Ok(true);
        };
        create(path, &written)?;
        output::talk(&format!("wrote {}\n\n", path.display()));
        let agent = match source.engine {
            Engine::Agent(agent, _) => Some(agent),
            _ => None,
        };
        output::talk(&steps(&next_steps(path, agent)));
        if let Some(agent) = agent {
            output::talk(&double(&source.file, &imported, agent));
        }
        Ok(true)
    }

    /// Reads the hooks of a file.
    fn imported(&self, source: &Source) -> Result<Imported, CommandError> {
        let file = &source.file;
        let text = store::read(file).and_then(|text| text.ok_or(ErrorKind::NotFound.into()));
        let text = text.or_usage(unreadable(file))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if let Engine::DockerAgent = source.engine {
            let read = |_: &mut Reader, root: &Node<'_>| {
                let mut import = Import::new(file, text);
                let found = docker_agent::read(&mut import, root, self.agent.as_deref());
                Some((found, import.finish()))
            };
            let (found, imported) = read_text(file, text, read).map_err(CommandError::config)?;
            return match found {
                Some(()) => Ok(imported),
                None => Err(CommandError::config(imported.problems)),
            };
        }
        let wrong = |error: String| CommandError::data(format!("{}: {error}", file.display()));
        let Some(json @ Json::Object(_)) = parse(text).map_err(|error| wrong(error.to_string()))?
        else {
            return Err(wrong("it is not a JSON object".to_owned()));
        };
        let import = Import::new(file, text);
        let imported = if let Engine::Agent(agent, format) = source.engine {
            let root = tree::of_json(&json, tree::DEPTH_OF_HOOKS);
            settings::read((agent, format), import, &root).map(Import::finish)
        } else {
            picoclaw(import, &tree::of_json(&json, 0)).map(Import::finish)
        };
        imported.map_err(wrong)
    }

    /// Refuses an import that leaves something out, unless it may; says what it is.
    fn complete(&self, imported: &Imported) -> Result<(), CommandError> {
        let skipped = imported.own_entries;
        if skipped > 0 {
            let entries = if skipped == 1 { "entry" } else { "entries" };
            output::talk(&format!("skipped {skipped} {entries} of hookexec itself\n"));
        }
        if imported.problems.has_errors() && !self.partial {
            return Err(CommandError::config(imported.problems.clone())
                .hint("`--partial` imports the rest, and says in a comment what is left out"));
        }
        let mut warnings = Diagnostics::default();
        for problem in imported.problems.iter() {
            let mut warning = problem.clone();
            warning.severity = Severity::Warning;
            warnings.push(warning);
        }
        output::talk(&warnings.render(true));
        Ok(())
    }

    /// Returns the whole hooks file.
    fn written(&self, source: &Source, imported: &Imported) -> String {
        let from = inline(&source.file.display().to_string());
        let mut text = format!("# Written by `hookexec init --from {}:{from}", source.name);
        if let Some(name) = &self.agent {
            let _ = write!(text, " --agent {}", inline(name));
        }
        text.push_str("`.\n");
        let mut defaults = String::new();
        if let Engine::Agent(agent, format) = source.engine {
            let title = agent.title();
            if imported.written.has_dialect {
                text.push_str(CLAUDE_DIALECT);
            }
            if imported.written.has_no_dialect {
                text.push_str(&NO_DIALECT.replace("AGENT", title));
            }
            text.push_str(&STRICTER.replace("AGENT", title));
            let timeout = format.timeout;
            defaults = format!(
                "\ndefaults:\n  timeout: {timeout} # {title}'s; an agent waits no longer than `hookexec install --timeout`\n"
            );
        }
        text + &left_out(&imported.problems) + &defaults + &imported.written.text
    }
}

const CLAUDE_DIALECT: &str = "\
#
# With `dialect: claude-code` a script reads what Claude Code would tell it, under every agent that hookexec is
# installed in, and its answer means what it means there.
";
const NO_DIALECT: &str = "\
#
# A hook without `dialect` reads what hookexec says: under AGENT the same tools and arguments as before, with
# events called as they are here (`pre_tool_use`); under other agents their names of tools and arguments.
";
const STRICTER: &str = "\
#
# One thing is stricter here: a hook that gives no answer (a timeout, a program that is not found, a crash by a
# signal, broken JSON) denies a tool call, where AGENT lets the tool run. `on_error: warn` on a hook lets it
# run here, too. Other exit codes than 0 and 2 are no decision, as there; `on_error: block` makes them denials.
";

/// Says what can't be imported.
fn left_out(problems: &Diagnostics) -> String {
    let mut text = String::new();
    for problem in problems.iter().filter(|problem| problem.severity == Severity::Error) {
        if text.is_empty() {
            text.push_str("#\n# LEFT OUT, and guarding nothing here:\n");
        }
        let line = problem.location.as_ref().map_or(0, Location::line);
        let words: Vec<_> = problem.message.split_whitespace().collect();
        let _ = writeln!(text, "#   line {line}: {}", words.join(" "));
    }
    text
}

/// Reads the hooks of PicoClaw's `config.json`.
fn picoclaw<'n>(mut import: Import<'n>, root: &'n Node<'n>) -> Result<Import<'n>, String> {
    let Some(config) = tree::object(&mut import.reader, root, "the file") else {
        return Ok(import);
    };
    let Some(Node { value: Value::Map(hooks), .. }) = config.get("hooks") else {
        return Err("it has no object `hooks`".to_owned());
    };
    import.hooks.clone_from(hooks);
    Ok(import)
}

/// Returns what to remove from the settings, where hooks that were imported would run twice.
fn double(file: &Path, imported: &Imported, agent: Agent) -> String {
    let Written { scripts, lines, .. } = &imported.written;
    if *scripts == 0 {
        return String::new();
    }
    let (file, title, hooks) = (file.display(), agent.title(), counted(*scripts, "imported hook"));
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
    let place = format!("{word} {}", lines.join(", "));
    let is_mixed = imported.own_entries > 0 || imported.problems.has_errors();
    let others = "Leave hookexec's own entries and the hooks that were left out.\n";
    let stay = if is_mixed { others } else { "" };
    format!("\nNow remove the {hooks} ({place}) from {file}, or they run twice in {title}.\n{stay}")
}

/// Returns the commands of the hooks in a file that could be imported, but for entries of ours.
pub(super) fn commands(file: &AgentFile) -> Vec<Command> {
    if format(file.agent).is_none() {
        return Vec::new();
    }
    let entries = file.entries.as_deref().unwrap_or_default().iter();
    let foreign = entries.filter(|entry| !entry.is_ours && !command::is_ours(&entry.command));
    foreign.map(|entry| command::whole(&entry.command, &entry.args)).collect()
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
