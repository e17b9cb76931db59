//! What `hookexec trust` shows of each hooks file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use hookexec::Config;
use hookexec::config::{Command, Diagnostic, Diagnostics, Hook, Location};
use hookexec::internal::Process;
use hookexec::internal::shell::quoted;
use hookexec::internal::trust::{Blocked, FileChange, Found, Problem, ProjectFile, TrustStore};
use serde::{Serialize, Serializer};
use serde_with_macros::skip_serializing_none;

use super::settings::settings_of;
use crate::decisions::shown;
use crate::error::with_hint;
use crate::plain;

/// What is known of one hooks file.
#[skip_serializing_none]
#[derive(Default, Serialize)]
pub(super) struct Row {
    path: PathBuf,
    pub(super) status: &'static str,
    digest: Option<String>,
    hooks: Vec<HookRow>,
    /// The files that an approval covers, as far as they are as they were approved.
    pub(super) covered: Vec<String>,
    pub(super) changed: Vec<String>,
    pub(super) gone: Vec<String>,
    not_approved: Vec<String>,
    pub(super) not_covered: Vec<String>,
    #[serde(serialize_with = "as_texts")]
    pub(super) problems: Vec<Problem>,
    diff: Option<String>,
    /// Why the file can't be loaded.
    pub(super) errors: Vec<String>,
}

/// What one hook is for, and what it runs.
#[skip_serializing_none]
#[derive(Serialize)]
struct HookRow {
    name: String,
    event: String,
    matcher: Option<String>,
    command: Option<Command>,
    /// Other keys that say what it does.
    settings: BTreeMap<&'static str, String>,
}

pub(super) const APPROVED: &str = "approved";
pub(super) const GONE: &str = "gone";

impl Row {
    pub(super) fn of(file: &ProjectFile, store: &TrustStore, config: &Config) -> Self {
        let status = match &file.blocked {
            None => APPROVED,
            Some(Blocked::Changed) => "changed",
            Some(Blocked::Unapproved | Blocked::Unsafe(_)) => "not approved",
            Some(Blocked::File { change, .. }) => match change {
                FileChange::Changed => "a named file changed",
                FileChange::Unapproved => "a named file is not approved",
                FileChange::Gone => "a named file is gone",
            },
        };
        let mut row = Self {
            path: file.path.clone(),
            status,
            digest: Some(file.digest.clone()),
            hooks: hooks_of(file, config),
            problems: file.coverage.problems.clone(),
            ..Self::default()
        };
        if matches!(file.blocked, Some(Blocked::Changed | Blocked::File { .. })) {
            row.diff = Some(store.diff(file));
        }
        row.add_files(file, store);
        for word in &file.coverage.uncovered {
            if !row.gone.iter().any(|name| name == word.trim_start_matches("./")) {
                row.not_covered.push(word.clone());
            }
        }
        row
    }

    /// Adds the files that the commands name, each to the list that says how it differs from its approval.
    fn add_files(&mut self, file: &ProjectFile, store: &TrustStore) {
        let is_compared = matches!(file.blocked, Some(Blocked::File { .. }));
        let approval = if is_compared { store.compared_with(file) } else { None };
        for named in &file.coverage.files {
            let change = approval.as_ref().and_then(|approval| approval.change(named));
            let list = match change {
                Some(FileChange::Changed) => &mut self.changed,
                Some(FileChange::Unapproved) => &mut self.not_approved,
                Some(FileChange::Gone) => &mut self.gone,
                None if named.found == Found::Nothing => continue,
                None => &mut self.covered,
            };
            // Two paths may lead to one file.
            if !list.contains(&named.name) {
                list.push(named.name.clone());
            }
        }
    }

    /// Adds those of `errors` that are about this file.
    pub(super) fn with_errors(mut self, errors: &Diagnostics) -> Self {
        let is_ours = |error: &&Diagnostic| {
            error.location.as_ref().is_some_and(|place| place.path() == self.path)
        };
        self.errors = errors.iter().filter(is_ours).map(with_hint).collect();
        self
    }

