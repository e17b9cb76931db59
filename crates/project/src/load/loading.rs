//! Reads the files of all layers, those of a project as far as a person approved them, and of a policy
//! that many machines share the version that is in force.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::layers::{is_present, read};
use super::options::{LoadOptions, Surroundings, hooks_directories};
use crate::policy::{Policy, PolicyFailure, State, Store, hooks_files};
use crate::trust::{Coverage, ProjectFile, TrustStore, check_file, typed};
use hookexec::Config;
use hookexec::config::{
    ConfigBuilder, Diagnostic, Diagnostics, FailedFile, InLayer as _, Layer, Location, OnError,
    PolicySettings, SourceFile, file_of_layer,
};
use hookexec_files::directories::project_of;
use hookexec_files::hooks_file::MAX_SIZE;
use hookexec_files::platform::Platform;

/// The result of a load.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The files that the project brought along, and whether they may run.
    pub project_files: Vec<ProjectFile>,
    /// The policies that the files name.
    pub policies: Vec<Policy>,
}

/// Reads the files of all layers: managed, user and project, each with its `hooks.d`, and the files
/// named. They add up, in this order.
///
/// A file that is found and can't be loaded is among [`Config::failed`], and the others count.
///
/// # Errors
/// All problems of all files, when one of `options.files` can't be loaded.
pub fn load(options: &LoadOptions) -> Result<Loaded, Diagnostics> {
    let Loading { builder, project_files, policies, .. } = Loading::layers(options);
    Ok(Loaded { config: builder.build()?, project_files, policies })
}

/// Files that are being loaded.
#[derive(Debug, Default)]
pub(crate) struct Loading {
    /// The configuration of all files, and their mistakes.
    pub(crate) builder: ConfigBuilder,
    /// The files that the project brought along.
    pub(crate) project_files: Vec<ProjectFile>,
    /// The policies that the files name.
    pub(crate) policies: Vec<Policy>,
    /// The files that were looked at.
    pub(super) seen: HashSet<PathBuf>,
    /// How much of its bound the project has used, in bytes.
    project_size: u64,
    options: LoadOptions,
    /// Where a project's hooks run.
    pub(super) working_dir: Option<PathBuf>,
    /// Where approvals are kept; without it nothing of a project is approved.
    store: Option<TrustStore>,
    /// The layers that the administrator allows; all when `None`.
    allowed: Option<Vec<Layer>>,
    /// How many entries the directories of drop-ins may still have.
    pub(super) entries_left: usize,
}

impl Loading {
    /// Returns a beginning that follows what `options` say of trust.
    pub(super) fn new(options: &LoadOptions) -> Self {
        Self {
            builder: ConfigBuilder::new()
                .keep_broken(options.only_show)
                .named_may_fail(options.named_may_fail),
            options: options.clone(),
            store: options.trust_store(),
            // How many entries all `hooks.d` may have together, files of other names included.
            entries_left: 10_000,
            ..Self::default()
        }
    }

    /// Returns whether the administrator lets files of this layer count.
    pub(super) fn allows(&self, layer: Layer) -> bool {
        match &self.allowed {
            Some(allowed) => layer == Layer::Managed || allowed.contains(&layer),
            None => true,
        }
    }

    /// Reads one file. All files of all layers pass here: this is the place that decides whether
    /// one is used at all.
    pub(super) fn file(&mut self, layer: Layer, path: &Path) {
        if !self.allows(layer) {
            let warning = Diagnostic::warning("the administrator does not allow hooks from here");
            let warning = warning.hint("this file is left out").at(Location::of_file(path));
            return self.builder.leave_out(warning);
        }
        if !self.has_room(layer, path, LEAST) {
            return;
        }
        self.builder.note_file(path);
        match read(path, layer) {
            Ok(text) => {
                let more = (text.len() as u64).saturating_sub(LEAST);
                if self.has_room(layer, path, more) {
                    self.accept(SourceFile::new(path, text).in_layer(layer));
                }
            }
            Err(problem) => self.builder.fail(layer, path, [problem]),
        }
    }

    /// Returns whether `more` bytes are within the bound of a layer. Only a project has one: all of its
    /// files are read before it is known whether a person approved them, at every event.
    fn has_room(&mut self, layer: Layer, path: &Path, more: u64) -> bool {
        if layer != Layer::Project {
            return true;
        }
        let was_over = self.project_size > MAX_SIZE;
        self.project_size += more;
        if self.project_size <= MAX_SIZE {
            return true;
        }
        // The files after it are left out in silence.
        if !was_over {
            let problem =
                "the hooks files of this layer are more than 32, or larger than 1 MiB together";
            let problem = Diagnostic::error(problem).hint("remove hooks files that are not used");
            let place = file_of_layer(layer, path);
            self.builder.fail(layer, path, [problem.at(place)]);
        }
        false
    }

