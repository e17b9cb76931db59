//! Whether a file is taken orders from: who may have written it, what the administrator allows, and
//! whether its owner approved it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::diagnostic::Diagnostic;
use super::file::whole_file;
use super::layers::{Layer, LoadOptions};
use super::model::Config;
use super::source::SourceFile;
use crate::trust::named::project_of;
use crate::trust::{Bundle, Trust, TrustStore, check_permissions};

/// What decides about files, for one loading.
#[derive(Debug, Default)]
pub(super) struct Acceptance {
    /// The directory of the project whose file is read.
    pub(super) project: Option<PathBuf>,
    /// Where its hooks run.
    pub(super) working_dir: Option<PathBuf>,
    /// Where approvals are kept; without it nothing of a project is approved.
    store: Option<TrustStore>,
    /// Whether the program itself vouches for the project's files.
    vouched: bool,
    /// The layers that the administrator allows; all when `None`.
    allowed: Option<Vec<Layer>>,
}

/// A file that a project brought along, and whether it may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectFile {
    /// The file and the scripts that it names.
    pub bundle: Bundle,
    /// Whether its owner approved exactly these bytes.
    pub trust: Trust,
}

impl ProjectFile {
    /// Returns why its hooks fail: it was never approved, or which of its files changed since.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let path = self.bundle.path.display();
        let own = self.bundle.files.first().map(|file| &file.name);
        match &self.trust {
            Trust::Approved => None,
            Trust::Changed { files, .. } => Some(match &files[..] {
                scripts @ [first, ..] if !files.iter().any(|name| Some(name) == own) => {
                    let others = match scripts.len() - 1 {
                        0 => String::new(),
                        more => format!(" and {more} more"),
                    };
                    format!(
                        "`{first}`{others}, which {path} runs, has changed since it was approved"
                    )
                }
                _ => format!("{path} has changed since it was approved"),
            }),
            Trust::Unknown => Some(format!("{path} was never approved")),
            Trust::Unsafe(problem) => Some(format!("{path} can't count as approved: {problem}")),
        }
    }

    /// Returns the way out.
    #[must_use]
    pub fn way_out(&self) -> String {
        if let Trust::Unsafe(problem) = &self.trust {
            return problem.hint.clone();
        }
        // Elsewhere the words of its commands may lead elsewhere.
        let directory =
            self.bundle.path.parent().map(project_of).and_then(|dir| dir.canonicalize().ok());
        let working_dir = match directory {
            Some(directory) if directory != self.bundle.working_dir => {
                format!("--cwd {} ", quoted(&self.bundle.working_dir))
            }
            _ => String::new(),
        };
        format!(
            "review it, then run `hookexec trust add {working_dir}{}`",
            quoted(&self.bundle.path)
        )
    }

    /// Returns what to say of a file that is not approved.
    #[must_use]
    pub fn warning(&self) -> Option<Diagnostic> {
        let problem = Diagnostic::warning(format!("{}: its hooks fail", self.problem()?));
        Some(problem.hint(self.way_out()).at(whole_file(&self.bundle.path)))
    }
}

/// Returns a path as a shell reads it, in quotes when it needs them.
fn quoted(path: &Path) -> String {
    let word = path.to_string_lossy();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+@%:,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

impl Acceptance {
    pub(super) fn new(options: &LoadOptions) -> Self {
        let store = match &options.trust_dir {
            Some(directory) => Some(TrustStore::at(directory)),
            None => TrustStore::of_user(),
        };
        Self { store, vouched: options.trust_projects, ..Self::default() }
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

    /// Returns whether the file at `path` is read at all; a problem says why not.
    pub(super) fn admit(&self, layer: Layer, path: &Path) -> Result<(), Diagnostic> {
        if !self.allows(layer) {
            let problem = Diagnostic::warning("the administrator does not allow hooks from here");
            return Err(problem.hint("this file is left out").at(whole_file(path)));
        }
        if matches!(layer, Layer::Program | Layer::CommandLine) {
            return Ok(());
        }
        let inside = self.project.as_deref().filter(|_| layer == Layer::Project);
        check_permissions(path, inside).map_err(|unsafe_file| {
            let hint = unsafe_file.hint.clone();
            Diagnostic::error(unsafe_file.to_string()).hint(hint).at(whole_file(path))
        })
    }

    /// Asks whether the owner approved a project's file, and takes from `part`, which was read from
    /// it, whatever must not happen when not.
    pub(super) fn judge(&self, file: &SourceFile, part: &mut Config) -> Result<(), Diagnostic> {
        if file.layer != Layer::Project || self.vouched {
            return Ok(());
        }
        let here = Path::new(".");
        let working_dir = self.working_dir.as_deref().unwrap_or(here);
        let bundle = Bundle::read(file, part, working_dir).map_err(|error| {
            let message = format!("can't read a script that it names: {error}");
            Diagnostic::error(message).at(whole_file(&file.path))
        })?;
        let trust = self.store.as_ref().map_or(Trust::Unknown, |store| store.status(&bundle));
        let file = ProjectFile { bundle, trust };
        if let Some(problem) = file.problem() {
            let why: Arc<str> = format!("{problem}; {}", file.way_out()).into();
            for hook in &mut part.hooks {
                hook.untrusted = Some(Arc::clone(&why));
            }
            for process in part.processes.values_mut() {
                process.untrusted = true;
            }
            (part.max_parallel, part.deadline) = (None, None);
            part.audit.clear();
        }
        part.project_files.push(file);
        Ok(())
    }
}