    pub(super) fn gone(path: PathBuf) -> Self {
        Self { path, status: GONE, ..Self::default() }
    }

    /// Returns its path from the current directory.
    pub(super) fn shown_path(&self) -> String {
        plain::line(shown(&self.path.to_string_lossy()))
    }

    /// Returns its first line.
    pub(super) fn title(&self) -> String {
        let broken = if self.errors.is_empty() { "" } else { ", and can't be loaded" };
        format!("{}: {}{broken}\n", self.shown_path(), self.status)
    }

    /// Returns what a user does about a file that is gone.
    pub(super) fn way_back(&self) -> String {
        let path = self.shown_path();
        let remove = format!("run `hookexec trust remove {}` in a terminal", quoted(&path));
        format!("restore {path}, or {remove}")
    }

    pub(super) fn text(&self) -> String {
        let mut text = self.title();
        for error in &self.errors {
            let _ = writeln!(text, "  error: {}", plain::line(shown(error)));
        }
        for hook in &self.hooks {
            text += &hook.text();
        }
        for (title, names) in [
            ("covered", &self.covered),
            ("changed", &self.changed),
            ("gone", &self.gone),
            ("not approved", &self.not_approved),
            ("not covered", &self.not_covered),
        ] {
            if !names.is_empty() {
                let names: Vec<String> = names.iter().map(|name| plain::line(name)).collect();
                let _ = writeln!(text, "  {title}: {}", names.join(", "));
            }
        }
        for problem in &self.problems {
            let _ = writeln!(text, "  problem: {}", plain::line(&problem.to_string()));
        }
        text + self.diff.as_deref().unwrap_or_default()
    }
}

/// Returns the hooks of a file, then its processes that no hook calls.
fn hooks_of(file: &ProjectFile, config: &Config) -> Vec<HookRow> {
    let is_own = |place: &Location| place.path() == file.path;
    let hooks = config.hooks.iter().filter(|hook| is_own(&hook.location));
    let mut rows: Vec<HookRow> = hooks.map(|hook| HookRow::of(hook, &config.processes)).collect();
    for process in config.processes.values().filter(|process| is_own(&process.location)) {
        if !config.hooks.iter().any(|hook| hook.process() == Some(&process.name)) {
            rows.push(HookRow::of_process(process));
        }
    }
    rows
}

fn as_texts<S: Serializer>(problems: &[Problem], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(problems.iter().map(ToString::to_string))
}

impl HookRow {
    fn of(hook: &Hook, processes: &BTreeMap<String, Process>) -> Self {
        let is_matched = hook.event.contract().tool_matched;
        let process = hook.process().and_then(|name| processes.get(name));
        let command = match (process, &hook.command) {
            (Some(process), _) => Some(Command::Argv(process.command.clone())),
            (None, Some(Command::Argv(words))) => {
                Some(Command::Argv([words.as_slice(), &hook.args].concat()))
            }
            (None, command) => command.clone(),
        };
        Self {
            name: hook.label(),
            event: hook.event.to_string(),
            matcher: if is_matched { Some(hook.matcher.to_string()) } else { None },
            command,
            settings: settings_of(hook, processes),
        }
    }

    fn of_process(process: &Process) -> Self {
        Self {
            name: process.name.clone(),
            event: "process".to_owned(),
            matcher: None,
            command: Some(Command::Argv(process.command.clone())),
            settings: BTreeMap::new(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("  {} `{}`\n", self.event, plain::line(&self.name));
        if let Some(matcher) = &self.matcher {
            let _ = writeln!(text, "    matches: {}", plain::line(matcher));
        }
        let runs = match &self.command {
            Some(Command::Text(text)) => text.trim_end().replace('\n', "\n          "),
            Some(Command::Argv(words)) => {
                words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
            }
            _ => String::new(),
        };
        if !runs.is_empty() && runs != self.name {
            let _ = writeln!(text, "    runs: {}", plain::plain(&runs));
        }
        for (key, value) in &self.settings {
            let _ = writeln!(text, "    {key}: {}", plain::line(value));
        }
        text
    }
}