    /// Decides whether the content of a file counts, and evaluates it.
    fn accept(&mut self, source: SourceFile) {
        let source = Arc::new(source);
        if source.layer() != Layer::Project || self.options.trust_projects {
            if let Some(settings) = self.evaluate(&source, None) {
                self.policy(settings);
            }
            return;
        }
        let working_dir = self.working_dir.as_deref().unwrap_or(Path::new("."));
        let mut file = ProjectFile::new(&source.path, &source.text, working_dir);
        if let Some(store) = &self.store {
            file.blocked = store.judge(&mut file, !self.options.only_show);
        }
        let failure = file.failure(&source);
        let runs = failure.is_none();
        if let Some(failure) = failure {
            self.builder.add_failed(failure);
        }
        if runs || self.options.only_show {
            // No project can name a policy.
            self.evaluate(&source, Some(&mut file));
        }
        self.project_files.push(file);
    }

    /// Evaluates a file, and returns the policy that it names. It counts as far as a person approved it.
    fn evaluate(
        &mut self,
        source: &Arc<SourceFile>,
        project_file: Option<&mut ProjectFile>,
    ) -> Option<PolicySettings> {
        let mut part = self.builder.read(source)?;
        if let Some(layers) = part.layers.take() {
            // Several files of the administrator's can only narrow each other.
            let before = self.allowed.get_or_insert_with(|| layers.clone());
            before.retain(|layer| layers.contains(layer));
        }
        let policy = part.policy.take();
        if let Some(file) = project_file {
            if self.options.only_show {
                file.coverage = Coverage::read(file, &part, Platform::HERE.has_drives);
                file.coverage.text.clone_from(&source.text);
            }
            if let Some(failure) = file.failure(source) {
                part.refuse(&failure);
            }
        }
        self.builder.add(part);
        policy
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
        let location = file_of_layer(Layer::Project, path);
        let mut failed = FailedFile::new(location, cause, remedy);
        failed.on_error = Some(OnError::Warn);
        self.builder.add_failed(failed);
    }
}

/// Returns the path of a hooks file from its project.
fn in_project(path: &Path) -> Option<&Path> {
    path.strip_prefix(project_of(path.parent()?)).ok()
}

/// The least that a file of a project counts as, in bytes: 32 of them are as much as a project may have.
const LEAST: u64 = MAX_SIZE / 32;
/// The remedy for every failure of a policy.
const REMEDY: &str = "run `hookexec policy refresh`: it fetches the policy, or says why it can't";

impl Loading {
    /// Reads the hooks files of the version in force. They count as files of the layer that names the
    /// policy. If nothing is in force, or it was changed, or it has expired, the policy is a failure at
    /// every event.
    fn policy(&mut self, settings: PolicySettings) {
        let location = settings.location.clone();
        let store = Store::beside(location.directory());
        let mut policy =
            Policy { settings, store, state: State::default(), files: Vec::new(), failure: None };
        let found = in_force(&mut policy);
        policy.failure = match &found {
            Ok(_) => policy.expired(),
            Err(error) => Some(error.to_string()),
        };
        if let Some(cause) = &policy.failure {
            // Hooks that can't be used are a failure at every event.
            self.builder.add_failed(FailedFile::new(location, &**cause, REMEDY));
        }
        self.builder.add_policy(policy.settings.clone());
        self.policies.push(policy);
        for file in found.unwrap_or_default() {
            self.builder.note_file(&file.path);
            if let Some(inner) = self.evaluate(&file, None) {
                let cause = "a policy can't name another one";
                self.builder.add_failed(FailedFile::new(inner.location, cause, REMEDY));
            }
        }
    }
}

/// Returns the hooks files of the version in force, whose files are all as they were fetched.
fn in_force(policy: &mut Policy) -> Result<Vec<Arc<SourceFile>>, PolicyFailure> {
    let layer = policy.settings.location.file().layer();
    check_file(&policy.store.state_file(), layer).map_err(PolicyFailure::unsafe_file)?;
    policy.state = policy.store.state()?;
    let Some(in_force) = &policy.state.in_force else {
        let source = &policy.settings.source;
        return Err(PolicyFailure::refused(format!("the policy {source} was never fetched")));
    };
    let directory = policy.store.version(&in_force.digest);
    // They are watched also when one of them was changed: it may be restored.
    policy.files = in_force.files.keys().map(|name| directory.join(name)).collect();
    policy.store.check(in_force)?;
    let mut found = Vec::new();
    for name in hooks_files(in_force.files.keys())? {
        let path = directory.join(name);
        let text = read(&path, layer).map_err(PolicyFailure::unsafe_file)?;
        found.push(Arc::new(SourceFile::new(path, text).in_layer(layer)));
    }
    Ok(found)
}
