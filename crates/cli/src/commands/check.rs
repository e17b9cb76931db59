//! `hookexec check`: all that is wrong with the hooks files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookexec::Input;
use hookexec::config::{Command, Diagnostic, Hook};
use hookexec::executor::ProcessCheck;
use hookexec::lifecycle::DeclaredEvents;
use hookexec_agents::{Agent, Ask, events_of_host};
use hookexec_builtins::{answers_other_commands, doubts};
use hookexec_files::suggest::hint_or_list;
use hookexec_files::template::collect_fields;
use hookexec_project::Check;
use hookexec_setup::matchers;
use hookexec_setup::scripts::{echoed_input, found_from_here_alone, missing};
use hookexec_setup::waits::{answered_within, timeout_for};
use serde_json::json;

use crate::commands::docs::events::field_names;
use crate::config::{ConfigArgs, Purpose, not_too_deep};
use crate::console::output::{self, PlainFormat};
use crate::console::report::counted;
use crate::error::NO_FILES;
use crate::runtime::{Runtime, finish};
use crate::{CommandError, Exit, registry};

/// Checks the hooks files: every problem of every file at once
///
/// Exits with 0 when nothing is wrong or there are warnings only, and with 78 when there are errors
/// or no hooks file is found. Files with errors fail at every event. A file that is not approved is
/// a warning.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec check hooks.yaml")]
pub(crate) struct Args {
    /// Only these hooks files, and the managed ones; does not look whether they are approved
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Warn about hooks that this host never calls, and about those with a longer `timeout` than it
    /// waits. HOST is a coding agent, `docker-agent` or `picoclaw`
    #[arg(long, value_name = "HOST", value_parser = events_of_host)]
    host: Option<DeclaredEvents>,

    /// If nothing else is wrong, start every process and check that it completes the handshake
    #[arg(long)]
    start: bool,

    /// How to write the problems
    #[arg(long, value_enum, default_value_t)]
    format: PlainFormat,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let config = self.config.clone().only(&self.files);
        let options = config.options(Purpose::Run)?;
        let mut check = hookexec_project::check(&options, registry::all());
        if check.files.is_empty() && check.problems.is_empty() {
            return Err(CommandError::no_files());
        }
        if check.files.is_empty() && !check.problems.has_errors() {
            // All files are gone, or have another name: warnings alone would pass as checked.
            check.add([Diagnostic::error(NO_FILES)]);
        }
        let mut problems = Vec::new();
        if let Some(host) = &self.host {
            problems.extend(host.unfired(check.configured()));
        }
        self.check_hooks(&check, &options.working_dir.unwrap_or_default(), &mut problems);
        problems.extend(rivals(&check));
        check.add(problems);
        let mut processes = Vec::new();
        if self.start && !check.problems.has_errors() {
            processes = start(&config)?;
            check.add(processes.iter().filter_map(refusal));
        }
        self.show(&check, &processes)?;
        Ok(if check.problems.has_errors() { Exit::CONFIG } else { Exit::SUCCESS })
    }

    /// Adds warnings of programs and scripts that are not there (they may be when the hook runs),
    /// and of hooks that the host, or else an agent in which hookexec is installed, never runs or whose
    /// answer it drops.
    fn check_hooks(&self, check: &Check, project: &Path, problems: &mut Vec<Diagnostic>) {
        let agents: Vec<Agent> = match self.host {
            Some(_) => self.agent().into_iter().collect(),
            None => matchers::installed(project).collect(),
        };
        for hook in check.configured() {
            let place = hook.key_locations.get("command").unwrap_or(&hook.location);
            let mut found = missing(hook, project);
            found.extend(echoed_input(hook));
            found.extend(found_from_here_alone(hook));
            problems.extend(found.into_iter().map(|problem| problem.at(place.clone())));
            problems.extend(absent_fields(hook));
            problems.extend(doubts(hook));
            for mut warning in matchers::warnings(hook, &agents) {
                warning.message = format!("`{}`: {}", hook.label(), warning.message);
                problems.push(warning.at(hook.location.clone()));
            }
            if let Some(agent) = self.agent() {
                problems.extend(late(hook, agent, project));
                problems.extend(unasked(hook, agent));
            }
        }
    }

    /// Writes what was found.
    fn show(&self, check: &Check, processes: &[ProcessCheck]) -> Result<(), CommandError> {
        if self.format == PlainFormat::Text && !check.problems.is_empty() {
            output::talk(&check.problems.render(true));
        }
        let (mut rows, mut text) = (Vec::new(), String::new());
        for ProcessCheck { name, elapsed, problem, .. } in processes {
            let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            rows.push(json!({ "name": name, "ok": problem.is_none(), "elapsed_ms": millis }));
            if problem.is_none() {
                let time = format!("{elapsed:.0?}");
                let _ = writeln!(text, "process `{name}` completed the handshake within {time}");
            }
        }
        let files: Vec<_> = check.files.iter().map(|path| path.to_string_lossy()).collect();
        let errors = check.problems.iter().filter(|problem| problem.is_error()).count();
        let warnings = check.problems.iter().count() - errors;
        let found = json!({
            "files": files,
            "hooks": check.hooks,
            "errors": errors,
            "warnings": warnings,
            "problems": check.problems,
            "processes": rows,
        });
        self.format.show(&found, || {
            let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
            let (hooks, files) = (counted(check.hooks, "hook"), counted(files.len(), "file"));
            format!("{text}{hooks} in {files}: {errors}, {warnings}\n")
        })
    }

    /// Returns the coding agent that is the host.
    fn agent(&self) -> Option<Agent> {
        let host = self.host.as_ref()?;
        Agent::all().find(|agent| agent.title() == host.host())
    }
}

