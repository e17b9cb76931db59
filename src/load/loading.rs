//! Reads the files of all layers, those of a project as far as a person approved them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::directory::{MAX_ENTRIES, is_present};
use super::file;
use super::options::{LoadOptions, Surroundings, hooks_directories};
use crate::config::{
    Assembly, Config, Diagnostic, Diagnostics, FailedFile, FileConfig, InLayer as _, Layer, Limits,
    Location, OnError, SourceFile, Untrusted, file_of_layer,
};
use crate::directories::project_of;
use crate::platform::Platform;
use crate::shell::typed;
use crate::trust::{Coverage, ProjectFile, TrustStore};

/// The result of a load.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The files that the project brought along, and whether they may run.
    pub project_files: Vec<ProjectFile>,
}

impl Config {
    /// Reads a configuration from one file.
    ///
    /// # Errors
    /// All problems of the file, when one of them is an error.
    pub fn load_file(path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        Self::load_files([path])
    }

    /// Reads a configuration from files that add up, in their order.
    ///
    /// # Errors
    /// All problems of all files, when one of them is an error.
    pub fn load_files<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Self, Diagnostics> {
        Loading::default().named(paths)
    }

    /// Reads the hooks files of a policy, which can't name another one.
    ///
    /// # Errors
    /// All problems of all files, when one of them is an error.
    #[doc(hidden)]
    pub fn load_policy<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Self, Diagnostics> {
        Loading { in_policy: true, ..Loading::default() }.named(paths)
    }

    /// Reads the files of all layers, as [`Loaded::load`] does, and returns the configuration alone.
    ///
    /// # Errors
    /// All problems of all files, when one of `options.files` can't be loaded.
    pub fn load(options: &LoadOptions) -> Result<Self, Diagnostics> {
        Loaded::load(options).map(|loaded| loaded.config)
    }
}

impl Loaded {
    /// Reads the files of all layers: managed, user and project, each with its `hooks.d`, and the files
    /// named. They add up, in this order.
    ///
    /// A file that is found and can't be loaded is among [`Config::failed`], and the others count.
    ///
    /// # Errors
    /// All problems of all files, when one of `options.files` can't be loaded.
    pub fn load(options: &LoadOptions) -> Result<Self, Diagnostics> {
        let Loading { assembly, project_files, .. } = Loading::layers(options);
        Ok(Self { config: assembly.finish()?, project_files })
    }
}

/// Files that are being loaded.
#[derive(Debug, Default)]
pub(crate) struct Loading {
    /// The configuration of all files, and their mistakes.
    pub(crate) assembly: Assembly,
    /// The files that the project brought along.
    pub(crate) project_files: Vec<ProjectFile>,
    options: LoadOptions,
    /// Where a project's hooks run.
    pub(super) working_dir: Option<PathBuf>,
    /// Where approvals are kept; without it nothing of a project is approved.
    store: Option<TrustStore>,
    /// The layers that the administrator allows; all when `None`.
    allowed: Option<Vec<Layer>>,
    /// How many entries the directories of drop-ins may still have.
    pub(super) entries_left: usize,
    /// Whether the files that are read now are those of a policy, which can't name another one.
    pub(super) in_policy: bool,
}

impl Loading {
    /// Returns a beginning that follows what `options` say of trust.
    pub(super) fn new(options: &LoadOptions) -> Self {
        Self {
            assembly: Assembly::new(options.only_show, options.named_may_fail),
            options: options.clone(),
            store: options.trust_store(),
            entries_left: MAX_ENTRIES,
            ..Self::default()
        }
    }

