//! Which hooks files count, for every subcommand that reads them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hookexec::config::{Diagnostic, Diagnostics, FailedFile};
use hookexec::{Config, Executor, ExecutorBuilder};
use hookexec_files::depth;
use hookexec_files::platform::system::canonical;
use hookexec_project::LoadOptions;

use crate::error::{CommandError, NO_FILES, OrCommandError as _, warn_all};
use crate::registry;

/// Which hooks files count.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Hooks files")]
pub(crate) struct ConfigArgs {
    /// A hooks file, in addition to those that are found; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub(super) config: Vec<PathBuf>,

    /// The project: where hooks run, and where its hooks file is looked for [default: the current
    /// directory]
    #[arg(long, value_name = "DIR")]
    pub(super) cwd: Option<PathBuf>,

    /// Leaves the user's and the project's files out: only the files named, and the managed ones
    #[arg(long)]
    pub(super) isolated: bool,

    /// Makes the project's files fail like one that can't be loaded: they could not be read in time
    #[arg(long, hide = true)]
    without_project: bool,
}

impl ConfigArgs {
    /// Adds `files`. If there are any, the user's and the project's files are left out.
    pub(crate) fn with_named_files(mut self, files: &[PathBuf]) -> Self {
        self.config.extend_from_slice(files);
        self.isolated |= !files.is_empty();
        self
    }

    /// Returns the arguments on a command line that name the same files, for another process.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        for file in &self.config {
            arguments.extend(["--config".into(), file.into()]);
        }
        if let Some(directory) = &self.cwd {
            arguments.extend(["--cwd".into(), directory.into()]);
        }
        if self.isolated {
            arguments.push("--isolated".into());
        }
        if self.without_project {
            arguments.push("--without-project".into());
        }
        arguments
    }

    /// Makes `directory` the project, unless one was given or it isn't there.
    pub(crate) fn in_project(mut self, directory: &str) -> Self {
        if self.cwd.is_none() {
            self.cwd = project_directory(Some(Path::new(directory))).ok();
        }
        self
    }

    /// Makes the project's files fail, without a look at them.
    pub(crate) fn without_project(self) -> Self {
        Self { without_project: true, ..self }
    }

    /// Replaces a project that can't be worked in by the current directory, or else by `/`, where the
    /// project's files fail.
    pub(crate) fn in_usable_directory(self) -> Self {
        if self.cwd.is_some() && self.project().is_ok() {
            return self;
        }
        // A working directory may be deleted while an agent works in it.
        match project_directory(None) {
            Ok(_) => Self { cwd: None, ..self },
            Err(_) => Self { cwd: Some("/".into()), without_project: true, ..self },
        }
    }

    /// Loads the configuration to run its hooks. The caller first sees to it that the process is
    /// [`not_too_deep`].
    pub(crate) fn load(&self, purpose: Purpose) -> Result<Loaded, CommandError> {
        let options = self.options(purpose)?;
        match Loaded::of(&options) {
            Err(first) if purpose == Purpose::Run => Err(all_problems(options, first)),
            loaded => Ok(loaded?),
        }
    }

    /// Loads the configuration to show it, and warns about the files that fail.
    pub(crate) fn shown(&self) -> Result<Config, CommandError> {
        let loaded = Loaded::of(&self.options(Purpose::Show)?)?;
        warn_all(loaded.notices.failures(""));
        Ok(loaded.found.config)
    }

    /// Returns what to load.
    pub(crate) fn options(&self, purpose: Purpose) -> Result<LoadOptions, CommandError> {
        let mut options = LoadOptions::default();
        // Without time for the project, its directory is not looked at.
        if self.without_project {
            let unseen = match &self.cwd {
                Some(directory) => std::path::absolute(directory),
                None => std::env::current_dir(),
            };
            options.working_dir = unseen.ok();
        }
        if options.working_dir.is_none() {
            options.working_dir = Some(self.project()?);
        }
        options.files.clone_from(&self.config);
        options.isolated = self.isolated;
        options.without_project = self.without_project;
        options.named_may_fail = purpose == Purpose::Judge;
        options.only_show = purpose == Purpose::Show;
        Ok(options)
    }

    /// Returns the project's directory, absolute and without links.
    pub(crate) fn project(&self) -> Result<PathBuf, CommandError> {
        project_directory(self.cwd.as_deref())
    }
}

/// Returns the project's directory, absolute; the current one unless another is named.
pub(crate) fn project_directory(named: Option<&Path>) -> Result<PathBuf, CommandError> {
    let mut absolute = match named {
        // As the system knows it, which is without links.
        None => std::env::current_dir(),
        Some(directory) => canonical(directory),
    };
    if let Ok(path) = &absolute
        && !path.is_dir()
    {
        absolute = Err(std::io::ErrorKind::NotADirectory.into());
    }
    let directory = named.unwrap_or(Path::new("."));
    absolute.or_usage(format_args!("can't work in {}", directory.display()))
}

