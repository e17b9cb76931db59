//! Which hooks files count, for every subcommand that reads them.

use std::path::{Path, PathBuf};

use hookexec::config::LoadOptions;
use hookexec::{Config, Executor, Registry};

use super::error::{CommandError, NO_FILES, warn};

/// Which hooks files count.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConfigArgs {
    /// A hooks file, in addition to those that are found; may be given more than once
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,

    /// The project: where hooks run, and where its hooks file is looked for [default: the current
    /// directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Takes the hooks of this agent out of whole docker-agent files
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Leaves the user's and the project's files out: only the files named, and the managed ones
    #[arg(long)]
    isolated: bool,
}

impl ConfigArgs {
    /// Returns the arguments that name these files and nothing else.
    pub(crate) fn of_files(files: &[PathBuf]) -> Self {
        Self { config: files.to_vec(), cwd: None, agent: None, isolated: false }
    }

    /// Makes `directory` the project, unless one was given or it isn't there.
    pub(crate) fn in_project(mut self, directory: &str) -> Self {
        if self.cwd.is_none() && Path::new(directory).is_dir() {
            self.cwd = Some(directory.into());
        }
        self
    }

    /// Loads the configuration and builds its executor; warns when there is no file to load.
    pub(crate) fn executor(&self) -> Result<Executor, CommandError> {
        self.executor_or(|| warn(&format!("{NO_FILES}: nothing guards this event")))
    }

    /// Loads the configuration and builds its executor; calls `missing` when there is no file.
    pub(crate) fn executor_or(&self, missing: impl FnOnce()) -> Result<Executor, CommandError> {
        let options = self.options()?;
        let built = Config::load(&options).and_then(|config| {
            if config.files.is_empty() {
                missing();
            }
            super::trust::warn_of_unapproved(&config);
            let mut builder = Executor::builder(config).registry(Registry::with_shipped_builtins());
            if let Some(project) = &options.working_dir {
                builder = builder.working_dir(project);
            }
            builder.build()
        });
        // Each step ends at its own errors; whoever mends the file wants to see all of them.
        built.map_err(|_| {
            CommandError::config(
                Executor::check(&options, Registry::with_shipped_builtins()).problems,
            )
        })
    }

    /// Loads the configuration.
    pub(crate) fn load(&self) -> Result<Config, CommandError> {
        Config::load(&self.options()?).map_err(CommandError::config)
    }

    /// Returns what to load.
    pub(crate) fn options(&self) -> Result<LoadOptions, CommandError> {
        let mut options = LoadOptions::default();
        options.working_dir = Some(project(self.cwd.as_deref())?);
        options.files.clone_from(&self.config);
        options.agent.clone_from(&self.agent);
        options.isolated = self.isolated;
        Ok(options)
    }
}

/// Returns the project's directory, absolute; the current one unless another is named.
pub(crate) fn project(named: Option<&Path>) -> Result<PathBuf, CommandError> {
    let directory = named.unwrap_or_else(|| Path::new("."));
    let absolute = directory.canonicalize().and_then(|path| {
        if path.is_dir() { Ok(path) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
    });
    absolute.map_err(|error| {
        CommandError::usage(format!("can't work in {}: {error}", directory.display()))
    })
}
