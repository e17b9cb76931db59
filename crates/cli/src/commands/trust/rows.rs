//! The rows of `hookexec trust`, one for each hooks file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use hookexec::Config;
use hookexec::config::{Command, Diagnostic, Hook};
use hookexec_builtins::shell::quoted;
use hookexec_project::trust::{Blocked, FileChange, Found, ProjectFile, TrustStore};
use hookexec_workbench::records::shown;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

use crate::plain;
use hookexec_workbench::summary::{HookSummary, quoted_words};

/// One hooks file of a project, and how it differs from its approval.
#[skip_serializing_none]
#[derive(Default, Serialize)]
pub(super) struct Row {
    path: PathBuf,
    pub(super) status: Status,
    /// `None` if the file is gone.
    digest: Option<String>,
    hooks: Vec<HookSummary>,
    /// The keys of the file beside its hooks.
    settings: BTreeMap<String, Value>,
    /// The files that an approval covers, as far as they are as they were approved.
    pub(super) covered: Vec<String>,
    pub(super) changed: Vec<String>,
    pub(super) gone: Vec<String>,
    not_approved: Vec<String>,
    pub(super) not_covered: Vec<String>,
    #[serde(serialize_with = "as_texts")]
    pub(super) problems: Vec<Diagnostic>,
    diff: Option<String>,
}

/// Whether a hooks file runs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// It does.
    Approved,
    /// The file or one that its commands name changed after the approval, or is gone.
    Changed,
    /// No person approved the file, or one that its commands name.
    #[default]
    NotApproved,
}

impl Row {
    /// Returns the row of an approved file that is gone.
    pub(super) fn of_gone(path: PathBuf) -> Self {
        Self { path, status: Status::Changed, ..Self::default() }
    }

    pub(super) fn of(file: &ProjectFile, store: &TrustStore, config: &Config) -> Self {
        let mut row = Self {
            path: file.path.clone(),
            status: Status::of(file),
            digest: Some(file.digest.clone()),
            settings: file.settings.iter().cloned().collect(),
            problems: file.coverage.problems.clone(),
            ..Self::default()
        };
        for hook in &config.hooks {
            if hook.location.path() == file.path {
                row.hooks.push(HookSummary::of(hook, config));
            }
        }
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
        let mut approval = None;
        if matches!(file.blocked, Some(Blocked::File { .. })) {
            approval = store.compared_with(file);
        }
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

    /// Returns whether the file was approved and is gone.
    pub(super) fn is_gone(&self) -> bool {
        self.digest.is_none()
    }

    /// Returns its path from the current directory.
    pub(super) fn shown_path(&self) -> String {
        plain::line(shown(&self.path.to_string_lossy()))
    }

    /// Returns its first line.
    pub(super) fn title(&self) -> String {
        let status = match self.status {
            _ if self.is_gone() => "this approved file is gone",
            Status::Approved => "approved",
            Status::Changed => "changed",
            Status::NotApproved => "not approved",
        };
        format!("{}: {status}\n", self.shown_path())
    }

    /// Returns what a user does about a file that is gone.
    pub(super) fn way_back(&self) -> String {
        let path = self.shown_path();
        let remove = format!("run `hookexec trust remove {}` in a terminal", quoted(&path));
        format!("restore {path}, or {remove}")
    }

    pub(super) fn text(&self) -> String {
        let mut text = self.title();
        for (key, value) in &self.settings {
            let _ = writeln!(text, "  {}: {}", plain::line(key), plain::line(&value.to_string()));
        }
        for hook in &self.hooks {
            push_hook(&mut text, hook);
        }
        for (title, names) in [
            ("covered", &self.covered),
            ("changed", &self.changed),
            ("gone", &self.gone),
            ("not approved", &self.not_approved),
            ("not covered", &self.not_covered),
        ] {
            if !names.is_empty() {
                let _ = writeln!(text, "  {title}: {}", plain::line(&names.join(", ")));
            }
        }
        for problem in &self.problems {
            let _ = writeln!(text, "  problem: {}", plain::line(&problem.with_hint()));
        }
        text + self.diff.as_deref().unwrap_or_default()
    }
}

impl Status {
    fn of(file: &ProjectFile) -> Self {
        match &file.blocked {
            None => Self::Approved,
            Some(Blocked::Changed) => Self::Changed,
            Some(Blocked::File { change: FileChange::Changed | FileChange::Gone, .. }) => {
                Self::Changed
            }
            Some(_) => Self::NotApproved,
        }
    }
}

fn as_texts<S: Serializer>(problems: &[Diagnostic], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(problems.iter().map(Diagnostic::with_hint))
}

fn push_hook(text: &mut String, hook: &HookSummary) {
    let _ = writeln!(text, "  {} `{}`", hook.event, plain::line(&hook.name));
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
    if hook.timeout != Hook::DEFAULT_TIMEOUT {
        let _ = writeln!(text, "    timeout: {:?}", hook.timeout);
    }
    for (key, value) in &hook.settings {
        let _ = writeln!(text, "    {}: {}", plain::line(key), plain::line(value));
    }
}
