//! What `hookexec trust` shows of each hooks file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use hookexec::config::{Command, Diagnostic, Diagnostics};
use hookexec::internal::ProjectFile;
use hookexec::internal::shell::quoted;
use hookexec::internal::trust::{
    Bundle, CoveredHook, ScriptChange, ScriptProblem, Trust, TrustStore,
};
use serde::{Serialize, Serializer};
use serde_with_macros::skip_serializing_none;

use crate::decisions::shown;
use crate::error::with_hint;
use crate::plain;

/// What is known of one hooks file.
#[skip_serializing_none]
#[derive(Serialize)]
pub(super) struct Row {
    path: PathBuf,
    pub(super) status: &'static str,
    digest: Option<String>,
    pub(super) hooks: Vec<HookRow>,
    diff: Option<String>,
    /// Why the file can't be loaded.
    pub(super) errors: Vec<String>,
}

/// What an approval covers of one hook.
#[skip_serializing_none]
#[derive(Serialize)]
pub(super) struct HookRow {
    name: String,
    event: String,
    matcher: Option<String>,
    command: Option<Command>,
    /// Other keys that say what it does.
    settings: BTreeMap<&'static str, String>,
    pub(super) covered: Vec<String>,
    pub(super) changed: Vec<String>,
    pub(super) gone: Vec<String>,
    not_approved: Vec<String>,
    pub(super) not_covered: Vec<String>,
    #[serde(serialize_with = "as_texts")]
    pub(super) problems: Vec<ScriptProblem>,
}

pub(super) const APPROVED: &str = "approved";
pub(super) const GONE: &str = "gone";

impl Row {
    pub(super) fn of(file: ProjectFile, store: &TrustStore) -> Self {
        let changes = match file.trust {
            Trust::Approved => store.script_changes(&file.bundle),
            _ => vec![Vec::new(); file.bundle.covered().count()],
        };
        let mut all = changes.iter().flatten().map(|(_, change)| *change);
        let change = all.next().filter(|first| all.all(|change| change == *first));
        let status = match file.trust {
            Trust::Approved if file.refused.is_empty() => APPROVED,
            // A link took the place of one, for example.
            Trust::Approved if changes.iter().all(Vec::is_empty) => "a script can't be approved",
            Trust::Approved => match (change, are_listed(&file.bundle, &changes)) {
                (Some(ScriptChange::Gone), false) => "a script is gone",
                (Some(ScriptChange::Gone), true) => "a listed file is gone",
                (Some(ScriptChange::Unapproved), false) => "a script is not approved",
                (Some(ScriptChange::Unapproved), true) => "a listed file is not approved",
                (_, false) => "a script changed",
                (_, true) => "a listed file changed",
            },
            Trust::Changed => "changed",
            _ => "not approved",
        };
        let has_diff = file.trust == Trust::Changed || changes.iter().any(|it| !it.is_empty());
        Self {
            status,
            diff: has_diff.then(|| store.diff(&file.bundle)),
            hooks: file.bundle.covered().cloned().zip(changes).map(HookRow::of).collect(),
            digest: Some(file.bundle.digest),
            path: file.bundle.path,
            errors: Vec::new(),
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
        let (hooks, errors) = (Vec::new(), Vec::new());
        Self { path, status: GONE, digest: None, hooks, diff: None, errors }
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
        text + self.diff.as_deref().unwrap_or_default()
    }
}

/// Returns whether only `scripts:` names the files that changed.
fn are_listed(bundle: &Bundle, changes: &[Vec<(String, ScriptChange)>]) -> bool {
    let mut hooks = bundle.covered().zip(changes);
    hooks.all(|(hook, changes)| changes.iter().all(|(name, _)| hook.listed.contains(name)))
}

fn as_texts<S: Serializer>(problems: &[ScriptProblem], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(problems.iter().map(ToString::to_string))
}

impl HookRow {
    fn of((hook, changes): (CoveredHook, Vec<(String, ScriptChange)>)) -> Self {
        let with = |wanted: ScriptChange| {
            let wanted = changes.iter().filter(move |(_, change)| *change == wanted);
            wanted.map(|(name, _)| name.clone()).collect()
        };
        let is_sound = |name: &String| {
            !hook.only_beside.contains(name) && changes.iter().all(|(changed, _)| changed != name)
        };
        let is_gone = |word: &str| {
            let word = word.trim_start_matches("./");
            changes.iter().any(|(name, change)| *change == ScriptChange::Gone && name == word)
        };
        let names = hook.scripts.into_iter().map(|script| script.name);
        Self {
            name: hook.name,
            event: hook.event,
            matcher: hook.matcher,
            command: hook.command,
            settings: hook.settings,
            covered: names.filter(is_sound).collect(),
            changed: with(ScriptChange::Changed),
            gone: with(ScriptChange::Gone),
            not_approved: with(ScriptChange::Unapproved),
            not_covered: hook.uncovered.into_iter().filter(|word| !is_gone(word)).collect(),
            problems: hook.problems,
        }
    }

    fn text(&self) -> String {
        let joined = |words: &[String]| {
            let words: Vec<String> = words.iter().map(|word| plain::line(word)).collect();
            words.join(", ")
        };
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
        for (title, names) in [
            ("covered", &self.covered),
            ("changed", &self.changed),
            ("gone", &self.gone),
            ("not approved", &self.not_approved),
            ("not covered", &self.not_covered),
        ] {
            if !names.is_empty() {
                let _ = writeln!(text, "    {title}: {}", joined(names));
            }
        }
        for problem in &self.problems {
            let _ = writeln!(text, "    problem: {}", plain::line(&problem.to_string()));
        }
        text
    }
}
