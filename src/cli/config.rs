//! Which hooks files count, for every subcommand that reads them.

use std::path::{Path, PathBuf};

use hookexec::{Config, Executor};

use super::error::CommandError;

/// Which hooks files count.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigArgs {
    /// A hooks file; may be given more than once
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,

    /// The project: where hooks run [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

impl ConfigArgs {
    /// Loads the configuration.
    pub(crate) fn load(&self) -> Result<Config, CommandError> {
        let mut all = Config::default();
        for file in &self.config {
            let config = Config::load_file(file).map_err(CommandError::config)?;
            all.hooks.extend(config.hooks);
            all.processes.extend(config.processes);
            all.files.extend(config.files);
            all.warnings.extend(config.warnings);
        }
        Ok(all)
    }

    /// Builds the executor of `config`.
    pub(crate) fn executor(&self, config: Config) -> Result<Executor, CommandError> {
        let project = self.project()?;
        Executor::builder(config).working_dir(project).build().map_err(CommandError::config)
    }

    /// Returns the project's directory, absolute.
    pub(crate) fn project(&self) -> Result<PathBuf, CommandError> {
        let directory = self.cwd.as_deref().unwrap_or_else(|| Path::new("."));
        let absolute = directory.canonicalize().and_then(|path| {
            if path.is_dir() { Ok(path) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
        });
        absolute.map_err(|error| {
            CommandError::usage(format!("can't work in {}: {error}", directory.display()))
        })
    }
}
