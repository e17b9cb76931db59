//! `hookexec policy`: hooks files as one signed file, for many machines.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use hookexec::Executor;
use hookexec::config::{Diagnostic, Diagnostics};
use hookexec_files::files;
use hookexec_project::policy::{
    Archive, MAX_ARCHIVE, PolicyFailure, load, refresh, scratch, signature_of, unpack,
};
use hookexec_setup::scripts;

use crate::commands::test::{Results, report, run_cases};
use crate::config::{ConfigArgs, Purpose};
use crate::console::output;
use crate::console::verbose::LogArgs;
use crate::error::{CommandError, OrCommandError as _, unreadable, unwritable, warn};
use crate::{Exit, registry};

/// Builds, tests and fetches a policy for many machines
///
/// A policy is a tar archive of a directory with hooks files, their scripts and their test cases. The
/// same directory makes the same bytes everywhere. `hookexec docs fleet` shows all steps.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec policy build policy --name guards --version 7")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Makes an archive of a directory: its `hooks.yaml`, its `hooks.d`, and every other file in it that
    /// is not hidden
    ///
    /// Sign it with `minisign -S -s fleet.key -m guards-7.tar`.
    #[command(after_help = "Example: hookexec policy build policy --name guards --version 7")]
    Build(BuildArgs),
    /// Unpacks a policy, and runs its test cases, `*.test.yaml`, in an empty project; exit code 1 when
    /// one fails
    #[command(after_help = "Example: hookexec policy test guards-7.tar")]
    Test {
        /// The archive, or the directory that one is built of
        policy: PathBuf,
    },
    /// Fetches each policy that `policy:` names in your own or in the administrator's hooks file, and
    /// puts it in force. Exit code 1 when one could not be fetched
    #[command(after_help = "Example: hookexec policy refresh")]
    Refresh,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        LogArgs::default().start();
        match &self.action {
            Action::Build(args) => args.execute(),
            Action::Test { policy } => test(policy),
            Action::Refresh => refresh_all(),
        }
    }
}

/// Stands for the projects that the hooks will run in. Nothing is there.
const ANY_PROJECT: &str = "/any-project";

#[derive(Debug, clap::Args)]
struct BuildArgs {
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

impl BuildArgs {
    fn execute(&self) -> Result<Exit, CommandError> {
        let archive = archive_of(&self.directory, &self.name, self.version)?;
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
        let _ = std::fs::remove_file(signature_of(&path));
        output::print(&format!("{} sha256:{}\n", path.display(), files::digest(&bytes)))?;
        Ok(Exit::SUCCESS)
    }
}

/// Returns the policy of a directory, and finds mistakes that would only show on other machines.
fn archive_of(directory: &Path, name: &str, version: u64) -> Result<Archive, CommandError> {
    let archive = Archive::of_directory(directory, name, version)?;
    archive.check().or_usage(format_args!("{} is not a valid policy", directory.display()))?;
    let root = std::path::absolute(directory).or_usage("no current directory is known")?;
    let config = load(&archive, &root)?;
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

fn test(path: &Path) -> Result<Exit, CommandError> {
    let archive = if path.is_dir() {
        archive_of(path, "tested", 0)?
    } else {
        let bytes = files::read_regular(path, MAX_ARCHIVE).or_usage(unreadable(path))?;
        Archive::read(&bytes).map_err(|problem| {
            CommandError::negative(format!("{} is not a valid policy: {problem}", path.display()))
        })?
    };
    if archive.test_files().is_empty() {
        warn("the policy has no test cases");
    }
    let scratch = scratch(&std::env::temp_dir())?;
    let mut results = run_tests(&archive, scratch.path())?;
    // They ran in a copy, which is removed.
    for file in &mut results.files {
        let name = file.path.file_name().unwrap_or_default();
        file.path = if path.is_dir() { path.join(name) } else { name.into() };
    }
    output::print(&report::text(&results))?;
    Ok(if results.failed == 0 { Exit::SUCCESS } else { Exit::NEGATIVE })
}

fn refresh_all() -> Result<Exit, CommandError> {
    let mut options = ConfigArgs::default().options(Purpose::Run)?;
    options.without_project = true;
    let policies = hookexec_project::load(&options)?.policies;
    if policies.is_empty() {
        let message = "no hooks file of the administrator and of the user names a policy";
        let hint = "add `policy:` to it; `hookexec check` shows the mistakes of a file";
        return Err(CommandError::negative(message).hint(hint));
    }
    let mut exit = Exit::SUCCESS;
    for mut policy in policies {
        match refresh(&mut policy, passes) {
            Ok(is_new) => {
                let word = if is_new { "" } else { "still " };
                let version = policy.state.in_force.map_or(0, |in_force| in_force.version);
                let source = &policy.settings.source;
                output::print(&format!("{source}: version {version} is {word}in force\n"))?;
            }
            Err(problem) => {
                exit = Exit::NEGATIVE;
                warn(&format!("{} was not refreshed: {problem}", policy.settings.source));
            }
        }
    }
    Ok(exit)
}

/// Unpacks a policy below `scratch`, loads its hooks and runs its test cases. The hooks run in an empty
/// directory, as they will run in any project.
fn run_tests(archive: &Archive, scratch: &Path) -> Result<Results, CommandError> {
    let (policy, project) = (scratch.join("policy"), scratch.join("project"));
    fs::create_dir_all(&project).or_usage(unwritable(&project))?;
    unpack(archive, &policy)?;
    let executor = Executor::builder(load(archive, &policy)?);
    let executor = executor.registry(registry::all()).working_dir(&project);
    executor.build()?;
    let cases = archive.test_files();
    let cases: Vec<PathBuf> = cases.into_iter().map(|name| policy.join(name)).collect();
    run_cases(&cases, None, Some(&project))
}

/// Tests a policy before it is put in force.
fn passes(archive: &Archive, scratch: &Path) -> Result<(), PolicyFailure> {
    let results = match run_tests(archive, scratch) {
        Ok(results) => results,
        Err(error) => return Err(PolicyFailure::Refused(error.to_string())),
    };
    for case in results.files.iter().flat_map(|file| &file.cases) {
        if !case.passed {
            let (name, failed) = (&case.name, results.failed);
            let problem = format!("its test case `{name}` fails here ({failed} in all)");
            return Err(PolicyFailure::Refused(problem));
        }
    }
    Ok(())
}
