//! The calls that `install` writes: what they have in common, and the entry of each event.

use hookexec::Event;
use hookexec_agents::{Agent, NativeEvent};

use super::waits::limits;
use crate::error::CommandError;
use crate::settings;
use crate::settings::call::{self, Call};
use crate::settings::edit::PlannedEntry;
use crate::settings::inspect::AgentFile;

/// The options that every call of an installation has.
#[derive(Clone, Default)]
pub(crate) struct Called {
    pub(crate) program: String,
    pub(crate) socket: Option<String>,
    pub(crate) configs: Vec<String>,
}

impl Called {
    /// Adds the options of the entries in the file, where the command line has no others.
    pub(super) fn with_kept(&self, file: &AgentFile) -> Result<Self, CommandError> {
        let mut called = self.clone();
        let ours = file.ours();
        if let Some(kept) = ours.iter().find_map(|entry| entry.call.as_ref()) {
            if called.configs.is_empty() {
                called.configs.clone_from(&kept.configs);
            }
            called.socket = called.socket.or_else(|| kept.socket.clone());
        }
        if called.socket.is_none() || called.configs.is_empty() {
            return Ok(called);
        }
        let (path, agent, scope) = (file.path.display(), file.agent, file.scope);
        Err(CommandError::usage(format!(
            "{path} has entries with `--connect` or `--config`, and no entry can have both: a server has \
             its own files"
        ))
        .hint(format!("run `hookexec uninstall {agent} --scope {scope}` first")))
    }
}

/// Returns the entries for `agent`.
pub(crate) fn entries(
    agent: Agent,
    called: &Called,
    timeout: u64,
    configured: &[Event],
) -> Vec<PlannedEntry> {
    let entry = |native: &'static NativeEvent| {
        let (timeout, within) = limits(agent, native, timeout);
        let Called { program, socket, configs } = called.clone();
        let denies_without_answer = call::denies_without_answer(native);
        let call = Call { program, agent, native, within, socket, configs, denies_without_answer };
        PlannedEntry { native, command: call.command(), timeout }
    };
    settings::events(agent, configured).into_iter().map(entry).collect()
}
