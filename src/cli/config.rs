//! Which hooks files count, for every subcommand that reads them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hookexec::config::{Diagnostics, LoadOptions, ProjectFile};
use hookexec::handlers::depth;
use hookexec::serve::Loaded;
use hookexec::{Config, Executor, Registry};

use super::error::{CommandError, NO_FILES, warn};
use super::trust::warn_of_unapproved;

/// Loads a configuration.
pub(crate) type Loader = Box<dyn Fn() -> Result<Loaded, Diagnostics> + Send + Sync>;

/// Which hooks files count.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Hooks files")]
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

    /// Adds `files`, and leaves out those that are found.
    pub(crate) fn only(mut self, files: &[PathBuf]) -> Self {
        self.config.extend_from_slice(files);
        self.isolated = true;
        self
    }

    /// Returns the arguments on a command line that name the same files, for another process.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let files = self.config.iter().flat_map(|file| ["--config".into(), file.into()]);
        let cwd = self.cwd.iter().flat_map(|path| ["--cwd".into(), path.into()]);
        let agent = self.agent.iter().flat_map(|name| ["--agent".into(), name.into()]);
        let isolated = self.isolated.then(|| "--isolated".into());
        files.chain(cwd).chain(agent).chain(isolated).collect()
    }

    /// Makes `directory` the project, unless one was given or it isn't there.
    pub(crate) fn in_project(mut self, directory: &str) -> Self {
        if self.cwd.is_none() && Path::new(directory).is_dir() {
            self.cwd = Some(directory.into());
        }
        self
    }

    /// Loads the configuration and builds its executor; warns of guards that are not there.
    pub(crate) fn executor(&self) -> Result<Executor, CommandError> {
        self.executor_telling(warn)
    }

    /// Loads the configuration and builds its executor; tells when there is no file to load, and
    /// which files are left out.
    pub(crate) fn executor_telling(&self, tell: impl Fn(&str)) -> Result<Executor, CommandError> {
        self.executor_of(tell, warn_of_unapproved, |_| {})
    }

    /// Loads like [`executor`](Self::executor) for who says of files that are not approved himself.
    pub(crate) fn executor_noting(
        &self,
        note: impl FnMut(&ProjectFile),
    ) -> Result<Executor, CommandError> {
        self.executor_of(warn, note, |_| {})
    }

    /// Loads like [`executor`](Self::executor) for who only wants to see: nothing is recorded.
    pub(crate) fn executor_unrecorded(&self) -> Result<Executor, CommandError> {
        self.executor_of(warn, warn_of_unapproved, |config| config.audit.clear())
    }

    fn executor_of(
        &self,
        tell: impl Fn(&str),
        unapproved: impl FnMut(&ProjectFile),
        adjust: impl FnOnce(&mut Config),
    ) -> Result<Executor, CommandError> {
        not_too_deep()?;
        let options = self.options()?;
        let built = Config::load(&options).and_then(|mut config| {
            absences(&config).for_each(|absence| tell(&absence));
            adjust(&mut config);
            config.project_files.iter().for_each(unapproved);
            build(config, &options)
        });
        // Each step ends at its own errors; whoever mends the file wants to see all of them.
        built.map_err(|_| {
            CommandError::config(
                Executor::check(&options, Registry::with_shipped_builtins()).problems,
            )
        })
    }

    /// Returns the project, and what loads its configuration any number of times.
    pub(crate) fn loader(&self) -> Result<(PathBuf, Loader), CommandError> {
        not_too_deep()?;
        let options = self.options()?;
        let load = move || {
            let config = Config::load(&options)?;
            left_out(&config).for_each(|file| warn(&file));
            config.project_files.iter().for_each(warn_of_unapproved);
            let (files, places) = (config.files.clone(), options.places(&config));
            Ok(Loaded::new(build(config, &options)?).with_files(files, places))
        };
        Ok((self.project()?, Box::new(load)))
    }

    /// Loads the configuration.
    pub(crate) fn load(&self) -> Result<Config, CommandError> {
        Config::load(&self.options()?).map_err(CommandError::config)
    }

    /// Returns what to load.
    pub(crate) fn options(&self) -> Result<LoadOptions, CommandError> {
        let mut options = LoadOptions::default();
        options.working_dir = Some(self.project()?);
        options.files.clone_from(&self.config);
        options.agent.clone_from(&self.agent);
        options.isolated = self.isolated;
        Ok(options)
    }

    /// Returns whether the files that count are those found in the project.
    pub(crate) fn is_default(&self) -> bool {
        self.config.is_empty() && self.agent.is_none() && !self.isolated
    }

    /// Returns the project's directory, absolute and without links.
    pub(crate) fn project(&self) -> Result<PathBuf, CommandError> {
        project(self.cwd.as_deref())
    }
}

/// Returns the project's directory, absolute; the current one unless another is named.
pub(crate) fn project(named: Option<&Path>) -> Result<PathBuf, CommandError> {
    let directory = named.unwrap_or_else(|| Path::new("."));
    let absolute = match named {
        // As the system knows it, which is without links.
        None => std::env::current_dir(),
        Some(directory) => directory.canonicalize(),
    };
    let absolute = absolute.and_then(|path| {
        if path.is_dir() { Ok(path) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
    });
    absolute.map_err(|error| {
        CommandError::usage(format!("can't work in {}: {error}", directory.display()))
    })
}

/// Checks that no hook called this process for the hook itself to run again.
pub(crate) fn not_too_deep() -> Result<(), CommandError> {
    depth::check(std::env::var_os("HOOKEXEC_DEPTH").as_deref())
        .map_err(|error| CommandError::usage(error.to_string()))
}

/// Returns which guards are not there, though somebody may count on them.
fn absences(config: &Config) -> impl Iterator<Item = String> {
    let nothing = config.files.is_empty().then(|| format!("{NO_FILES}: nothing is guarded"));
    nothing.into_iter().chain(left_out(config))
}

/// Returns which files are not read, and what to do about it.
fn left_out(config: &Config) -> impl Iterator<Item = String> {
    config.left_out.iter().map(|problem| match &problem.hint {
        Some(hint) => format!("{problem}; {hint}"),
        None => problem.to_string(),
    })
}

fn build(config: Config, options: &LoadOptions) -> Result<Executor, Diagnostics> {
    let mut builder = Executor::builder(config).registry(Registry::with_shipped_builtins());
    if let Some(project) = &options.working_dir {
        builder = builder.working_dir(project);
    }
    builder.build()
}
