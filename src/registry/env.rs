//! The environment in which handlers are built.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use hookexec_files::expand::{MissingVariable, required_env_references};

use super::Registry;
use crate::config::{BuildError, Hook, Protocol};
use crate::counts::{Counter, Counts};
use crate::handlers::payloads::Words;
use crate::handlers::process::{CalledProcess, Processes};

/// The environment in which a factory builds handlers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HandlerEnv {
    /// The project: where commands run unless they say otherwise. The path is absolute.
    pub working_dir: PathBuf,
    /// The environment that hooks inherit.
    pub env: Arc<BTreeMap<OsString, OsString>>,
    /// The processes of the configuration, shared by all hooks that call them.
    pub(crate) processes: Arc<Processes>,
    /// The registry: builtins by name.
    pub registry: Arc<Registry>,
    /// The counts of builtins.
    pub(crate) counts: Arc<Counts>,
}

impl HandlerEnv {
    /// Returns an environment without processes, with the shipped hook types.
    pub fn new(
        working_dir: impl Into<PathBuf>,
        env: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let working_dir = working_dir.into();
        Self {
            working_dir: std::path::absolute(&working_dir).unwrap_or(working_dir),
            env: Arc::new(env.into_iter().collect()),
            processes: Arc::default(),
            registry: Arc::default(),
            counts: Arc::new(Counts::of_user()),
        }
    }

    /// Returns the words that a hook reads and answers in.
    pub fn words(&self, hook: &Hook) -> Words {
        Words::new(self.registry.dialect_of(hook), hook)
    }

    /// Returns the counter of a hook: what it counts in a session is kept over restarts.
    pub fn counter(&self, hook: &Hook) -> Counter {
        Counter::new(&self.counts, hook.counting_name())
    }

    /// Expands `${env.NAME}` in a text, such as a secret.
    ///
    /// # Errors
    /// When a variable is not set to a text.
    pub fn expand(&self, text: &str) -> Result<String, MissingVariable> {
        required_env_references(text, &self.env)
    }

    /// Returns the MCP server that `processes:` has under `name`.
    ///
    /// # Errors
    /// When there is none; the error is about `with`.
    pub fn mcp_server(&self, name: &str) -> Result<CalledProcess, BuildError> {
        CalledProcess::new(&self.processes, name, Protocol::Mcp)
    }
}
