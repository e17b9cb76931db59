//! `processes:`: the long-lived children that hooks of type `process` call.

use std::time::Duration;

use hookexec_files::kinds::Filled;
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;

use super::hook::read_argv;
use super::keys::{Defaults, ProcessKeys};
use super::model::Process;
use super::picoclaw::Shorthand;

/// Whether a process starts with the program.
#[derive(Clone, Copy, Default)]
pub(crate) struct Eager(pub(super) bool);

/// A program and its arguments.
#[derive(Default)]
pub(crate) struct Argv(Vec<String>);

/// Reads one entry; `None` when it is broken, which is reported.
pub(super) fn read_process(
    reader: &mut Reader,
    name: &str,
    key: &Node,
    node: &Node,
    defaults: &Defaults<'_>,
) -> Option<(Process, Shorthand)> {
    let errors = reader.errors();
    if name.trim().is_empty() {
        reader.error(key, "a process needs a name");
    }
    let keys: ProcessKeys<'_> = reader.value(node, "")?;
    if keys.fields.lacks("command") {
        let message = format!("process `{name}` needs a `command`");
        let hint = "add the program and its arguments: `command: [python3, weather.py]`";
        reader.error_with_hint(key, message, hint);
    }
    let inherit_env = keys.inherit_env.or_else(|| defaults.inherit_env.clone());
    let process = Process {
        name: name.to_owned(),
        command: keys.command.unwrap_or_default().0,
        working_dir: keys.working_dir.or(keys.dir).map(Filled::into_text),
        env: keys.env.unwrap_or_default(),
        inherit_env: inherit_env.unwrap_or_default(),
        eager: keys.start.unwrap_or_default().0,
        start_timeout: keys.start_timeout.unwrap_or(Duration::from_secs(5)),
        timeout: keys.timeout,
        max_line: keys.max_line.map_or(8 << 20, |size| size.0),
        provides: keys.provides.unwrap_or_default(),
        protocol: keys.protocol.unwrap_or_default(),
        event_method: keys.event_method.unwrap_or_default(),
        untrusted: false,
        location: reader.location(key),
    };
    let shorthand = Shorthand {
        enabled: keys.enabled.unwrap_or(true),
        priority: keys.priority.unwrap_or_default(),
        stages: keys.intercept.unwrap_or_default().0,
        observed: keys.observe.unwrap_or_default().0,
    };
    if reader.errors() == errors { Some((process, shorthand)) } else { None }
}

impl Kind<'_> for Argv {
    const SCHEMA: &'static str = r##"{
        "type": "array",
        "minItems": 1,
        "items": [{ "type": "string", "pattern": "\\S" }],
        "additionalItems": { "$ref": "#/definitions/text" }
    }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        if !matches!(node.value, Value::List(_)) {
            let message =
                format!("the {what} of a process must be a list: it runs without a shell");
            let hint = "write `[python3, weather.py]`, or `[sh, -c, \"...\"]` for a shell";
            return reader.refuse_with_hint(node, message, hint);
        }
        Some(Self(read_argv(reader, node, None)?))
    }
}
