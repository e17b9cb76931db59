//! Which scripts of an approved hooks file differ from the approval.

use std::collections::HashMap;

use super::bundle::{Bundle, BundleFile, CoveredHook, Fault, ScriptProblem};
use super::store::TrustStore;

/// How a script of an approved hooks file differs from its approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptChange {
    /// Its bytes are not the approved ones.
    Changed,
    /// No approval names it.
    Unapproved,
    /// The approval names it, and no file is there.
    Gone,
}

impl ScriptChange {
    const fn text(self) -> &'static str {
        match self {
            Self::Changed => "changed after its approval",
            Self::Unapproved => "is not approved",
            Self::Gone => "was approved and is gone",
        }
    }
}

/// The approved scripts of one hooks file: each name with the digest of its bytes.
#[derive(Debug)]
pub(crate) struct ApprovedScripts(HashMap<String, String>);

/// Why a hook must not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) problem: String,
    /// The script that is not as it was approved; `None` for any other problem.
    pub(crate) script: Option<String>,
    pub(crate) cure: Cure,
}

/// What a person does about hooks that must not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Cure {
    /// Reviews the file, then approves it.
    #[default]
    Approve,
    /// Reviews what changed, then undoes or approves it.
    Review,
    /// Restores a script, or takes out the hook that executes it.
    RestoreScript,
    /// Restores a file, or takes it out of `scripts:`.
    RestoreListed,
    /// Follows this hint, then approves.
    Correct(&'static str),
}

impl Cure {
    fn of(change: ScriptChange, is_listed: bool) -> Self {
        match change {
            ScriptChange::Changed => Self::Review,
            ScriptChange::Unapproved => Self::Approve,
            ScriptChange::Gone if is_listed => Self::RestoreListed,
            ScriptChange::Gone => Self::RestoreScript,
        }
    }

    /// Returns what a person must do to the file, in one word for a model.
    pub(crate) const fn verb(self) -> &'static str {
        match self {
            Self::Approve | Self::Review => "approve",
            Self::RestoreScript | Self::RestoreListed => "restore",
            Self::Correct(_) => "correct",
        }
    }
}

impl Refusal {
    /// Returns the refusal of all hooks of a file that a person must approve.
    pub(crate) const fn of_file(problem: String) -> Self {
        Self { problem, script: None, cure: Cure::Approve }
    }
}

impl TrustStore {
    /// Returns, for each of the [covered](Bundle::covered) hooks of an approved `bundle`, the scripts
    /// that differ from the approval.
    pub fn script_changes(&self, bundle: &Bundle) -> Vec<Vec<(String, ScriptChange)>> {
        let approved = self.approved_scripts(bundle);
        bundle.covered().map(|hook| approved.changes(hook)).collect()
    }

    /// Returns the scripts that the approval of an approved `bundle` names.
    pub(crate) fn approved_scripts(&self, bundle: &Bundle) -> ApprovedScripts {
        let approval = self.applying(bundle);
        // The hooks file itself comes first.
        ApprovedScripts(approval.into_iter().flat_map(|it| it.files.into_iter().skip(1)).collect())
    }
}

impl ApprovedScripts {
    /// Returns why `hook` must not run: a script of it changed, is gone, is new, or can't be approved.
    pub(crate) fn refusal(&self, hook: &CoveredHook) -> Option<Refusal> {
        if let Some(problem) = hook.problems.first() {
            let cure = Cure::Correct(problem.hint);
            let other = || Refusal { problem: problem.text.clone(), script: None, cure };
            return Some(self.lost(hook, problem).unwrap_or_else(other));
        }
        let (name, change) = self.changes(hook).into_iter().next()?;
        Some(Self::changed(hook, &name, change, change.text()))
    }

    /// Returns the refusal of a hook for a `problem` with a file that was approved: it is gone, or a
    /// link took its place.
    fn lost(&self, hook: &CoveredHook, problem: &ScriptProblem) -> Option<Refusal> {
        let was_approved = |name: &&String| self.0.contains_key(*name);
        let gone = ScriptChange::Gone;
        match &problem.fault {
            Fault::Missing(names) => {
                let name = names.iter().find(was_approved)?;
                Some(Self::changed(hook, name, gone, gone.text()))
            }
            Fault::Link { name, path, link } => {
                let name = Some(name).filter(was_approved)?;
                let text = if path == link {
                    "was approved and is a symbolic link now".to_owned()
                } else {
                    format!("was approved, and `{}` is a symbolic link now", link.display())
                };
                Some(Self::changed(hook, name, gone, &text))
            }
            Fault::Other => None,
        }
    }

    fn changed(hook: &CoveredHook, name: &str, change: ScriptChange, text: &str) -> Refusal {
        let is_listed = hook.listed.contains(name);
        let listed = if is_listed { ", listed in `scripts:`," } else { "" };
        Refusal {
            problem: format!("`{name}`{listed} {text}"),
            script: Some(name.to_owned()),
            cure: Cure::of(change, is_listed),
        }
    }

    fn changes(&self, hook: &CoveredHook) -> Vec<(String, ScriptChange)> {
        let change = |file: &BundleFile| match self.0.get(&file.name) {
            Some(digest) if *digest == file.digest => None,
            Some(_) => Some((file.name.clone(), ScriptChange::Changed)),
            None => Some((file.name.clone(), ScriptChange::Unapproved)),
        };
        let gone = hook.absent.keys().filter(|name| self.0.contains_key(*name));
        let gone = gone.map(|name| (name.clone(), ScriptChange::Gone));
        hook.scripts.iter().filter_map(change).chain(gone).collect()
    }
}
