//! Whether a file counts: who could have written it, what the administrator allows, and whether a
//! person approved it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::layers::LoadOptions;
use crate::config::{Diagnostic, FileConfig, Layer, Limits, Location, SourceFile, Untrusted};
use crate::directories::project_of;
use crate::paths::in_one_line;
use crate::shell::typed;
use crate::trust::bundle::MAX_SCRIPTS;
use crate::trust::changes::{Cure, Refusal};
use crate::trust::{
    Bundle, CoveredHook, Trust, TrustStore, UnsafeFile, check_permissions, check_plain,
    check_project_file,
};

/// How many problems of one file are reported.
const SHOWN: usize = 5;

/// What decides about files, for one loading.
#[derive(Debug, Default)]
pub(super) struct Acceptance {
    /// What is loaded.
    pub(super) options: LoadOptions,
    /// Where a project's hooks run.
    pub(super) working_dir: Option<PathBuf>,
    /// Where approvals are kept; without it nothing of a project is approved.
    pub(super) store: Option<TrustStore>,
    /// The layers that the administrator allows; all when `None`.
    allowed: Option<Vec<Layer>>,
    /// How many bytes of covered scripts may still be read.
    script_bytes_left: u64,
}

/// A file that a project brought along, and whether it may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectFile {
    /// The file, and the scripts that its hooks execute when the file was evaluated.
    pub bundle: Bundle,
    /// Whether a person approved exactly these bytes.
    pub trust: Trust,
    /// Why hooks of the approved file must not run, each problem once: their scripts changed or are gone.
    pub refused: Vec<String>,
    /// What a person does about `refused`, if it is the same of all.
    cure: Cure,
    /// The log that it has in `audit:`, which does not count because the file is not approved. Known
    /// when the file was evaluated.
    pub unapproved_audit: Option<PathBuf>,
}

impl ProjectFile {
    /// Returns why its hooks, or some of them, fail; `None` when a person approved all of it.
    pub fn problem(&self) -> Option<String> {
        match &self.trust {
            Trust::Approved if self.refused.is_empty() => None,
            Trust::Approved => Some(self.refusal()),
            Trust::Changed => Some("this file changed after its approval".to_owned()),
            Trust::Unknown => Some("this file is not approved".to_owned()),
            Trust::Unsafe(problem) => Some(format!("this file can't count as approved: {problem}")),
        }
    }

    fn refusal(&self) -> String {
        let text = self.refused.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>();
        let more = self.refused.len() - text.len();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        text.join("; ") + &more
    }

    /// Returns what the user can do. The text is for a person, not for a model.
    pub fn remedy(&self) -> String {
        match &self.trust {
            Trust::Unsafe(problem) => problem.hint.clone(),
            Trust::Approved => self.advice(None, self.cure),
            Trust::Changed => self.advice(Some(&self.name()), Cure::Review),
            Trust::Unknown => self.advice(Some(&self.name()), Cure::Approve),
        }
    }

    /// Returns what the user does about the file of this `name`. Without a name, the text before it
    /// names the files.
    fn advice(&self, name: Option<&str>, cure: Cure) -> String {
        let (show, add) = (self.command("show"), self.command("add"));
        let it = name.map_or("it".to_owned(), |name| format!("`{name}`"));
        let text = match cure {
            Cure::Review => {
                let of_it = name.map(|name| format!(" of `{name}`")).unwrap_or_default();
                format!("review the change{of_it} with {show}, then undo it or run {add}")
            }
            Cure::RestoreScript => {
                format!("restore {it}, or take its hook out of `{}` and run {add}", self.name())
            }
            Cure::RestoreListed => {
                let own = self.name();
                format!("restore {it}, or take it out of `scripts:` in `{own}` and run {add}")
            }
            Cure::Correct(hint) => format!("{hint}, then run {add}"),
            Cure::Approve => format!("review {it} with {show}, then run {add}"),
        };
        text + " in a terminal"
    }

    fn name(&self) -> String {
        in_one_line(Path::new(self.bundle.path.file_name().unwrap_or_default()))
    }

    /// Returns this action of `hookexec trust` with the file, as the user types it.
    fn command(&self, action: &str) -> String {
        let directory =
            self.bundle.path.parent().map(project_of).and_then(|dir| dunce::canonicalize(dir).ok());
        let working_dir = match directory {
            Some(directory) if directory != self.bundle.working_dir => {
                format!("--cwd {} ", typed(&self.bundle.working_dir))
            }
            _ => String::new(),
        };
        let path = typed(&self.bundle.path);
        format!("`hookexec trust {action} {working_dir}{path}`")
    }

    /// Returns what to say of a file that is not approved.
    pub fn warning(&self) -> Option<Diagnostic> {
        let problem = self.problem()?;
        let message = match self.trust {
            Trust::Approved => format!("{problem}: the hooks that use it fail"),
            _ => format!("{problem}: its hooks fail"),
        };
        let warning = Diagnostic::warning(message).hint(self.remedy());
        Some(warning.at(Location::of_file(&self.bundle.path)))
    }
}

/// Returns the problem of a file that does not count.
fn refused(unsafe_file: &UnsafeFile) -> Diagnostic {
    let problem = Diagnostic::error(unsafe_file.to_string()).hint(unsafe_file.hint.clone());
    problem.at(Location::of_file(&unsafe_file.path))
}

/// Checks that the file at `path` may count: only the user and root can have written it, and a
/// project's is not reached through a link.
pub(super) fn check_file(layer: Layer, path: &Path) -> Result<(), Diagnostic> {
    match layer {
        Layer::Program | Layer::CommandLine => return Ok(()),
        Layer::Project => check_project_file(path),
        Layer::Managed | Layer::User => check_permissions(path),
    }
    .map_err(|unsafe_file| refused(&unsafe_file))
}

