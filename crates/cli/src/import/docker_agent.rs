//! The hooks of one agent of a docker-agent file.

use std::path::Path;

use hookexec::Event;
use hookexec::config::{Command, Diagnostics, Hook, Phase};
use hookexec::internal::reading::{Fields, Node, Reader, Value, read_text};
use hookexec::internal::suggest;
use serde_json::json;

use super::judge;
use super::settings::Import;
use super::yaml::{self, Group};

/// The flags of an agent that stand for a builtin hook without arguments.
const FLAGS: [(&str, &[Event]); 3] = [
    ("add_date", &[Event::TurnStart]),
    ("add_environment_info", &[Event::SessionStart]),
    (
        "redact_secrets",
        &[Event::ToolInputTransform, Event::BeforeLlmCall, Event::ToolResponseTransform],
    ),
];
/// The flag that stands for a builtin hook whose arguments are files.
const PROMPT_FILES: &str = "add_prompt_files";

/// Reads the hooks of the agent called `name`, and those that its flags stand for. Everything else
/// in the file is docker-agent's to judge.
///
/// # Errors
/// The file has no such agent.
pub(super) fn read(path: &Path, text: &str, name: Option<&str>) -> Result<Import, Diagnostics> {
    let mut hooks = None;
    let read = read_text(path, text, |reader, root| {
        let (agent, fields) = chosen(reader, root, name)?;
        let models = reader.open_fields(root, "the file").and_then(|file| file.get("models"));
        let models = models.and_then(|models| reader.open_fields(models, "`models`"));
        let found = hooks_of(reader, &fields, models.as_ref());
        if found.is_empty() && reader.errors() == 0 {
            return reader.refuse(agent, "this agent has no hooks");
        }
        hooks = Some(found);
        Some(())
    });
    let problems = read.err().unwrap_or_default();
    let Some(hooks) = hooks else { return Err(problems) };
    let mut import = Import { problems, ..Import::default() };
    for hook in &hooks {
        add(&mut import, hook);
    }
    Ok(import)
}

/// Returns the agent that was asked for, and its keys.
fn chosen<'n>(
    reader: &mut Reader,
    root: &'n Node<'n>,
    name: Option<&str>,
) -> Option<(&'n Node<'n>, Fields<'n>)> {
    let file = reader.open_fields(root, "the file")?;
    let Some((_, key, agents)) = file.iter().find(|(key, ..)| *key == "agents") else {
        return reader
            .refuse(root, "a docker-agent file has a key `agents`, and this file has none");
    };
    let agents = reader.open_fields(agents, "`agents`")?;
    let names: Vec<&str> = agents.iter().map(|(name, ..)| name).collect();
    let listed = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let Some(wanted) = name else {
        let hint = format!("choose one with `--agent NAME`; the file has: {listed}");
        return reader.refuse_with_hint(key, "this file has agents, and none was chosen", hint);
    };
    let Some(agent) = agents.get(wanted) else {
        let hint = suggest::hint_or_list(wanted, names, "the file has:");
        return reader.refuse_with_hint(key, format!("unknown agent `{wanted}`"), hint);
    };
    Some((agent, reader.open_fields(agent, "an agent")?))
}

fn hooks_of(reader: &mut Reader, agent: &Fields<'_>, models: Option<&Fields<'_>>) -> Vec<Hook> {
    // Other keys are docker-agent's, but a guard below a misspelt key must not vanish.
    for (name, key, _) in agent.iter() {
        if name == "hooks" {
            continue;
        }
        if let Some(hint) = suggest::hint(name, ["hooks"]) {
            reader.error_with_hint(key, format!("unknown key `{name}` in an agent"), hint);
        }
    }
    let mut hooks = match agent.get("hooks") {
        Some(block) => {
            let block = judge::translated(reader, block, models);
            reader.hooks_block(&block)
        }
        None => Vec::new(),
    };
    // The flags come after the user's own hooks, as in docker-agent.
    for (flag, events) in FLAGS {
        let Some(value) = agent.get(flag) else { continue };
        if reader.value(value, &format!("`{flag}`")) == Some(true) {
            hooks.extend(events.iter().map(|event| builtin(reader, value, *event, flag)));
        }
    }
    if let Some(value) = agent.get(PROMPT_FILES)
        && !matches!(value.value, Value::Null)
        && let Some(files) = reader.value::<Vec<String>>(value, &format!("`{PROMPT_FILES}`"))
        && !files.is_empty()
    {
        let mut hook = builtin(reader, value, Event::TurnStart, PROMPT_FILES);
        hook.args = files;
        hooks.push(hook);
    }
    hooks
}

fn builtin(reader: &Reader, node: &Node<'_>, event: Event, name: &str) -> Hook {
    let mut hook = Hook::new(event, "builtin", Command::Text(name.to_owned()));
    hook.location = reader.location(node);
    hook
}

fn add(import: &mut Import, hook: &Hook) {
    let groups = import.groups(hook.event);
    let matcher = (!hook.matcher.is_everything()).then(|| hook.matcher.to_string());
    let written = written(hook);
    match groups.last_mut().filter(|group| group.matcher == matcher) {
        Some(group) => group.hooks.push(written),
        None => groups.push(Group {
            location: hook.location.clone(),
            matcher,
            condition: None,
            hooks: vec![written],
        }),
    }
}

/// Returns a hook with the keys that its file gives it.
fn written(hook: &Hook) -> yaml::Hook {
    let said = |key: &str| hook.key_locations.contains_key(key);
    let command = hook.command.clone().unwrap_or_else(|| Command::Text(String::new()));
    let mut written = yaml::Hook::new(hook.location.clone(), &hook.kind, command);
    let texts = [("name", &hook.name), ("working_dir", &hook.working_dir), ("shell", &hook.shell)];
    for (key, value) in texts {
        if let Some(value) = value {
            written.set(key, value.clone());
        }
    }
    if !hook.args.is_empty() {
        written.set("args", hook.args.clone());
    }
    if !hook.env.is_empty() {
        written.set("env", json!(hook.env));
    }
    if said("timeout") {
        written.set("timeout", format!("{}ms", hook.timeout.as_millis()));
    }
    if let Some(on_error) = hook.on_error {
        written.set("on_error", json!(on_error));
    }
    for (key, value) in [
        ("strict_output", hook.strict_output),
        ("mutates", hook.phase == Phase::Mutate),
        ("background", hook.phase == Phase::Background),
    ] {
        if said(key) {
            written.set(key, value);
        }
    }
    if let Some(parameters) = &hook.with {
        written.set("with", parameters.clone());
    }
    written
}
