//! Which files of all layers are read, and in which order.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::directory::FILE;
use super::loading::Loading;
use super::options::{LoadOptions, Surroundings};
use hookexec::config::{Diagnostic, Layer, Location};
use hookexec_files::directories::PROJECT_DIRECTORY;
use hookexec_files::files::real;
use hookexec_files::platform::Platform;

impl Loading {
    /// Reads the files of all layers as far as they can be read.
    pub(crate) fn layers(options: &LoadOptions) -> Self {
        let mut loading = Self::new(options);
        let surroundings = options.surroundings();
        loading.working_dir = surroundings.project.first().cloned();
        let mut seen = HashSet::new();

        // The administrator's first, all of them: they say which of the others count.
        let found = loading.directory_files(Layer::Managed, &options.managed_directory());
        loading.files(Layer::Managed, &found, &mut seen);
        if !options.isolated {
            loading.user_files(options, &mut seen);
            let mut found = loading.project_files(&surroundings, options);
            // A file that is both found and named counts as named.
            if !found.is_empty() && loading.allows(Layer::CommandLine) {
                let named: Vec<PathBuf> = options.files.iter().map(|path| real(path)).collect();
                found.retain(|path| !named.contains(path));
            }
            loading.files(Layer::Project, &found, &mut seen);
        }
        loading.files(Layer::CommandLine, &options.files, &mut seen);
        if !options.isolated && !options.without_project {
            loading.report_gone(&surroundings);
        }
        loading
    }

    /// Reads files that were not seen before.
    fn files(&mut self, layer: Layer, paths: &[PathBuf], seen: &mut HashSet<PathBuf>) {
        for path in paths {
            // A link in a project is a file of its own, which is refused. It must not be taken for a file
            // that was read before.
            let identity = if layer == Layer::Project { path.clone() } else { real(path) };
            if seen.insert(identity) {
                self.file(layer, path);
            }
        }
    }

    /// Reads the user's files. A directory of theirs that is not known is a failure.
    fn user_files(&mut self, options: &LoadOptions, seen: &mut HashSet<PathBuf>) {
        let directories = options.user_directories();
        let mut has_files = false;
        for directory in &directories {
            let found = self.directory_files(Layer::User, directory);
            has_files |= !found.is_empty();
            self.files(Layer::User, &found, seen);
        }
        let problem = if directories.is_empty() {
            "no home directory is known, so the user's hooks can't be found"
        } else if !has_files && !options.is_home_told() {
            "no variable names the home directory, and that of the account has no hooks file"
        } else {
            return;
        };
        let hint =
            format!("set {} or XDG_CONFIG_HOME to an absolute path", Platform::HERE.home_variable);
        let problem = Diagnostic::error(problem).hint(hint);
        self.builder.fail(Layer::User, Path::new("~/.config/hookexec"), [problem]);
    }

    /// Returns the hooks files of the project, the outermost first.
    ///
    /// All that is found counts: a `hooks.yaml` put into a directory below must not be able to hide the
    /// guards of the one above. The user's own directory may be among those of the project; its files
    /// are the user's alone.
    fn project_files(
        &mut self,
        surroundings: &Surroundings,
        options: &LoadOptions,
    ) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let Some(innermost) = surroundings.project.first() else { return found };
        if options.without_project {
            let problem = "the project's hooks files could not be read in time";
            self.fail_project(innermost, problem, "work in a smaller project");
            return found;
        }
        // They are looked for in each directory at every event, before it is known whether a person
        // approved them.
        if innermost.ancestors().count() > 100 {
            let problem = "the working directory is more than 100 levels deep";
            self.fail_project(innermost, problem, "work in a directory that is less deep");
            return found;
        }
        let others = options.directories_of_higher_layers();
        for project in surroundings.project.iter().rev() {
            let own = project.join(PROJECT_DIRECTORY);
            if !others.contains(&own) {
                found.extend(self.directory_files(Layer::Project, &own));
            }
            if !others.contains(project) {
                found.extend(self.hooks_file(Layer::Project, project));
            }
        }
        found
    }

    /// Records that the hooks files of the project can't be looked for.
    fn fail_project(&mut self, directory: &Path, problem: &str, hint: &str) {
        let place = directory.join(FILE);
        let problem = Diagnostic::error(problem).hint(hint).at(Location::of_file(&place));
        self.builder.fail(Layer::Project, &place, [problem]);
    }
}
