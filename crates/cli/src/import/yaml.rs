//! The hooks.yaml that an import writes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hookexec::config::{Command, Diagnostics, Location, Severity};
use hookexec::{Config, Event};
use serde_json::Value;

use super::format::Format;
use super::mcp::Server;
use super::settings::Import;

/// Hooks that share a matcher.
#[derive(Clone)]
pub(super) struct Group {
    /// Its place in the settings.
    pub(super) location: Location,
    pub(super) matcher: Option<String>,
    /// When they run.
    pub(super) condition: Option<Value>,
    pub(super) hooks: Vec<Hook>,
}

/// One hook.
#[derive(Clone)]
pub(super) struct Hook {
    /// Its place in the settings.
    pub(super) location: Location,
    /// Its type.
    pub(super) kind: String,
    pub(super) command: Command,
    /// Its other keys.
    keys: BTreeMap<&'static str, Value>,
}

/// The other keys of a hook, in the order in which they are written.
const KEYS: [&str; 14] = [
    "name", "dialect", "command", "args", "background", "mode", "shell", "working_dir", "env",
    "on_error", "timeout", "strict_output", "mutates", "with",
];

impl Hook {
    pub(super) fn new(location: Location, kind: &str, command: Command) -> Self {
        Self { location, kind: kind.to_owned(), command, keys: BTreeMap::new() }
    }

    pub(super) fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        self.keys.insert(key, value.into());
    }

    pub(super) fn unset(&mut self, key: &str) {
        self.keys.remove(key);
    }

    /// Returns the value of a key of [`KEYS`].
    fn value(&self, key: &str) -> Option<Value> {
        if key != "command" {
            return self.keys.get(key).cloned();
        }
        match &self.command {
            _ if self.kind != "command" && self.keys.contains_key("with") => None,
            Command::Argv(words) => Some(words.clone().into()),
            Command::Text(text) => Some(text.clone().into()),
            _ => None,
        }
    }

    fn has_dialect(&self) -> bool {
        self.keys.contains_key("dialect")
    }
}

const CLAUDE_DIALECT: &str = "\
# With `dialect: claude-code` a script reads what Claude Code would tell it, under every agent that hookexec is
# installed in, and its answer means what it means there.
";
const NO_DIALECT: &str = "\
# A hook without `dialect` reads what hookexec says: under AGENT the same tools and arguments as before, with
# events called as they are here (`pre_tool_use`); under other agents their names of tools and arguments.
";
const STRICTER: &str = "\
#
# One thing is stricter here: a hook that gives no answer (a timeout, a program that is not found, a crash by a
# signal, broken JSON) denies a tool call, where AGENT lets the tool run. `on_error: warn` on a hook lets it
# run here, too. Other exit codes than 0 and 2 are no decision, as there; `on_error: block` makes them denials.
";

/// Returns what the reader of the file has to know of its hooks.
fn head(format: Format, import: &Import) -> String {
    let any = |wanted: fn(&Hook) -> bool| {
        let mut groups = import.events.iter().flat_map(|(_, groups)| groups);
        groups.any(|group| group.hooks.iter().any(wanted))
    };
    let mut text = String::new();
    if any(Hook::has_dialect) {
        text.push_str(CLAUDE_DIALECT);
    }
    if any(|hook| hook.kind == "command" && !hook.has_dialect()) {
        text.push_str(NO_DIALECT);
    }
    (text + STRICTER).replace("AGENT", format.agent.title())
}

/// Writes what was read from the file that `source` names, an argument of `--from`.
pub(super) fn write(format: Format, source: &str, import: &Import) -> String {
    let head = head(format, import);
    let mut text = title(source) + "#\n" + &head + &left_out(import);
    let (timeout, title) = (format.import.timeout, format.agent.title());
    let _ = write!(
        text,
        "\ndefaults:\n  timeout: {timeout} # {title}'s; an agent waits no longer than `hookexec install --timeout`\n"
    );
    processes(&import.servers, &mut text);
    events(&import.events, &mut text);
    text
}

/// Writes hooks that mean the same here as in the file of their engine.
pub(super) fn write_plain(source: &str, import: &Import) -> String {
    let mut text = title(source) + &left_out(import);
    events(&import.events, &mut text);
    text
}

/// Writes the `hooks` of PicoClaw's configuration.
pub(super) fn write_picoclaw(source: &str, hooks: &str, import: &Import) -> String {
    title(source) + &left_out(import) + hooks
}

fn title(source: &str) -> String {
    format!("# Written by `hookexec init --from {source}`.\n")
}

/// Returns what is wrong with a group as it is written.
pub(super) fn problems(event: Event, group: Group, servers: &[Server]) -> Option<Diagnostics> {
    let mut text = String::new();
    processes(servers, &mut text);
    events(&[(event, vec![group])], &mut text);
    Config::from_yaml(&text, "hooks.yaml").err()
}

