//! A bundle as files in a directory, and its test cases there.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use hookexec::internal::files;
use hookexec::internal::policy::{MANIFEST, hooks_files};
use hookexec::internal::system::share;
use hookexec::{Config, Executor, Registry};

use super::archive::Archive;
use crate::error::{CommandError, OrCommandError as _};
use crate::system;
use crate::test::{Results, run_cases};

/// Returns the files of test cases: those beside `hooks.yaml`.
pub(super) fn test_files<'n>(names: impl Iterator<Item = &'n String>) -> Vec<String> {
    let is_cases = |name: &&String| {
        !name.contains('/') && (name.ends_with(".test.yaml") || name.ends_with(".test.yml"))
    };
    names.filter(is_cases).cloned().collect()
}

/// Writes the files of a bundle into a new directory.
pub(super) fn unpack(archive: &Archive, directory: &Path) -> io::Result<()> {
    let write = |name: &str, bytes: &[u8], mode| {
        let path = directory.join(name);
        let parent = path.parent().unwrap_or(directory);
        fs::create_dir_all(parent)?;
        // Those above it, too, whatever mask is set for new files.
        parent.ancestors().take_while(|it| it.starts_with(directory)).try_for_each(share)?;
        let mut options = OpenOptions::new();
        let options = system::with_mode(options.write(true).create_new(true), mode);
        let mut file = options.open(&path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        share(&path)
    };
    write(MANIFEST, &archive.manifest_bytes, 0o644)?;
    archive.files.iter().try_for_each(|(name, file)| {
        write(name, &file.bytes, if file.is_program { 0o755 } else { 0o644 })
    })
}

/// Unpacks a bundle below `scratch`, loads its hooks and runs its test cases. The hooks run in an empty
/// directory, as they will run in any project.
pub(super) fn test(archive: &Archive, scratch: &Path) -> Result<Results, CommandError> {
    let (bundle, project) = (scratch.join("bundle"), scratch.join("project"));
    fs::create_dir_all(&project)
        .and_then(|()| unpack(archive, &bundle))
        .or_usage(format_args!("can't unpack into {}", scratch.display()))?;
    let names = hooks_files(archive.files.keys()).map_err(CommandError::usage)?;
    let paths = names.into_iter().map(|name| bundle.join(name));
    let config = Config::load_bundle(paths).map_err(CommandError::config)?;
    let executor = Executor::builder(config).registry(Registry::with_shipped_builtins());
    executor.working_dir(&project).build().map_err(CommandError::config)?;
    let cases: Vec<PathBuf> = archive.manifest.tests.iter().map(|name| bundle.join(name)).collect();
    run_cases(&cases, None, Some(&project))
}

/// How the names of such directories begin.
pub(super) const SCRATCH: &str = "hookexec-";

/// A directory of its own that only the user can enter, removed at the end.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(above: &Path) -> Result<Self, CommandError> {
        let make = || -> io::Result<PathBuf> {
            let path = above.join(format!("{SCRATCH}{}", files::random_id()?));
            files::private_directory(&path).map(|()| path)
        };
        make().map(Self).or_usage("can't make a temporary directory")
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
