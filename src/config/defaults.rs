//! `defaults:`: what the hooks of a file share unless they say otherwise.

use std::time::Duration;

use super::diagnostic::Diagnostic;
use super::hook::ON_ERROR;
use super::model::{InheritEnv, OnError};
use super::node::{Node, Value};
use super::reader::Reader;

/// The keys of `defaults:`.
pub(super) const KEYS: [&str; 7] =
    ["timeout", "on_error", "shell", "inherit_env", "max_output", "max_parallel", "deadline"];

/// Why a default can be without effect, and what to do.
pub(super) const STRICTER: &str = "a default can only make events stricter; \
                                   set `on_error` on the hook that you want to relax";

/// The defaults of one file.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    pub(super) timeout: Option<Duration>,
    pub(super) on_error: Option<OnError>,
    pub(super) shell: Option<String>,
    pub(super) inherit_env: Option<InheritEnv>,
    pub(super) max_output: Option<usize>,
    pub(super) max_parallel: Option<usize>,
    pub(super) deadline: Option<Duration>,
}

impl Reader {
    pub(super) fn defaults(&mut self, node: &Node) -> Defaults {
        let mut defaults = Defaults::default();
        let Some(fields) = self.fields(node, "`defaults`", &KEYS) else { return defaults };
        for (name, _, value) in fields.iter() {
            match name {
                "timeout" => defaults.timeout = self.duration(value, "`timeout`"),
                "on_error" => defaults.on_error = self.default_on_error(value),
                "shell" => defaults.shell = self.filled_text(value, "`shell`"),
                "inherit_env" => defaults.inherit_env = self.inherit_env(value),
                "max_output" => defaults.max_output = self.size(value, "`max_output`"),
                "max_parallel" => defaults.max_parallel = self.max_parallel(value),
                "deadline" => defaults.deadline = self.duration(value, "`deadline`"),
                _ => {}
            }
        }
        defaults
    }

    fn default_on_error(&mut self, node: &Node) -> Option<OnError> {
        let wanted = self.choice(node, "`on_error`", &ON_ERROR);
        if wanted == Some(OnError::Warn) {
            let problem = Diagnostic::warning("`on_error: warn` has no effect in `defaults`");
            self.report(node, problem.hint(STRICTER));
        }
        wanted
    }

    fn max_parallel(&mut self, node: &Node) -> Option<usize> {
        let count = match &node.value {
            Value::Number(number) => number.as_u64().filter(|count| (1..=1024).contains(count)),
            _ => None,
        };
        if count.is_none() {
            self.error(node, "`max_parallel` must be a number from 1 to 1024");
        }
        count.and_then(|count| usize::try_from(count).ok())
    }
}