/// Says what can't be imported.
fn left_out(import: &Import) -> String {
    let left_out = import.problems.iter().filter(|it| it.severity == Severity::Error);
    let lines = left_out.map(|problem| {
        let line = problem.location.as_ref().map_or(0, Location::line);
        let words: Vec<_> = problem.message.split_whitespace().collect();
        format!("#   line {line}: {}\n", words.join(" "))
    });
    let lines: String = lines.collect();
    let head = "#\n# LEFT OUT, and guarding nothing here:\n";
    if lines.is_empty() { lines } else { format!("{head}{lines}") }
}

/// Writes the servers that hooks call.
fn processes(servers: &[Server], text: &mut String) {
    let started: Vec<_> = servers
        .iter()
        .filter_map(|server| Some((&server.name, server.process.as_ref()?)))
        .collect();
    if !started.is_empty() {
        text.push_str("\nprocesses:\n");
    }
    for (name, process) in started {
        let _ = writeln!(text, "  {}: {}", inline(name), on_one_line(process));
    }
}

/// Writes the hooks.
fn events(events: &[(Event, Vec<Group>)], text: &mut String) {
    text.push_str(if events.is_empty() { "\nhooks: {}\n" } else { "\nhooks:\n" });
    for (event, groups) in events {
        let _ = writeln!(text, "  {event}:");
        for group in groups {
            group.write(event.contract().tool_matched, text);
        }
    }
}

impl Group {
    fn write(&self, tool_matched: bool, text: &mut String) {
        let mut hooks_indent = "    ";
        if tool_matched {
            let _ = writeln!(text, "    # line {}", self.location.line());
            let matcher = self.matcher.as_deref().unwrap_or("*");
            let _ = writeln!(text, "    - matcher: {}", inline(matcher));
            if let Some(condition) = &self.condition {
                let _ = writeln!(text, "      when: {}", on_one_line(condition));
            }
            text.push_str("      hooks:\n");
            hooks_indent = "        ";
        }
        for hook in &self.hooks {
            let condition = self.condition.as_ref().filter(|_| !tool_matched);
            hook.write(hooks_indent, condition, text);
        }
    }
}

impl Hook {
    fn write(&self, indent: &str, condition: Option<&Value>, text: &mut String) {
        let line = self.location.line();
        let _ = writeln!(text, "{indent}- type: {} # line {line}", self.kind);
        let indent = format!("{indent}  ");
        for key in KEYS {
            let Some(value) = self.value(key) else { continue };
            let lines = value.as_str().and_then(|text| block(text, &indent));
            let value = lines.unwrap_or_else(|| on_one_line(&value));
            let _ = writeln!(text, "{indent}{key}: {value}");
        }
        if let Some(condition) = condition {
            let _ = writeln!(text, "{indent}when: {}", on_one_line(condition));
        }
    }
}

/// Returns a value as YAML on one line.
fn on_one_line(value: &Value) -> String {
    match value {
        Value::String(text) => inline(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(on_one_line).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) if !members.is_empty() => {
            let mut written = Vec::new();
            for (key, value) in members {
                written.push(format!("{}: {}", inline(key), on_one_line(value)));
            }
            format!("{{ {} }}", written.join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns a text of several lines as a block; `None` for one that a block can't hold as it is.
fn block(text: &str, indent: &str) -> Option<String> {
    let fits = |line: &str| {
        !line.ends_with([' ', '\t', '\r'])
            && line.chars().all(|letter| letter == '\t' || !letter.is_control())
    };
    let first = text.lines().next()?;
    if !text.contains('\n')
        || text.ends_with('\n')
        || first.is_empty()
        || first.starts_with([' ', '\t'])
        || !text.split('\n').all(fits)
    {
        return None;
    }
    let mut block = "|-".to_owned();
    for line in text.split('\n') {
        block.push('\n');
        if !line.is_empty() {
            let _ = write!(block, "{indent}  {line}");
        }
    }
    Some(block)
}

/// Returns a text as a YAML scalar on one line.
pub(crate) fn inline(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./|".contains(letter);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_duration = text.strip_suffix("ms").is_some_and(|number| number.parse::<u64>().is_ok());
    let begins = |first: char| is_duration || first.is_ascii_alphabetic() || "./".contains(first);
    let bare = text.starts_with(begins)
        && text.chars().any(|letter| letter.is_ascii_alphabetic())
        && text.chars().all(plain)
        && !words.contains(&text.to_ascii_lowercase().as_str());
    if bare {
        text.to_owned()
    } else if text.chars().any(char::is_control) || text.contains('\u{feff}') {
        // YAML takes every escape that JSON has.
        serde_json::Value::from(text).to_string()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}
