//! A policy as files in a directory, and its test cases there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use hookexec::{Config, Executor};
use hookexec_files::files;
use hookexec_files::platform::system::{make_program, share};
use hookexec_project::policy::hooks_files;
use tempfile::TempDir;

use super::archive::{Archive, PolicyFile};
use crate::commands::test::{Results, run_cases};
use crate::error::{CommandError, OrCommandError as _, unwritable};
use crate::registry;

/// Writes the files of a policy into a new directory.
pub(super) fn unpack(archive: &Archive, directory: &Path) -> Result<(), CommandError> {
    for (name, file) in &archive.files {
        let path = directory.join(name);
        write(&path, directory, file).or_usage(unwritable(&path))?;
    }
    Ok(())
}

fn write(path: &Path, directory: &Path, file: &PolicyFile) -> io::Result<()> {
    let parent = path.parent().unwrap_or(directory);
    fs::create_dir_all(parent)?;
    // Those above it, too, whatever mask is set for new files.
    for above in parent.ancestors().take_while(|above| above.starts_with(directory)) {
        share(above)?;
    }
    files::replace_shared(path, &file.bytes)?;
    if file.is_program {
        make_program(&File::open(path)?)?;
    }
    Ok(())
}

/// Unpacks a policy below `scratch`, loads its hooks and runs its test cases. The hooks run in an empty
/// directory, as they will run in any project.
pub(super) fn test(archive: &Archive, scratch: &Path) -> Result<Results, CommandError> {
    let (policy, project) = (scratch.join("policy"), scratch.join("project"));
    fs::create_dir_all(&project).or_usage(unwritable(&project))?;
    unpack(archive, &policy)?;
    let executor = Executor::builder(load(archive, &policy)?);
    let executor = executor.registry(registry::all()).working_dir(&project);
    executor.build().map_err(CommandError::config)?;
    let cases = archive.test_files();
    let cases: Vec<PathBuf> = cases.into_iter().map(|name| policy.join(name)).collect();
    run_cases(&cases, None, Some(&project))
}

/// Loads the hooks files of a policy that lies in `directory`.
pub(super) fn load(archive: &Archive, directory: &Path) -> Result<Config, CommandError> {
    let names = hooks_files(archive.files.keys()).or_usage("the policy is not valid")?;
    Config::load_files(names.into_iter().map(|name| directory.join(name)))
        .map_err(CommandError::config)
}

/// Makes a directory that only the user can enter, and that is removed at the end.
pub(super) fn scratch(above: &Path) -> Result<TempDir, CommandError> {
    let made = tempfile::Builder::new().prefix("hookexec-").tempdir_in(above);
    made.or_usage(format_args!("can't make a directory in {}", above.display()))
}