/// Checks that a directory for hooks files of a layer may be looked at: one of a project is not
/// reached through a link.
pub(super) fn check_directory(layer: Layer, path: &Path) -> Result<(), Diagnostic> {
    match layer {
        Layer::Project => check_plain(path).map_err(|unsafe_file| refused(&unsafe_file)),
        Layer::Managed | Layer::User | Layer::CommandLine | Layer::Program => Ok(()),
    }
}

impl Acceptance {
    pub(super) fn new(options: &LoadOptions) -> Self {
        Self {
            options: options.clone(),
            store: options.trust_store().map(TrustStore::listed_once),
            script_bytes_left: MAX_SCRIPTS,
            ..Self::default()
        }
    }

    /// Remembers what a file of the administrator's says about the layers below.
    pub(super) fn restrict(&mut self, layers: Option<Vec<Layer>>) {
        // Several files of the administrator's can only narrow each other.
        self.allowed = match (self.allowed.take(), layers) {
            (Some(mut before), Some(now)) => {
                before.retain(|layer| now.contains(layer));
                Some(before)
            }
            (before, now) => before.or(now),
        };
    }

    /// Returns whether the administrator lets files of this layer count.
    pub(super) fn allows(&self, layer: Layer) -> bool {
        layer == Layer::Managed
            || self.allowed.as_ref().is_none_or(|allowed| allowed.contains(&layer))
    }

    /// Returns the warning that the administrator excludes the file at `path`.
    pub(super) fn excludes(&self, layer: Layer, path: &Path) -> Option<Diagnostic> {
        let warning = || {
            let warning = Diagnostic::warning("the administrator does not allow hooks from here");
            warning.hint("this file is left out").at(Location::of_file(path))
        };
        (!self.allows(layer)).then(warning)
    }

    /// Returns a project's file by its bytes alone, and whether a person approved them; `None` when
    /// no approval is needed.
    pub(super) fn project_file(&self, file: &SourceFile) -> Option<ProjectFile> {
        if file.layer != Layer::Project || self.options.trust_projects {
            return None;
        }
        let bundle = Bundle::of_file(&file.path, &file.text, self.working_dir());
        let trust = self.store.as_ref().map_or(Trust::Unknown, |store| store.status(&bundle));
        if let Some(store) = self.store.as_ref().filter(|_| trust == Trust::Approved)
            && !self.options.only_show
        {
            store.remember(&bundle);
        }
        Some(ProjectFile {
            bundle,
            trust,
            refused: Vec::new(),
            cure: Cure::Approve,
            unapproved_audit: None,
        })
    }

    /// Marks the hooks of `part` that must fail: all when the file is not approved, else those whose
    /// scripts changed.
    pub(super) fn refuse(
        &mut self,
        file: &mut ProjectFile,
        source: &SourceFile,
        part: &mut FileConfig,
    ) {
        let working_dir = self.working_dir().to_owned();
        let left = &mut self.script_bytes_left;
        file.bundle = Bundle::read(source, part, &working_dir, self.options.only_show, left);
        let approved = file.trust == Trust::Approved;
        let scripts = match &self.store {
            Some(store) if approved => Some(store.approved_scripts(&file.bundle)),
            _ => None,
        };
        let not_approved = file.problem().map(Refusal::of_file);
        let refusal = |covered: &CoveredHook| match &scripts {
            Some(scripts) => scripts.refusal(covered),
            None => not_approved.clone(),
        };
        if approved {
            let refusals: Vec<Refusal> = file.bundle.covered().filter_map(refusal).collect();
            let first = refusals.first().map(|it| it.cure);
            let is_same = refusals.iter().all(|it| Some(it.cure) == first);
            file.cure = first.filter(|_| is_same).unwrap_or_default();
            file.refused = refusals.into_iter().map(|refusal| refusal.problem).collect();
            file.refused.dedup();
        }
        let remedy: Arc<str> = file.remedy().into();
        for (hook, covered) in part.hooks.iter_mut().zip(&file.bundle.hooks) {
            let Some(refusal) = refusal(covered) else { continue };
            let remedy = if approved {
                file.advice(refusal.script.as_deref(), refusal.cure).into()
            } else {
                Arc::clone(&remedy)
            };
            let cause = format!("{}; a person must {} it", refusal.problem, refusal.cure.verb());
            hook.untrusted = Some(Untrusted::new(cause, remedy));
            if let Some(process) = hook.process().and_then(|name| part.processes.get_mut(name)) {
                process.untrusted = true;
            }
        }
        for (name, covered) in &file.bundle.processes {
            if let Some(process) = part.processes.get_mut(name) {
                process.untrusted |= refusal(covered).is_some();
            }
        }
        // Other hooks of a process whose script changed fail with it.
        for hook in &mut part.hooks {
            let process = hook.process().and_then(|name| part.processes.get(name));
            if hook.untrusted.is_none() && process.is_some_and(|process| process.untrusted) {
                let why = "a script of its process changed; a person must approve it".to_owned();
                hook.untrusted = Some(Untrusted::new(why, Arc::clone(&remedy)));
            }
        }
        if !approved {
            part.processes.values_mut().for_each(|process| process.untrusted = true);
            part.limits = Limits::default();
            let audit = part.audit.take().map(|settings| settings.path);
            file.unapproved_audit = file.unapproved_audit.take().or(audit);
        }
    }

    fn working_dir(&self) -> &Path {
        self.working_dir.as_deref().unwrap_or(Path::new("."))
    }
}