/// Returns a warning for each field in the texts of `hook` that its event does not have. In a dialect
/// the fields have other names.
fn absent_fields(hook: &Hook) -> Vec<Diagnostic> {
    let mut paths = Vec::new();
    match (&*hook.kind, &hook.command, &hook.with) {
        ("mcp", _, Some(with)) if hook.dialect.is_none() => collect_fields(with, &mut paths),
        ("builtin", Some(Command::Text(name)), _) if name == "http_post" => {
            // The first text is the address, and a header names variables.
            for text in hook.args.iter().filter(|text| !text.starts_with("--")).skip(1) {
                collect_fields(&text.as_str().into(), &mut paths);
            }
        }
        _ => {}
    }
    let known = field_names(hook.event);
    let mut problems = Vec::new();
    for path in paths {
        let name = path.split('.').next().unwrap_or_default();
        if !known.contains(&name) && !Input::CARRIED.contains(&name) {
            let message = format!("`{}` has no field `{name}`, so `${{{path}}}` fails", hook.event);
            let hint = hint_or_list(name, known.iter().copied(), "its fields are");
            problems.push(Diagnostic::warning(message).hint(hint).at(hook.location.clone()));
        }
    }
    problems
}

/// Returns a warning for each rule that answers what another one allows.
fn rivals(check: &Check) -> Vec<Diagnostic> {
    let mut rules = check.configured().filter(|hook| answers_other_commands(hook));
    let Some(first) = rules.next() else { return Vec::new() };
    let mut problems = Vec::new();
    for rule in rules.filter(|rule| rule.event == first.event) {
        let (own, other) = (rule.label(), first.label());
        let message = format!("`{own}` answers the commands that `{other}` allows, and vice versa");
        let hint = "write one rule with `otherwise`, with the commands of both";
        problems.push(Diagnostic::warning(message).hint(hint).at(rule.location.clone()));
    }
    problems
}

/// Starts every process, and stops it again.
fn start(config: &ConfigArgs) -> Result<Vec<ProcessCheck>, CommandError> {
    not_too_deep()?;
    let loaded = config.load(Purpose::Run)?;
    loaded.notices.warn();
    let executor = loaded.executor()?;
    Runtime::new()?.run(async {
        let checks = executor.check_processes().await;
        finish(&executor).await;
        checks
    })
}

/// Returns the problem of a process that can't serve.
fn refusal(process: &ProcessCheck) -> Option<Diagnostic> {
    let problem = process.problem.as_ref()?;
    Some(Diagnostic::error(problem).at(process.location.clone()))
}

/// Returns a warning of a hook that may answer after `agent` has given up.
fn late(hook: &Hook, agent: Agent, project: &Path) -> Option<Diagnostic> {
    if !hook.states_timeout() || !hook.phase.is_answered() {
        return None;
    }
    let natives = agent.events();
    let native = natives.iter().find(|native| native.fires(agent).contains(&hook.event))?;
    let within = Duration::from_secs(answered_within(agent, native, project));
    if hook.timeout <= within {
        return None;
    }
    let warning = Diagnostic::warning(format!(
        "`{}` may take {:?} at `{}`, and {} waits {within:?}",
        hook.label(),
        hook.timeout,
        hook.event,
        agent.title()
    ));
    let mut hint = "a late answer counts as none: lower the `timeout`".to_owned();
    if let Some(wait) = timeout_for(hook.timeout) {
        hint = format!("{hint}, or run `hookexec install {agent} --timeout {wait}`");
    }
    Some(warning.hint(hint).at(hook.location.clone()))
}

/// Returns a warning of a rule that asks where `agent` can't ask its user.
fn unasked(hook: &Hook, agent: Agent) -> Option<Diagnostic> {
    let mut natives = agent.events().iter();
    natives.find(|native| native.ask == Ask::Denies && native.event == Some(hook.event))?;
    let asks = hook.read_own_keys(|_, node| {
        Some(node.as_map()?.iter().any(|(key, value)| match key.as_text() {
            Some("otherwise") => value.as_text() == Some("ask"),
            key => key == Some("ask"),
        }))
    });
    if hook.kind != "rule" || !asks.unwrap_or_default() {
        return None;
    }
    let (label, title) = (hook.label(), agent.title());
    let message = format!("`{label}` asks, and {title} can't: an ask is a denial there");
    Some(Diagnostic::warning(message).at(hook.location.clone()))
}
