//! Where a child runs, and where its configuration stands.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::launch::{CONFIG_DIR, Environment, Launch};
use crate::config::Location;
use crate::handler::BuildError;
use hookexec_files::directories::{project_of, without_detours};
use hookexec_files::expand::{self, Variables};
use hookexec_files::files::has_windows_line_ends;

/// Returns where a child runs: `written`, the value of `working_dir`, from the project on; the
/// project when nothing is written.
pub(crate) fn working_dir(
    written: Option<&str>,
    variables: &Variables,
    project: &Arc<Path>,
) -> Result<Arc<Path>, BuildError> {
    let Some(written) = written else { return Ok(Arc::clone(project)) };
    let expanded = expand::path(written, variables).ok_or_else(|| {
        BuildError::new("`~` can't be expanded: no home directory is known")
            .at("working_dir")
            .hint("set HOME, or write the path out")
    })?;
    if written.contains('\0') {
        return Err(BuildError::new("a path can't have a zero byte").at("working_dir"));
    }
    Ok(project.join(expanded).into())
}

/// Returns the directory of the file that `location` is in; of a place in no file, the project.
pub(crate) fn config_dir(location: &Location, project: &Arc<Path>) -> Arc<Path> {
    let nowhere = location.path().as_os_str() == Location::default().path().as_os_str();
    Arc::clone(if nowhere { project } else { &location.file().directory })
}

impl Launch {
    /// Returns the words in which files may be named.
    fn words(&self) -> Vec<&str> {
        let mut words: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        if let Ok(file) = self.program.file()
            && let Ok(file) = file.strip_prefix(&self.directory)
        {
            words.insert(0, file.to_str().unwrap_or_default());
        }
        words
    }

    /// Returns what to write in the place of a relative path, if no such file is where the hook runs, but one
    /// is beside its hooks file.
    pub(super) fn path_from_config(&self) -> Option<String> {
        let config = self.environment.value(CONFIG_DIR)?;
        for word in self.words() {
            for path in word.split(ends_path) {
                let is_relative = path.contains(['/', '.']) && Path::new(path).is_relative();
                if is_relative && config.join(path).is_file() && !self.directory.join(path).exists()
                {
                    let directory = self.directory.display();
                    let bare = path.trim_start_matches("./");
                    return Some(format!(
                        "`{path}` is not in {directory}, where the hook runs, but beside its hooks file: write the \
                         whole command as a text, with `\"$HOOKEXEC_CONFIG_DIR\"/{bare}` for `{path}`"
                    ));
                }
            }
        }
        None
    }

    /// Returns the script that the command names, if it is not there and `stderr` says that it can't be
    /// opened: Python, Perl and dash then end with exit code 2.
    pub(super) fn missing_script(&self, stderr: &[u8]) -> Option<PathBuf> {
        let stderr = String::from_utf8_lossy(stderr);
        let (_, said) = stderr.split_once(" open ")?;
        for path in self.named_paths() {
            let path = path.to_string_lossy();
            // Without quotes, a shell ends the word at a blank in the directory's name.
            let first = path.split(' ').next().unwrap_or_default();
            for named in [&*path, first] {
                if said.contains(named) && !self.directory.join(named).exists() {
                    return Some(named.into());
                }
            }
        }
        None
    }

    /// Returns what to do about a script whose first line ends as lines end on Windows: a system takes the
    /// carriage return for a part of the interpreter's name, and a shell for a part of its words.
    pub(super) fn windows_line_ends(&self) -> Option<String> {
        let mut paths = self.named_paths().into_iter();
        let script = paths.find(|path| has_windows_line_ends(&self.directory.join(path)))?;
        Some(format!(
            "`{}` has the line ends of Windows: write it with those of Unix (`dos2unix`)",
            script.display()
        ))
    }

    /// Returns the paths that the command names, with the directories of variables put in.
    fn named_paths(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for word in self.words() {
            let word = word.replace(['"', '\''], "");
            for path in word.split(ends_path) {
                if path.contains(['/', '.']) {
                    found.push(with_directory(path, &self.environment));
                }
            }
        }
        found
    }
}

/// Returns a path that begins with `~` or a variable with its directory.
fn with_directory(path: &str, environment: &Environment) -> PathBuf {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let name = match first.strip_prefix('$') {
        Some(name) => name.trim_start_matches('{').trim_end_matches('}'),
        None if first == "~" => "HOME",
        None => return path.into(),
    };
    match environment.value(name) {
        Some(directory) => directory.join(rest),
        None => path.into(),
    }
}

fn ends_path(letter: char) -> bool {
    letter.is_whitespace() || "'\";|&()<>".contains(letter)
}

/// Returns the directory that a script of Claude Code takes for the project: the root under which
/// its hooks file was found, or else where the hooks run.
pub(super) fn claude_project(config: &Path, project: &Arc<Path>) -> Arc<Path> {
    let config = without_detours(config.to_owned());
    let root = project_of(&config);
    if project.starts_with(root) { root.into() } else { Arc::clone(project) }
}
