//! A policy as files in a directory, and its test cases there.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hookexec::internal::policy::hooks_files;
use hookexec::internal::system::share;
use hookexec::{Config, Executor, Registry};
use tempfile::TempDir;

use super::archive::Archive;
use crate::error::{CommandError, OrCommandError as _};
use crate::system;
use crate::test::{Results, run_cases};

/// Writes the files of a policy into a new directory.
pub(super) fn unpack(archive: &Archive, directory: &Path) -> io::Result<()> {
    for (name, file) in &archive.files {
        let path = directory.join(name);
        let parent = path.parent().unwrap_or(directory);
        fs::create_dir_all(parent)?;
        // Those above it, too, whatever mask is set for new files.
        let inside = parent.ancestors().take_while(|above| above.starts_with(directory));
        for above in inside {
            share(above)?;
        }
        let mode = if file.is_program { 0o755 } else { 0o644 };
        let mut options = OpenOptions::new();
        let options = system::with_mode(options.write(true).create_new(true), mode);
        let mut written = options.open(&path)?;
        written.write_all(&file.bytes)?;
        written.sync_all()?;
        share(&path)?;
    }
    Ok(())
}

/// Unpacks a policy below `scratch`, loads its hooks and runs its test cases. The hooks run in an empty
/// directory, as they will run in any project.
pub(super) fn test(archive: &Archive, scratch: &Path) -> Result<Results, CommandError> {
    let (policy, project) = (scratch.join("policy"), scratch.join("project"));
    fs::create_dir_all(&project)
        .and_then(|()| unpack(archive, &policy))
        .or_usage(format_args!("can't unpack into {}", scratch.display()))?;
    let hooks_files = hooks_files(archive.files.keys()).map_err(CommandError::negative)?;
    let paths = hooks_files.into_iter().map(|name| policy.join(name));
    let config = Config::load_policy(paths).map_err(CommandError::config)?;
    let executor = Executor::builder(config).registry(Registry::with_shipped_builtins());
    executor.working_dir(&project).build().map_err(CommandError::config)?;
    let cases = archive.test_files().into_iter().map(|name| policy.join(name));
    let cases: Vec<PathBuf> = cases.collect();
    run_cases(&cases, None, Some(&project))
}

/// Makes a directory that only the user can enter, and that is removed at the end.
pub(super) fn scratch(above: &Path) -> Result<TempDir, CommandError> {
    let made = tempfile::Builder::new().prefix("hookexec-").tempdir_in(above);
    made.or_usage(format_args!("can't make a directory in {}", above.display()))
}
