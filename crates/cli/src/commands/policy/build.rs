//! `hookexec policy build`: a directory in, an archive out.

use std::path::{Path, PathBuf};

use hookexec::config::{Diagnostic, Diagnostics};
use hookexec_files::files;
use hookexec_project::policy::{self, Archive, MAX_ARCHIVE};
use hookexec_setup::scripts;

use crate::Exit;
use crate::console::output;
use crate::error::{CommandError, OrCommandError as _, unwritable, warn};

/// Stands for the projects that the hooks will run in. Nothing is there.
const ANY_PROJECT: &str = "/any-project";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory
    directory: PathBuf,

    /// The name of the policy. A machine takes a new version only under the same name
    #[arg(long)]
    name: String,

    /// The version, a whole number. A machine takes a version only if it is higher than the one it has
    #[arg(long, value_name = "NUMBER")]
    version: u64,

    /// Where to write it [default: the name and the version, such as `guards-7.tar`]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let archive = archive(&self.directory, &self.name, self.version)?;
        if archive.test_files().is_empty() {
            warn("the policy has no test cases: write `hooks.test.yaml` beside `hooks.yaml`");
        }
        let bytes = archive.write().or_internal("can't write the archive")?;
        if bytes.len() as u64 > MAX_ARCHIVE {
            let problem = format!("{} is a policy of more than 16 MiB", self.directory.display());
            return Err(CommandError::usage(problem));
        }
        let path = match &self.output {
            Some(path) => path.clone(),
            None => format!("{}-{}.tar", self.name, self.version).into(),
        };
        std::fs::write(&path, &bytes).or_usage(unwritable(&path))?;
        // That of other bytes.
        let _ = std::fs::remove_file(policy::signature_of(&path));
        output::print(&format!("{} sha256:{}\n", path.display(), files::digest(&bytes)))?;
        Ok(Exit::SUCCESS)
    }
}

/// Returns the policy of a directory, and finds mistakes that would only show on other machines.
pub(super) fn archive(directory: &Path, name: &str, version: u64) -> Result<Archive, CommandError> {
    let archive = Archive::of_directory(directory, name, version)?;
    archive.check().or_usage(format_args!("{} is not a valid policy", directory.display()))?;
    let root = std::path::absolute(directory).or_usage("no current directory is known")?;
    let config = policy::load(&archive, &root)?;
    let mut problems = Diagnostics::default();
    for hook in &config.hooks {
        for problem in scripts::missing(hook, Path::new(ANY_PROJECT)) {
            let hint = "for a file of the policy write `\"$HOOKEXEC_CONFIG_DIR/FILE\"`: its hooks run in \
                        any project";
            let problem = Diagnostic::error(problem.message).hint(hint);
            problems.push(problem.at(hook.location.clone()));
        }
    }
    for log in config.audit.iter().filter(|log| log.path.starts_with(&root)) {
        let problem = format!("`audit` writes {}, which is in the policy", log.path.display());
        let hint = "write an absolute path, or one that begins with `~/`";
        problems.push(Diagnostic::error(problem).hint(hint));
    }
    if problems.is_empty() { Ok(archive) } else { Err(CommandError::from(problems)) }
}