    /// Reads the files that a program names.
    fn named<P: AsRef<Path>>(
        mut self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Config, Diagnostics> {
        for path in paths {
            self.file(Layer::Program, path.as_ref());
        }
        self.assembly.finish()
    }

    /// Returns whether the administrator lets files of this layer count.
    pub(super) fn allows(&self, layer: Layer) -> bool {
        let is_allowed = |allowed: &Vec<Layer>| allowed.contains(&layer);
        layer == Layer::Managed || self.allowed.as_ref().is_none_or(is_allowed)
    }

    /// Reads one file. All files of all layers pass here: this is the place that decides whether
    /// one is used at all.
    pub(super) fn file(&mut self, layer: Layer, path: &Path) {
        if !self.allows(layer) {
            let warning = Diagnostic::warning("the administrator does not allow hooks from here");
            let warning = warning.hint("this file is left out").at(Location::of_file(path));
            return self.leave_out(warning);
        }
        if !self.assembly.may_read(layer, path) {
            return;
        }
        match file::read(path, layer) {
            Ok(text) => self.accept(SourceFile::new(path, text).in_layer(layer)),
            Err(problem) => {
                self.assembly.config.files.push(path.to_owned());
                self.assembly.fail(layer, path, [problem]);
            }
        }
    }

    /// Reports a file that is not read.
    pub(super) fn leave_out(&mut self, problem: Diagnostic) {
        self.assembly.config.left_out.push(problem.clone());
        self.assembly.problems.push(problem);
    }

    /// Decides whether the content of a file counts, and evaluates it.
    fn accept(&mut self, source: SourceFile) {
        let source = Arc::new(source);
        if !self.assembly.admit(&source) {
            return;
        }
        if source.layer() != Layer::Project || self.options.trust_projects {
            return self.evaluate(&source, None);
        }
        let working_dir = self.working_dir.as_deref().unwrap_or(Path::new("."));
        let mut file = ProjectFile::new(&source.path, &source.text, working_dir);
        if let Some(store) = &self.store {
            file.blocked = store.judge(&mut file, !self.options.only_show);
        }
        let failure = file.failure(&source);
        let runs = failure.is_none();
        self.assembly.config.failed.extend(failure);
        if runs || self.options.only_show {
            self.evaluate(&source, Some(&mut file));
        }
        self.project_files.push(file);
    }

    /// Evaluates a file. It counts as far as a person approved it.
    pub(super) fn evaluate(
        &mut self,
        source: &Arc<SourceFile>,
        project_file: Option<&mut ProjectFile>,
    ) {
        let mut policy = None;
        self.assembly.evaluate(Arc::clone(source), |config| {
            if let Some(layers) = config.layers.take() {
                // Several files of the administrator's can only narrow each other.
                let before = self.allowed.get_or_insert_with(|| layers.clone());
                before.retain(|layer| layers.contains(layer));
            }
            policy = config.policy.take();
            if let Some(file) = project_file {
                if self.options.only_show {
                    file.coverage = Coverage::read(file, config, Platform::HERE.has_drives);
                }
                if let Some(failure) = file.failure(source) {
                    block(config, &failure);
                    file.unapproved_audit = config.audit.take().map(|settings| settings.path);
                }
            }
        });
        if let Some(settings) = policy {
            self.policy(settings);
        }
    }

    /// Records that hooks which a file brings in from elsewhere can't be used. That is a failure at every
    /// event.
    pub(super) fn unavailable(&mut self, location: &Location, cause: &str, remedy: &str) {
        let problem = Diagnostic::error(cause).hint(remedy).at(location.clone());
        let layer = location.file().layer();
        if !layer.may_fail(self.assembly.config.named_may_fail) {
            return self.assembly.fail(layer, location.path(), [problem]);
        }
        self.assembly.problems.push(problem);
        let failed = FailedFile::new(location.clone(), cause, remedy);
        self.assembly.config.failed.push(failed);
    }

    /// Reports the approved files whose hooks don't run: those that are gone, and those above the root of
    /// the project. That is not a failure: another branch may have none, and a repository may lie in
    /// another.
    pub(super) fn report_gone(&mut self, surroundings: &Surroundings) {
        if !self.allows(Layer::Project) {
            return;
        }
        let Some(store) = &self.store else { return };
        let of_project = hooks_directories(&surroundings.project);
        // A `.git` that was made or removed must not hide that a file above is gone.
        let above = hooks_directories(&surroundings.above);
        for path in store.approved_in(&[of_project.as_slice(), &above].concat()) {
            let remove = format!("run `hookexec trust remove {}` in a terminal", typed(&path));
            if !is_present(&path) {
                let cause = "this approved file is gone; its hooks don't run";
                self.does_not_run(&path, cause, format!("restore it, or {remove}"));
            } else if !of_project.iter().any(|own| path.parent() == Some(own))
                && !self.runs_file_named_as(&path)
            {
                let cause = "this approved file is above the root of the project, and its hooks don't \
                             run here";
                let git = "remove the `.git` below it, or make the `.git` beside it again";
                self.does_not_run(&path, cause, format!("{git}, or {remove}"));
            }
        }
    }

    /// Returns whether a file of the project runs that has the name of the hooks file at `path`, as in a
    /// worktree that lies in the checkout.
    fn runs_file_named_as(&self, path: &Path) -> bool {
        let mut running = self.project_files.iter().filter(|file| file.blocked.is_none());
        running.any(|file| in_project(&file.path) == in_project(path))
    }

    /// Reports at every event that the hooks of an approved file don't run.
    fn does_not_run(&mut self, path: &Path, cause: &str, remedy: String) {
        let warning = Diagnostic::warning(cause).hint(&*remedy).at(Location::of_file(path));
        self.assembly.problems.push(warning);
        let location = file_of_layer(Layer::Project, path);
        let failed = FailedFile::new(location, cause, remedy);
        let on_error = Some(OnError::Warn);
        self.assembly.config.failed.push(FailedFile { on_error, ..failed });
    }
}

/// Lets nothing of a file run that is shown, and says why.
fn block(config: &mut FileConfig, failure: &FailedFile) {
    let must = failure.person_must.unwrap_or_default();
    let cause: Arc<str> = format!("{}; a person must {must} it", failure.cause).into();
    for hook in &mut config.hooks {
        hook.untrusted = Some(Untrusted::new(Arc::clone(&cause), Arc::clone(&failure.remedy)));
    }
    for process in config.processes.values_mut() {
        process.untrusted = true;
    }
    config.limits = Limits::default();
}

/// Returns the path of a hooks file from its project.
fn in_project(path: &Path) -> Option<&Path> {
    path.strip_prefix(project_of(path.parent()?)).ok()
}
