//! A policy as files in a directory, and its test cases there.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::hooks_files;
use hookexec::Config;
use hookexec_files::files;
use hookexec_files::platform::system::{make_program, share};
use tempfile::TempDir;

use super::archive::{Archive, PolicyFile};
use super::failure::{OrFailure as _, PolicyFailure};

/// Writes the files of a policy into a new directory.
///
/// # Errors
/// When one can't be written.
pub fn unpack(archive: &Archive, directory: &Path) -> Result<(), PolicyFailure> {
    for (name, file) in &archive.files {
        let path = directory.join(name);
        write(&path, directory, file).or_failure(format_args!("can't write {}", path.display()))?;
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

/// Loads the hooks files of a policy that lies in `directory`.
///
/// # Errors
/// All mistakes in them.
pub fn load(archive: &Archive, directory: &Path) -> Result<Config, PolicyFailure> {
    let names = hooks_files(archive.files.keys()).or_failure("the policy is not valid")?;
    Config::load_files(names.into_iter().map(|name| directory.join(name)))
        .map_err(PolicyFailure::Hooks)
}

/// Makes a directory that only the user can enter, and that is removed at the end.
///
/// # Errors
/// When it can't be made.
pub fn scratch(above: &Path) -> Result<TempDir, PolicyFailure> {
    let made = tempfile::Builder::new().prefix("hookexec-").tempdir_in(above);
    made.or_failure(format_args!("can't make a directory in {}", above.display()))
}
