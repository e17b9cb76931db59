//! What `hookexec trust` shows of each hooks file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use hookexec::Config;
use hookexec::config::{Command, Diagnostic, Diagnostics};
use hookexec::internal::shell::quoted;
use hookexec::internal::trust::{Blocked, FileChange, Found, ProjectFile, TrustStore};
use serde::{Serialize, Serializer};
use serde_with_macros::skip_serializing_none;

use crate::decisions::shown;
use crate::error::with_hint;
use crate::plain;
use crate::summary::{HookSummary, quoted_words};

/// What is known of one hooks file.
#[skip_serializing_none]
#[derive(Default, Serialize)]
pub(super) struct Row {
    path: PathBuf,
    pub(super) status: &'static str,
    digest: Option<String>,
    hooks: Vec<HookSummary>,
    /// The processes that no hook calls, and their programs.
    processes: BTreeMap<String, Vec<String>>,
    /// The files that an approval covers, as far as they are as they were approved.
    pub(super) covered: Vec<String>,
    pub(super) changed: Vec<String>,
    pub(super) gone: Vec<String>,
    not_approved: Vec<String>,
    pub(super) not_covered: Vec<String>,
    #[serde(serialize_with = "as_texts")]
    pub(super) problems: Vec<Diagnostic>,
    diff: Option<String>,
    /// Why the file can't be loaded.
    pub(super) errors: Vec<String>,
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
            processes: uncalled_processes(file, config),
            problems: file.coverage.problems.clone(),
            ..Self::default()
        };
        if matches!(file.blocked, Some(Blocked::Changed | Blocked::File { .. })) {
            row.diff = Some(store.diff(file));
        }
        row.add_files(file, store);
        for command in &file.coverage.uncovered {
            let mut words = command.split(' ').map(|word| word.trim_start_matches("./"));
            if !words.any(|word| row.gone.iter().any(|name| name == word)) {
                row.not_covered.push(command.clone());
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
            text += &hook_text(hook);
        }
        for (name, command) in &self.processes {
            let _ = writeln!(text, "  process `{}`", plain::line(name));
            let _ = writeln!(text, "    runs: {}", plain::plain(&quoted_words(command)));
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
            let _ = writeln!(text, "  problem: {}", plain::line(&with_hint(problem)));
        }
        text + self.diff.as_deref().unwrap_or_default()
    }
}

fn hooks_of(file: &ProjectFile, config: &Config) -> Vec<HookSummary> {
    let hooks = config.hooks.iter().filter(|hook| hook.location.path() == file.path);
    hooks.map(|hook| HookSummary::of(hook, config)).collect()
}

fn uncalled_processes(file: &ProjectFile, config: &Config) -> BTreeMap<String, Vec<String>> {
    let mut uncalled = BTreeMap::new();
    for (name, process) in &config.processes {
        let is_called = config.hooks.iter().any(|hook| hook.process() == Some(name));
        if process.location.path() == file.path && !is_called {
            uncalled.insert(name.clone(), process.command.clone());
        }
    }
    uncalled
}

fn as_texts<S: Serializer>(problems: &[Diagnostic], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(problems.iter().map(with_hint))
}

fn hook_text(hook: &HookSummary) -> String {
    let mut text = format!("  {} `{}`\n", hook.event, plain::line(&hook.name));
    if let Some(matcher) = &hook.matcher {
        let _ = writeln!(text, "    matches: {}", plain::line(matcher));
    }
    let runs = match &hook.command {
        Some(Command::Text(text)) => text.trim_end().replace('\n', "\n          "),
        Some(Command::Argv(words)) => quoted_words(words),
        _ => String::new(),
    };
    if !runs.is_empty() && runs != hook.name {
        let _ = writeln!(text, "    runs: {}", plain::plain(&runs));
    }
    if hook.kind != "command" {
        let _ = writeln!(text, "    type: {}", plain::line(&hook.kind));
    }
    for (key, value) in &hook.settings {
        let _ = writeln!(text, "    {key}: {}", plain::line(value));
    }
    text
}
