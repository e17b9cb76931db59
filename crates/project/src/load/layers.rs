//! Which files of all layers are read, and in which order.

use std::fs::{self, ReadDir};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::loading::Loading;
use super::options::{LoadOptions, Surroundings};
use crate::layout::DropIn;
use crate::trust::{check_file, check_plain};
use hookexec::config::{Diagnostic, Layer, Location};
use hookexec_files::directories::{DROP_INS, PROJECT_DIRECTORY};
use hookexec_files::files::real;
use hookexec_files::hooks_file::{read_found, read_named};
use hookexec_files::platform::Platform;

/// The name of a configuration file in each of the directories.
pub(super) const FILE: &str = "hooks.yaml";
/// Names that are nearly that, and are not read.
const NEARLY: [&str; 3] = ["hooks.yml", "Hooks.yaml", "Hooks.yml"];

impl Loading {
    /// Reads the files of all layers as far as they can be read.
    pub(crate) fn layers(options: &LoadOptions) -> Self {
        let mut loading = Self::new(options);
        let surroundings = options.surroundings();
        loading.working_dir = surroundings.project.first().cloned();

        // The administrator's first, all of them: they say which of the others count.
        let found = loading.directory_files(Layer::Managed, &options.managed_directory());
        loading.files(Layer::Managed, &found);
        if !options.isolated {
            loading.user_files(options);
            let mut found = loading.project_files(&surroundings, options);
            // A file that is both found and named counts as named.
            if !found.is_empty() && loading.allows(Layer::CommandLine) {
                let named: Vec<PathBuf> = options.files.iter().map(|path| real(path)).collect();
                found.retain(|path| !named.contains(path));
            }
            loading.files(Layer::Project, &found);
        }
        loading.files(Layer::CommandLine, &options.files);
        if !options.isolated && !options.without_project {
            loading.report_gone(&surroundings);
        }
        loading
    }

    /// Reads files that were not seen before.
    fn files(&mut self, layer: Layer, paths: &[PathBuf]) {
        for path in paths {
            // A link in a project is a file of its own, which is refused. It must not be taken for a file
            // that was read before.
            let identity = if layer == Layer::Project { path.clone() } else { real(path) };
            if self.seen.insert(identity) {
                self.file(layer, path);
            }
        }
    }

    /// Reads the user's files. A directory of theirs that is not known is a failure.
    fn user_files(&mut self, options: &LoadOptions) {
        let directories = options.user_directories();
        let mut has_files = false;
        for directory in &directories {
            let found = self.directory_files(Layer::User, directory);
            has_files |= !found.is_empty();
            self.files(Layer::User, &found);
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

    /// Returns the hooks files in a directory of a layer and in its `hooks.d`, and reports what is there
    /// and can't be read.
    fn directory_files(&mut self, layer: Layer, directory: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        match open_directory(layer, directory) {
            Ok(Some(_)) => {}
            Ok(None) => return found,
            Err(problem) => {
                self.builder.fail(layer, directory, [problem]);
                return found;
            }
        }
        found.extend(self.hooks_file(layer, directory));
        let drop_ins = directory.join(DROP_INS);
        match self.drop_ins(layer, &drop_ins) {
            Ok(paths) => found.extend(paths),
            Err(problem) => self.builder.fail(layer, &drop_ins, [problem]),
        }
        found
    }

    /// Returns the `hooks.yaml` in a directory, or reports a file that is named nearly so.
    fn hooks_file(&mut self, layer: Layer, directory: &Path) -> Option<PathBuf> {
        let path = directory.join(FILE);
        if is_present(&path) {
            return Some(path);
        }
        let mut others = NEARLY.iter().map(|name| directory.join(name));
        if let Some(path) = others.find(|path| is_present(path)) {
            self.misnamed(layer, &path, "rename it to `hooks.yaml`");
        }
        None
    }

    /// Returns the YAML files of a `hooks.d`, in the order of their names, and reports what may be meant
    /// to be one.
    fn drop_ins(&mut self, layer: Layer, directory: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
        let (mut found, mut misnamed) = (Vec::new(), Vec::new());
        let Some(entries) = open_directory(layer, directory)? else { return Ok(found) };
        for entry in entries {
            if self.entries_left == 0 {
                let problem = "the `hooks.d` have more than 10,000 entries together";
                let problem = Diagnostic::error(problem).hint("remove what is not a hooks file");
                return Err(problem.at(Location::of_file(directory)));
            }
            self.entries_left -= 1;
            let path = entry.map_err(|error| cannot_read(directory, &error))?.path();
            match DropIn::of(path.file_name().unwrap_or_default()) {
                DropIn::HooksFile => found.push(path),
                DropIn::Misnamed => misnamed.push(path),
                DropIn::Other => {}
            }
        }
        found.sort();
        misnamed.sort();
        // How many files of a `hooks.d` are reported that are not read for their names.
        for path in misnamed.iter().take(20) {
            self.misnamed(layer, path, "let its name end in `.yaml`, or begin with a dot");
        }
        Ok(found)
    }

    /// Reports a file that is not read for its name: in silence its guards would seem to be there.
    fn misnamed(&mut self, layer: Layer, path: &Path, hint: &str) {
        let message = "a file of this name is not read";
        let place = Location::of_file(path);
        if layer == Layer::Managed {
            self.builder.fail(layer, path, [Diagnostic::error(message).hint(hint).at(place)]);
        } else {
            self.builder.leave_out(Diagnostic::warning(message).hint(hint).at(place));
        }
    }
}

/// Returns whether something is at `path`, also a dangling link or what can't be looked at: a
/// configuration that can't be read is an error, never one that does not exist.
pub(super) fn is_present(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

/// Opens a directory of a layer; `None` when nothing is there. A dangling link, a file and a directory
/// that can't be read are problems: hooks may be meant to be there. So is a link in a project.
fn open_directory(layer: Layer, directory: &Path) -> Result<Option<ReadDir>, Diagnostic> {
    if layer == Layer::Project {
        check_plain(directory)?;
    }
    if !is_present(directory) {
        return Ok(None);
    }
    fs::read_dir(directory).map(Some).map_err(|error| cannot_read(directory, &error))
}

fn cannot_read(directory: &Path, error: &io::Error) -> Diagnostic {
    let (message, hint) = match error.kind() {
        ErrorKind::NotFound => {
            ("this is a link to nothing".to_owned(), "make it lead to a directory, or remove it")
        }
        ErrorKind::NotADirectory => {
            ("this is a file, not a directory".to_owned(), "make it a directory, or remove it")
        }
        _ => (format!("can't read the directory: {error}"), "check its mode and owner"),
    };
    Diagnostic::error(message).hint(hint).at(Location::of_file(directory))
}

/// Returns the text of a file of `layer` that may count.
pub(super) fn read(path: &Path, layer: Layer) -> Result<String, Diagnostic> {
    check_file(path, layer)?;
    match layer {
        Layer::Managed | Layer::User | Layer::Project => read_found(path),
        _ => read_named(path),
    }
}
