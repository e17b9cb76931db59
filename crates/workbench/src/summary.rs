//! Summaries of hooks, for lists and for a person who approves them.

use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

use hookexec::Config;
use hookexec::config::{Command, Hook, Layer, Phase, Process};
use hookexec::event::Event;
use hookexec::wire::Mode;
use hookexec_builtins::shell::quoted;
use hookexec_files::kinds::Words;

/// The keys of a rule's answer, which stand first.
const ANSWERS: [&str; 3] = ["allow", "ask", "deny"];

/// The keys that have a field of their own.
const IN_THE_SUMMARY: [&str; 4] = ["command", "name", "timeout", "type"];

/// The event, the matcher and the command of a hook, and its other keys.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
pub struct HookSummary {
    /// Its event.
    pub event: Event,
    /// Which tools it is for; missing on events without a tool.
    pub matcher: Option<String>,
    /// Its name, or what it runs.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The command that it runs, with its arguments; for a hook of a process, the program of the process.
    pub command: Option<Command>,
    /// Other keys that say what it does; first those that only its type knows.
    #[serde(serialize_with = "entries")]
    pub settings: Vec<(String, String)>,
    /// How long it may take.
    #[serde(rename = "timeout_ms", serialize_with = "milliseconds")]
    pub timeout: Duration,
    /// The file it stands in.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// Who brought the file in.
    pub layer: Layer,
}

impl HookSummary {
    /// Sums up a hook of `config`.
    pub fn of(hook: &Hook, config: &Config) -> Self {
        let is_matched = hook.event.contract().tool_matched;
        let process = hook.process().and_then(|name| config.processes.get(name));
        let command = match (process, &hook.command) {
            (Some(process), _) => Some(Command::Argv(process.command.clone())),
            (None, Some(Command::Argv(words))) => {
                Some(Command::Argv([words.as_slice(), &hook.args].concat()))
            }
            (None, command) => command.clone(),
        };
        Self {
            event: hook.event,
            matcher: if is_matched { Some(hook.matcher.to_string()) } else { None },
            name: hook.label(),
            kind: hook.kind.clone(),
            command,
            settings: settings_of(hook, process),
            timeout: hook.timeout,
            file: hook.location.path().display().to_string(),
            line: hook.location.line(),
            layer: hook.layer(),
        }
    }
}

/// Returns the keys of the type of `hook`, and all others beside its matcher and command that differ from
/// the default. A hook of a process has the process's environment.
fn settings_of(hook: &Hook, process: Option<&Process>) -> Vec<(String, String)> {
    let (env, working_dir) = match process {
        Some(process) => (&process.env, &process.working_dir),
        None => (&hook.env, &hook.working_dir),
    };
    let env: Vec<String> =
        env.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
    // The arguments of a list stand in the command itself.
    let has_args = !hook.args.is_empty() && !matches!(hook.command, Some(Command::Argv(_)));
    let shown = [
        ("args", if has_args { Some(quoted_words(&hook.args)) } else { None }),
        ("background", flag(hook.phase == Phase::Background)),
        ("enabled", if hook.enabled { None } else { Some("false".to_owned()) }),
        ("env", if env.is_empty() { None } else { Some(env.join(" ")) }),
        ("mode", if hook.mode == Mode::Enforce { None } else { word(hook.mode) }),
        ("mutates", flag(hook.phase == Phase::Mutate)),
        ("on_error", hook.on_error.and_then(word)),
        ("shell", if hook.kind == "command" { hook.shell.clone() } else { None }),
        ("start", process.filter(|process| process.eager).map(|_| "eager".to_owned())),
        ("when", hook.when.as_ref().map(ToString::to_string)),
        ("with", hook.with.as_ref().map(ToString::to_string)),
        ("working_dir", working_dir.clone()),
    ];
    let mut settings = Vec::new();
    for (key, value) in hook.written_own_keys() {
        settings.push((key, written(value)));
    }
    settings.sort_by_key(|(key, _)| !ANSWERS.contains(&key.as_str()));
    for (key, place) in hook.key_locations.iter() {
        if !IN_THE_SUMMARY.contains(key) && !shown.iter().any(|(name, _)| name == key) {
            settings.push(((*key).to_owned(), place.written().to_owned()));
        }
    }
    for (key, value) in shown {
        if let Some(value) = value {
            settings.push((key.to_owned(), value));
        }
    }
    settings
}

/// Returns a value: a list of texts as words, and what has further parts as JSON.
fn written(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let words: Vec<_> = items.iter().filter_map(Value::as_str).map(quoted).collect();
            words.join(" ")
        }
        value => value.to_string(),
    }
}

fn flag(holds: bool) -> Option<String> {
    if holds { Some("true".to_owned()) } else { None }
}

fn word<W: Words + PartialEq>(value: W) -> Option<String> {
    let (word, _) = W::WORDS.iter().find(|(_, known)| *known == value)?;
    Some((*word).to_owned())
}

/// Returns the words of a command as a shell reads them.
pub fn quoted_words(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    duration.as_millis().serialize(serializer)
}

fn entries<S: Serializer>(settings: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(settings.iter().map(|(key, value)| (key, value)))
}
