//! `processes:`: the long-lived children that hooks of type `process` call.

use std::time::Duration;

use super::defaults::Defaults;
use super::model::{EventMethod, Process};
use super::node::{Node, Value};
use super::picoclaw::Shorthand;
use super::reader::Reader;

/// The keys of an entry of `processes:`.
pub(super) const KEYS: [&str; 16] = [
    "command",
    "dir",
    "working_dir",
    "env",
    "inherit_env",
    "start",
    "start_timeout",
    "timeout",
    "max_line",
    "provides",
    "event_method",
    "enabled",
    "priority",
    "transport",
    "intercept",
    "observe",
];

const START: [(&str, bool); 2] = [("lazy", false), ("eager", true)];
const EVENT_METHOD: [(&str, EventMethod); 2] =
    [("event", EventMethod::Event), ("runtime_event", EventMethod::RuntimeEvent)];

impl Process {
    /// How long a handshake may take when nothing is said.
    pub const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(5);
    /// The longest line a process may write when nothing is said: 8 MiB.
    pub const DEFAULT_MAX_LINE: usize = 8 << 20;
}

impl Reader {
    /// Reads one entry; `None` when it is broken, which is reported.
    pub(super) fn process(
        &mut self,
        name: &str,
        key: &Node,
        node: &Node,
        defaults: &Defaults,
    ) -> Option<(Process, Shorthand)> {
        let errors = self.errors();
        if name.trim().is_empty() {
            self.error(key, "a process needs a name");
        }
        let fields = self.fields(node, "a process", &KEYS)?;
        let mut process = Process {
            name: name.to_owned(),
            command: Vec::new(),
            working_dir: None,
            env: std::collections::BTreeMap::new(),
            inherit_env: defaults.inherit_env.clone().unwrap_or_default(),
            eager: false,
            start_timeout: Process::DEFAULT_START_TIMEOUT,
            timeout: None,
            max_line: Process::DEFAULT_MAX_LINE,
            provides: Vec::new(),
            event_method: EventMethod::default(),
            untrusted: false,
            location: self.location(key),
        };
        if let Some(value) = fields.get("command") {
            process.command = self.process_command(value).unwrap_or_default();
        } else if fields.lacks("command") {
            self.error_with_hint(
                key,
                format!("process `{name}` needs a `command`"),
                "add the program and its arguments: `command: [python3, weather.py]`",
            );
        }
        for (field, field_key, value) in fields.iter() {
            match field {
                "dir" | "working_dir" => {
                    if process.working_dir.is_some() {
                        self.error(field_key, "`dir` and `working_dir` mean the same; keep one");
                    }
                    process.working_dir = self.filled_text(value, &format!("`{field}`"));
                }
                "env" => process.env = self.environment(value).unwrap_or_default(),
                "inherit_env" => process.inherit_env = self.inherit_env(value).unwrap_or_default(),
                "start" => {
                    process.eager = self.choice(value, "`start`", &START).unwrap_or_default();
                }
                "start_timeout" => {
                    if let Some(duration) = self.duration(value, "`start_timeout`") {
                        process.start_timeout = duration;
                    }
                }
                "timeout" => process.timeout = self.duration(value, "`timeout`"),
                "max_line" => {
                    if let Some(size) = self.size(value, "`max_line`") {
                        process.max_line = size;
                    }
                }
                "provides" => {
                    process.provides = self.texts(value, "`provides`").unwrap_or_default();
                }
                "event_method" => {
                    process.event_method =
                        self.choice(value, "`event_method`", &EVENT_METHOD).unwrap_or_default();
                }
                _ => {}
            }
        }
        let shorthand = self.process_shorthand(&fields);
        (self.errors() == errors).then_some((process, shorthand))
    }

    fn process_command(&mut self, node: &Node) -> Option<Vec<String>> {
        if !matches!(node.value, Value::List(_)) {
            self.error_with_hint(
                node,
                "the `command` of a process must be a list: there is no shell",
                "write `[python3, weather.py]`, or `[sh, -c, \"...\"]` for a shell",
            );
            return None;
        }
        let argv = self.texts(node, "`command`")?;
        if argv.first().is_none_or(|program| program.trim().is_empty()) {
            self.error(node, "`command` is empty");
            return None;
        }
        Some(argv)
    }
}
