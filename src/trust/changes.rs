//! Which scripts of an approved hooks file differ from the approval.

use std::collections::HashMap;

use super::bundle::{Bundle, BundleFile, CoveredHook};
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
    pub(crate) script: Option<(String, ScriptChange)>,
}

impl Refusal {
    pub(crate) fn change(&self) -> Option<ScriptChange> {
        self.script.as_ref().map(|(_, change)| *change)
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
            return Some(Refusal { problem: problem.clone(), script: None });
        }
        let (name, change) = self.changes(hook).into_iter().next()?;
        let listed = if hook.listed.contains(&name) { ", listed in `scripts:`," } else { "" };
        let problem = format!("`{name}`{listed} {}", change.text());
        Some(Refusal { problem, script: Some((name, change)) })
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
