//! The program that agents start: where it is, and whether it stays there.

use std::env::consts::EXE_SUFFIX;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use hookexec_files::directories::base_directory;
use hookexec_files::files;
use hookexec_files::platform::system::canonical;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why a file that hookexec needs beside the settings can't be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// It has no place.
    #[error("the home directory is not known: set HOME")]
    NoHome,
    /// The program that runs can't be found.
    #[error("can't find this program: {0}")]
    NoProgram(io::Error),
    /// It can't be written.
    #[error("can't write {}: {}", .0.display(), .1)]
    Unwritable(PathBuf, io::Error),
}

impl KeepError {
    /// Returns how the failure to write `path` becomes an error.
    pub(crate) fn writing(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |cause| Self::Unwritable(path.to_owned(), cause)
    }
}

/// The program as the settings of agents name it.
pub struct Program {
    /// The path by which agents start it.
    pub path: PathBuf,
    /// The file to copy to `path`, and the kind of place where it is, which may be deleted.
    copied_from: Option<(PathBuf, &'static str)>,
}

// The kinds of places that a tool may delete without asking.
const NPM: &str = "a directory of npm's";
const CACHE: &str = "a cache";
const PYTHON: &str = "an environment of Python";
const TEMPORARY: &str = "a temporary directory";

impl Program {
    /// Returns the path by which an agent starts this program.
    ///
    /// The one on the search path comes first, if it is this program: a package manager moves the
    /// real file at every upgrade. A program in a place that may be deleted is copied to one that
    /// stays.
    pub fn this() -> Result<Self, KeepError> {
        let this = std::env::current_exe().and_then(canonical);
        let this = this.map_err(KeepError::NoProgram)?;
        for path in named("hookexec".as_ref()) {
            if passing(&path).is_none() && files::real(&path) == this {
                return Ok(Self { path, copied_from: None });
            }
        }
        let Some(kind) = passing(&this) else { return Ok(Self { path: this, copied_from: None }) };
        let data = base_directory("XDG_DATA_HOME", ".local/share").ok_or(KeepError::NoHome)?;
        let path = data.join(format!("hookexec/bin/hookexec-{VERSION}{EXE_SUFFIX}"));
        Ok(Self { path, copied_from: Some((this, kind)) })
    }

    /// Copies the program to its path, if it has to be. Returns in which kind of place it is, if that
    /// made a new copy.
    pub fn keep(&self) -> Result<Option<&'static str>, KeepError> {
        let Some((from, kind)) = &self.copied_from else { return Ok(None) };
        let is_new = copy(from, &self.path).map_err(KeepError::writing(&self.path))?;
        Ok(if is_new { Some(*kind) } else { None })
    }
}

/// Replaces `to` by a program equal to `from`, by a rename; returns whether it had to.
fn copy(from: &Path, to: &Path) -> io::Result<bool> {
    let bytes = std::fs::read(from)?;
    let is_kept = files::is_program(to) && !to.is_symlink();
    if is_kept && std::fs::read(to).is_ok_and(|kept| kept == bytes) {
        return Ok(false);
    }
    if let Some(directory) = to.parent() {
        files::private_directory(directory)?;
    }
    files::replace_shared(to, &bytes, true)?;
    Ok(true)
}

/// Returns the kind of place where `path` is, if a tool may delete it without asking.
pub fn passing(path: &Path) -> Option<&'static str> {
    let mut real = path.to_owned();
    // A link itself may well stay in its place, whatever it points at.
    if let (Some(directory), Some(name)) = (path.parent(), path.file_name()) {
        real = files::real(directory).join(name);
    }
    for part in &real {
        match part.to_str() {
            Some("node_modules" | "_npx") => return Some(NPM),
            Some(".cache" | "Caches") => return Some(CACHE),
            _ => {}
        }
    }
    if let Some(cache) = base_directory("XDG_CACHE_HOME", ".cache")
        && is_below(&real, &cache)
    {
        return Some(CACHE);
    }
    for directory in real.ancestors().skip(1) {
        if directory.join("pyvenv.cfg").exists() || directory.join("conda-meta").exists() {
            return Some(PYTHON);
        }
    }
    let temporary = std::env::temp_dir();
    if !is_below(&real, &temporary) {
        return None;
    }
    match hookexec::home_directory() {
        // A home in a temporary directory stays as long as the settings in it.
        Some(home) if is_below(&home, &temporary) && is_below(&real, &home) => None,
        _ => Some(TEMPORARY),
    }
}

fn is_below(path: &Path, directory: &Path) -> bool {
    path.starts_with(directory) || files::real(path).starts_with(files::real(directory))
}

/// Returns the version in the name of a program that [`Program::keep`] wrote.
pub fn kept_version(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?.strip_prefix("hookexec-")?;
    let version = name.strip_suffix(EXE_SUFFIX)?;
    if version.starts_with(|first: char| first.is_ascii_digit()) { Some(version) } else { None }
}

/// Returns the program that a shell of an agent starts by this name: what `npx` and `uvx` put on
/// the search path is there for this call only.
pub fn on_search_path(name: &str) -> Option<PathBuf> {
    named(name.as_ref()).find(|path| !matches!(passing(path), Some(NPM | CACHE)))
}

/// Returns the programs of this name on the search path, in order.
pub fn named(name: &OsStr) -> impl Iterator<Item = PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    files::programs(name, &paths).filter(|path| files::is_program(path))
}

// They are about paths and modes of Unix.
#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_place_that_tools_delete_is_passing() {
        for (path, expected) in [
            ("/usr/local/bin/hookexec", None),
            ("/home/me/.cargo/bin/hookexec", None),
            ("/home/me/.local/share/hookexec/bin/hookexec-1.0.0", None),
            ("/home/me/.npm/_npx/1/node_modules/a/hookexec", Some(NPM)),
            ("/usr/lib/node_modules/@hookexec/linux-x64/bin/hookexec", Some(NPM)),
            ("/home/me/.cache/uv/archive-v0/x/bin/hookexec", Some(CACHE)),
            ("/Users/me/Library/Caches/x/hookexec", Some(CACHE)),
        ] {
            assert_eq!(passing(Path::new(path)), expected, "{path}");
        }
        let temporary = std::env::temp_dir().join("hookexec");
        assert_eq!(passing(&temporary), Some(TEMPORARY));
    }

    #[test]
    fn a_copy_is_executable_whole_and_made_once() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("a/b/to"));
        fs::write(&from, "program").unwrap();
        assert!(copy(&from, &to).unwrap());
        assert!(!copy(&from, &to).unwrap(), "it is there");
        assert_eq!(to.metadata().unwrap().permissions().mode() & 0o7777, 0o755);

        fs::set_permissions(&to, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(copy(&from, &to).unwrap(), "nothing can start it");
        fs::write(&to, "half").unwrap();
        assert!(copy(&from, &to).unwrap());
        assert_eq!(fs::read(&to).unwrap(), b"program");
        fs::remove_file(&to).unwrap();
        std::os::unix::fs::symlink(&from, &to).unwrap();
        assert!(copy(&from, &to).unwrap(), "a link goes when its target goes");
        assert!(!to.is_symlink());
        assert_eq!(fs::read_dir(to.parent().unwrap()).unwrap().count(), 1, "no draft is left");
    }
}