/// Checks that no hook called this process for the hook itself to run again.
pub(crate) fn not_too_deep() -> Result<(), CommandError> {
    depth::check(std::env::var_os(depth::VARIABLE).as_deref())
        .map_err(|error| CommandError::usage(error.to_string()))
}

/// The use that a configuration is loaded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To run its hooks. A named file that can't be loaded is an error.
    Run,
    /// To judge by it in any case. A named file that can't be loaded fails like one that was found.
    Judge,
    /// To show it, with the hooks of files that do not count.
    Show,
}

/// A configuration, what there is to say of it, and what it was loaded by.
pub(crate) struct Loaded {
    pub(crate) found: hookexec_project::Loaded,
    pub(crate) notices: Notices,
    options: LoadOptions,
}

impl Loaded {
    pub(crate) fn of(options: &LoadOptions) -> Result<Self, Diagnostics> {
        let mut found = hookexec_project::load(options)?;
        // `check` shows them; the log of each hook call must not.
        found.config.warnings = Diagnostics::default();
        Ok(Self { notices: Notices::of(&found.config), found, options: options.clone() })
    }

    /// Builds the executor.
    pub(crate) fn executor(self) -> Result<Executor, CommandError> {
        self.build(|builder| builder)
    }

    /// Builds the executor of one event. Another thread answers the caller if rules do not.
    pub(crate) fn brief_executor(self) -> Result<Executor, CommandError> {
        // These wait for something, one beside another.
        let waiting = ["builtin", "http", "mcp", "model"];
        if self.found.config.hooks.iter().any(|hook| waiting.contains(&&*hook.kind)) {
            return self.executor();
        }
        self.build(ExecutorBuilder::blocking)
    }

    /// Builds the executor, which `set` changes.
    pub(crate) fn build(
        self,
        set: fn(ExecutorBuilder) -> ExecutorBuilder,
    ) -> Result<Executor, CommandError> {
        let options = self.options.clone();
        set(self.builder()).build().map_err(|first| all_problems(options, first))
    }

    /// Returns the builder of the executor.
    pub(crate) fn builder(self) -> ExecutorBuilder {
        let builder = Executor::builder(self.found.config).registry(registry::all());
        match &self.options.working_dir {
            Some(project) => builder.working_dir(project),
            None => builder,
        }
    }
}

/// Remarks on the hooks files.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// Guards that do not run although a user may count on them, and that no verdict mentions.
    pub(crate) absent: Vec<String>,
    /// Files that fail. A verdict names their causes if it is about the hooks.
    failed: Vec<FailedFile>,
}

impl Notices {
    fn of(config: &Config) -> Self {
        let mut absent = Vec::new();
        if config.files.is_empty() && config.failed.is_empty() {
            absent.push(format!("{NO_FILES}: nothing is guarded"));
        }
        absent.extend(config.left_out.iter().map(Diagnostic::with_hint));
        Self { absent, failed: config.failed.clone() }
    }

    /// Warns about all of it.
    pub(crate) fn warn(&self) {
        warn_all(self.absent.iter().cloned().chain(self.failures("")));
    }

    /// Returns the failures that `text` does not name.
    pub(crate) fn failures(&self, text: &str) -> impl Iterator<Item = String> {
        let untold = self.failed.iter().filter(move |file| !text.contains(&file.message()));
        untold.map(FailedFile::notice)
    }
}

/// Returns the errors of loading and of building together, for a person; `first` are those of the
/// step that stopped.
///
/// The files that are found are left out: only a named file keeps the others from being used, and at
/// an event nothing of a project's file is evaluated.
fn all_problems(mut options: LoadOptions, first: Diagnostics) -> CommandError {
    options.isolated = true;
    let all = hookexec_project::check(&options, registry::all()).problems;
    CommandError::from(if all.has_errors() { all } else { first })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        config: ConfigArgs,
    }

    #[test]
    fn without_time_for_a_project_its_directory_is_not_looked_at() {
        let directory = tempfile::tempdir().unwrap();
        let directory = canonical(directory.path()).unwrap();
        let config = ConfigArgs::default().in_project(directory.to_str().unwrap());
        assert_eq!(config.cwd.as_ref(), Some(&directory));
        std::fs::remove_dir(&directory).unwrap();
        let config = config.without_project();
        assert_eq!(config.options(Purpose::Run).unwrap().working_dir, Some(directory));
    }

    #[test]
    fn another_process_reads_the_same_files() {
        let config = ConfigArgs {
            config: vec!["a b.yaml".into(), "c.yaml".into()],
            cwd: Some("/x y".into()),
            isolated: true,
            without_project: false,
        };
        for config in [ConfigArgs::default(), config.clone(), config.without_project()] {
            let arguments = std::iter::once("hookexec".into()).chain(config.arguments());
            let read = Line::try_parse_from(arguments).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(read.config, config);
        }
    }
}
