//! `hookexec bundle build`: a directory in, an archive out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hookexec::Config;
use hookexec::config::{Command, Diagnostic, Diagnostics, Hook};
use hookexec::internal::files;
use hookexec::internal::policy::{Manifest, file_name_problem, hooks_files};
use hookexec::internal::system;

use super::archive::{Archive, File, MAX_ARCHIVE, too_large};
use super::signature;
use super::unpacked::test_files;
use crate::error::{CommandError, warn};
use crate::{Exit, output, scripts};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory
    directory: PathBuf,

    /// The version, a whole number. A machine takes a bundle only if its version is higher than that of
    /// the one it has
    #[arg(long, value_name = "NUMBER")]
    version: u64,

    /// Who builds it
    #[arg(long, value_name = "WHO", default_value = "")]
    by: String,

    /// The lowest version of hookexec that may use it, such as 1.2.0 [default: any]
    #[arg(long, value_name = "VERSION", default_value = "", hide_default_value = true)]
    minimum: String,

    /// Where to write it [default: the directory's name and the version, such as `policy-7.tar`]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let archive = archive(&self.directory, self.version, &self.by, &self.minimum)?;
        if archive.manifest.tests.is_empty() {
            warn("the bundle has no test cases: write `hooks.test.yaml` beside `hooks.yaml`");
        }
        let bytes = archive.write().map_err(|error| CommandError::internal(error.to_string()))?;
        let path = self.output.clone().unwrap_or_else(|| {
            let directory = files::real(&self.directory);
            let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
            PathBuf::from(format!("{name}-{}.tar", self.version))
        });
        output::write(&path, &bytes)?;
        // That of other bytes.
        let _ = std::fs::remove_file(signature::beside(&path));
        output::print(&format!("{} sha256:{}\n", path.display(), files::digest(&bytes)))?;
        Ok(Exit::Success)
    }
}

/// Returns the bundle of a directory.
pub(super) fn archive(
    directory: &Path,
    version: u64,
    by: &str,
    minimum: &str,
) -> Result<Archive, CommandError> {
    let mut files = BTreeMap::new();
    let mut left = MAX_ARCHIVE;
    collect(directory, "", &mut left, &mut files)?;
    check(directory, &files)?;
    let mut manifest = Manifest::new(version, by, minimum);
    manifest.tests = test_files(files.keys());
    let archive = Archive::new(manifest, files).map_err(CommandError::usage)?;
    Ok(archive)
}

/// Adds every file below `directory` that is not hidden, under its path from there.
fn collect(
    directory: &Path,
    above: &str,
    left: &mut u64,
    found: &mut BTreeMap<String, File>,
) -> Result<(), CommandError> {
    let failed = |path: &Path, problem: &dyn std::fmt::Display| {
        CommandError::usage(format!("{}: {problem}", path.display()))
    };
    let entries = directory.read_dir().map_err(|error| failed(directory, &error))?;
    for entry in entries {
        let path = entry.map_err(|error| failed(directory, &error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let name = format!("{above}{name}");
        let data = path.symlink_metadata().map_err(|error| failed(&path, &error))?;
        if let Some(problem) = file_name_problem(&name) {
            return Err(failed(&path, &format!("the name {problem}")).hint("rename it"));
        }
        if data.is_dir() {
            collect(&path, &format!("{name}/"), left, found)?;
            continue;
        }
        if !data.is_file() {
            let problem = "a link or a special file can't be in a bundle";
            return Err(failed(&path, &problem).hint("put what it leads to in its place"));
        }
        let bytes = files::read_regular(&path, *left).map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => {
                failed(&path, &format!("with it the bundle: {}", too_large()))
            }
            _ => failed(&path, &error),
        })?;
        *left -= bytes.len() as u64;
        let is_program = system::is_executable(&path, &data);
        found.insert(name, File { bytes, is_program });
    }
    Ok(())
}

/// Finds the mistakes of hooks files that would only show on other machines.
fn check(directory: &Path, files: &BTreeMap<String, File>) -> Result<(), CommandError> {
    let hooks = hooks_files(files.keys()).map_err(CommandError::usage)?;
    if hooks.is_empty() {
        let message =
            format!("{} has no `hooks.yaml` and no `hooks.d/*.yaml`", directory.display());
        return Err(CommandError::usage(message));
    }
    let paths: Vec<PathBuf> = hooks.iter().map(|name| directory.join(name)).collect();
    let config = Config::load_bundle(&paths).map_err(CommandError::config)?;
    let root = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    if let Some(log) = config.audit.iter().find(|log| log.path.starts_with(&root)) {
        let message = format!("`audit` writes {}, which is in the bundle", log.path.display());
        let hint = "write an absolute path, or one that begins with `~/`";
        return Err(CommandError::usage(message).hint(hint));
    }
    let exists = |path: &Path| {
        let name = path.strip_prefix(&root).ok().and_then(Path::to_str);
        name.is_some_and(|name| files.contains_key(&name.replace('\\', "/")))
    };
    let mut problems = Diagnostics::default();
    problems.extend(config.hooks.iter().filter_map(|hook| misnamed_script(hook, &root, &exists)));
    if problems.is_empty() { Ok(()) } else { Err(CommandError::config(problems)) }
}

/// Returns the problem of a hook that names a script of the bundle as one of the project, or a script
/// that is not in the bundle.
fn misnamed_script(hook: &Hook, root: &Path, exists: &dyn Fn(&Path) -> bool) -> Option<Diagnostic> {
    const VARIABLE: &str = "HOOKEXEC_CONFIG_DIR";
    if hook.kind != "command" {
        return None;
    }
    let (text, words) = match hook.command.as_ref()? {
        Command::Text(text) => (text.clone(), scripts::plain_words(text)),
        Command::Argv(words) => (String::new(), [words.as_slice(), &hook.args].concat()),
        _ => return None,
    };
    let place = hook.key_locations.get("command").unwrap_or(&hook.location).clone();
    let own = |word: &&String| exists(&root.join(word.strip_prefix("./").unwrap_or(word)));
    if let Some(word) = words.iter().filter(|_| hook.working_dir.is_none()).find(own) {
        let message = format!("`{word}` names a file of the project that the hook runs in");
        let name = word.strip_prefix("./").unwrap_or(word);
        let hint =
            format!("for the file of the bundle write `\"${VARIABLE}/{name}\"` in a command text");
        return Some(Diagnostic::error(message).hint(hint).at(place));
    }
    let named = text.split(VARIABLE).skip(1).filter_map(|rest| {
        let rest = rest.trim_start_matches(['}', '"']).strip_prefix('/')?;
        let end = rest
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || "._-+@/".contains(letter)));
        Some(&rest[..end.unwrap_or(rest.len())])
    });
    let missing = named.into_iter().find(|name| !exists(&hook.location.directory().join(name)))?;
    let message = format!("`{missing}` is not in the bundle");
    let hint = "put the file into the directory that the bundle is built of";
    Some(Diagnostic::error(message).hint(hint).at(place))
}
