//! Reads the files of all layers, those of a project as far as a person approved them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::acceptance::{Acceptance, check_file};
use super::directory::MAX_ENTRIES;
use super::file;
use super::layers::LoadOptions;
use crate::config::{
    Assembly, Config, Diagnostic, Diagnostics, FailedFile, Layer, Location, OnError, SourceFile,
};
use crate::directories::project_of;
use crate::shell::typed;
use crate::trust::{Blocked, ProjectFile};

/// What was loaded.
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
    /// What the files configure, and what is wrong with them.
    pub(crate) assembly: Assembly,
    /// The files that the project brought along.
    pub(crate) project_files: Vec<ProjectFile>,
    pub(super) acceptance: Acceptance,
    /// How many entries the project's directories of drop-ins may still have.
    pub(super) project_entries: usize,
    /// Whether the files that are read now are those of a policy, which can't name another one.
    pub(super) in_policy: bool,
}

impl Loading {
    /// Returns a beginning that follows what `options` say of trust.
    pub(super) fn with_options(options: &LoadOptions) -> Self {
        Self {
            assembly: Assembly::new(options.only_show, options.named_may_fail),
            acceptance: Acceptance::new(options),
            project_entries: MAX_ENTRIES,
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

    /// Reads one file. All files of all layers pass here: this is the place that decides whether
    /// one is used at all.
    pub(super) fn file(&mut self, layer: Layer, path: &Path) {
        if let Some(warning) = self.acceptance.excludes(layer, path) {
            self.leave_out(warning);
            return;
        }
        if !self.assembly.may_read(layer, path) {
            return;
        }
        let allowed = check_file(layer, path);
        match allowed.and_then(|()| file::read(path, layer)) {
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

    /// Reports the approved files whose hooks don't run: those that are gone, of `directories` and
    /// `above` the root of the project, and those above that are there. That is not a failure: another
    /// branch may have none, and a repository may lie in another.
    pub(super) fn report_gone(&mut self, directories: &[PathBuf], above: &[PathBuf]) {
        if !self.acceptance.allows(Layer::Project) {
            return;
        }
        let Some(store) = self.acceptance.store.clone() else { return };
        // A `.git` that was made or removed must not hide that a file above is gone.
        for path in store.approved_in(&[directories, above].concat(), false) {
            let cause = "this approved file is gone; its hooks don't run";
            self.does_not_run(&path, cause, format!("restore it, or {}", removal(&path)));
        }
        for path in store.approved_in(above, true) {
            if self.runs_file_named_as(&path) {
                continue;
            }
            let cause = "this approved file is above the root of the project, and its hooks don't \
                         run here";
            let remove = removal(&path);
            let git = "remove the `.git` below it, or make the `.git` beside it again";
            self.does_not_run(&path, cause, format!("{git}, or {remove}"));
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
        let warning = Diagnostic::warning(cause).hint(remedy.clone());
        self.assembly.problems.push(warning.at(Location::of_file(path)));
        let location = Location::of_file_in(Layer::Project, path);
        let failed = FailedFile::new(location, cause, remedy);
        let on_error = Some(OnError::Warn);
        self.assembly.config.failed.push(FailedFile { on_error, ..failed });
    }

    /// Decides whether the content of a file counts, and evaluates it.
    fn accept(&mut self, file: SourceFile) {
        let file = Arc::new(file);
        if !self.assembly.admit(&file) {
            return;
        }
        let mut project_file = self.acceptance.project_file(&file);
        let blocked = project_file.as_ref().filter(|file| file.blocked.is_some());
        if let Some(project_file) = blocked {
            self.fail_blocked(&file, project_file);
        }
        if blocked.is_none() || self.acceptance.options.only_show {
            self.evaluate(&file, &mut project_file);
        }
        self.project_files.extend(project_file);
    }

    /// Evaluates a file. It counts as far as a person approved it.
    pub(super) fn evaluate(
        &mut self,
        file: &Arc<SourceFile>,
        project_file: &mut Option<ProjectFile>,
    ) {
        let mut policy = None;
        let acceptance = &mut self.acceptance;
        self.assembly.evaluate(Arc::clone(file), |config| {
            acceptance.restrict(config.layers.take());
            policy = config.policy.take();
            if let Some(project_file) = project_file {
                acceptance.block(project_file, config);
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

    /// Records that a project's file fails at every event, because a person must approve it.
    fn fail_blocked(&mut self, source: &Arc<SourceFile>, file: &ProjectFile) {
        let mut remedy = file.remedy();
        // A file that is shown is evaluated next, and its errors are shown.
        let may_be_broken = matches!(file.blocked, Some(Blocked::Unapproved | Blocked::Changed));
        if may_be_broken && !self.acceptance.options.only_show {
            remedy += "; `hookexec check` shows whether it can be loaded";
        }
        let location = file.location(source);
        let failed = FailedFile::new(location, file.problem().unwrap_or_default(), remedy);
        self.assembly.config.failed.push(FailedFile { person_must: file.person_must(), ..failed });
    }
}

/// Returns the path of a hooks file from its project.
fn in_project(path: &Path) -> Option<&Path> {
    path.strip_prefix(project_of(path.parent()?)).ok()
}

/// Returns what a user runs to take back the approval of the file at `path`.
fn removal(path: &Path) -> String {
    format!("run `hookexec trust remove {}` in a terminal", typed(path))
}
