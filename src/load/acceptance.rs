//! Whether a file counts: who could have written it, what the administrator allows, and whether a
//! person approved it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::layers::LoadOptions;
use crate::config::{Diagnostic, FileConfig, Layer, Limits, Location, SourceFile, Untrusted};
use crate::platform::Platform;
use crate::trust::{
    Coverage, ProjectFile, TrustStore, UnsafeFile, check_permissions, check_plain,
    check_project_file,
};

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
}

impl From<UnsafeFile> for Diagnostic {
    fn from(found: UnsafeFile) -> Self {
        Self::error(found.to_string()).at(Location::of_file(&found.path)).hint(found.hint)
    }
}

/// Checks that the file at `path` may count: only the user and root can have written it, and a
/// project's is not reached through a link.
pub(super) fn check_file(layer: Layer, path: &Path) -> Result<(), Diagnostic> {
    match layer {
        Layer::Program | Layer::CommandLine => {}
        Layer::Project => check_project_file(path)?,
        Layer::Managed | Layer::User => check_permissions(path)?,
    }
    Ok(())
}

/// Checks that a directory for hooks files of a layer may be looked at: one of a project is not
/// reached through a link.
pub(super) fn check_directory(layer: Layer, path: &Path) -> Result<(), Diagnostic> {
    if layer == Layer::Project {
        check_plain(path)?;
    }
    Ok(())
}

impl Acceptance {
    pub(super) fn new(options: &LoadOptions) -> Self {
        Self { options: options.clone(), store: options.trust_store(), ..Self::default() }
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
        if self.allows(layer) {
            return None;
        }
        let warning = Diagnostic::warning("the administrator does not allow hooks from here");
        Some(warning.hint("this file is left out").at(Location::of_file(path)))
    }

    /// Returns a project's file by its bytes, and whether it may run; `None` when no approval is needed.
    pub(super) fn project_file(&self, source: &SourceFile) -> Option<ProjectFile> {
        if source.layer() != Layer::Project || self.options.trust_projects {
            return None;
        }
        let working_dir = self.working_dir.as_deref().unwrap_or(Path::new("."));
        let mut file = ProjectFile::new(&source.path, &source.text, working_dir);
        if let Some(store) = &self.store {
            store.judge(&mut file, !self.options.only_show);
        }
        Some(file)
    }

    /// Lets nothing of `part` run if `file` does not. If the file is only shown, finds out what its
    /// commands name.
    pub(super) fn block(&self, file: &mut ProjectFile, part: &mut FileConfig) {
        if self.options.only_show {
            file.coverage = Coverage::read(file, part, Platform::HERE.has_drives);
        }
        let Some(problem) = file.problem() else { return };
        let must = file.person_must().unwrap_or_default();
        let cause: Arc<str> = format!("{problem}; a person must {must} it").into();
        let remedy: Arc<str> = file.remedy().into();
        for hook in &mut part.hooks {
            hook.untrusted = Some(Untrusted::new(Arc::clone(&cause), Arc::clone(&remedy)));
        }
        for process in part.processes.values_mut() {
            process.untrusted = true;
        }
        part.limits = Limits::default();
        let audit = part.audit.take().map(|settings| settings.path);
        file.unapproved_audit = file.unapproved_audit.take().or(audit);
    }
}
