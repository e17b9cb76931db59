//! The hooks of one agent of a docker-agent file.

use hookexec::Event;
use hookexec::internal::reading::{Node, Value};
use hookexec::internal::suggest;

use super::hooks::{Group, Import, take_out};
use super::tree::{Mapping, cannot_import, get};

/// The flags of an agent that stand for a builtin hook.
const FLAGS: [(&str, &[Event]); 4] = [
    ("add_date", &[Event::TurnStart]),
    ("add_environment_info", &[Event::SessionStart]),
    (
        "redact_secrets",
        &[Event::ToolInputTransform, Event::BeforeLlmCall, Event::ToolResponseTransform],
    ),
    (PROMPT_FILES, &[Event::TurnStart]),
];
/// The flag whose value is the arguments of the builtin.
const PROMPT_FILES: &str = "add_prompt_files";

/// Reads the hooks of the agent called `name`, and those that its flags stand for. Everything else
/// in the file is docker-agent's to judge. Returns `None` if there is no such agent, or it has no
/// hooks, which is reported.
pub(super) fn read<'n>(
    import: &mut Import<'n>,
    root: &'n Node<'n>,
    name: Option<&str>,
) -> Option<()> {
    let reader = &mut import.reader;
    let file = reader.open_fields(root, "the file")?;
    let Some((_, key, agents)) = file.iter().find(|(key, ..)| *key == "agents") else {
        return reader
            .refuse(root, "a docker-agent file has a key `agents`, and this file has none");
    };
    let agents = reader.open_fields(agents, "`agents`")?;
    let names: Vec<&str> = agents.iter().map(|(name, ..)| name).collect();
    let Some(wanted) = name else {
        let listed = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let hint = format!("choose one with `--agent NAME`; the file has: {listed}");
        return reader.refuse_with_hint(key, "this file has agents, and none was chosen", hint);
    };
    let Some(agent) = agents.get(wanted) else {
        let hint = suggest::hint_or_list(wanted, names, "the file has:");
        return reader.refuse_with_hint(key, format!("unknown agent `{wanted}`"), hint);
    };
    let keys = reader.open_fields(agent, "an agent")?;
    // Other keys are docker-agent's, but a guard below a misspelt key must not vanish.
    for (name, key, _) in keys.iter().filter(|(name, ..)| *name != "hooks") {
        if let Some(hint) = suggest::hint(name, ["hooks"]) {
            reader.error_with_hint(key, format!("unknown key `{name}` in an agent"), hint);
        }
    }
    match keys.get("hooks") {
        Some(Node { value: Value::Map(entries), .. }) => import.hooks.clone_from(entries),
        Some(other) => reader.expected("`hooks`", "a mapping", other)?,
        None => {}
    }
    refuse_models(import);
    // The flags come after the user's own hooks, as in docker-agent.
    for (flag, events) in FLAGS {
        if let Some(value) = keys.get(flag) {
            add_flag(import, flag, value, events);
        }
    }
    if import.hooks.is_empty() && import.reader.errors() == 0 {
        return import.reader.refuse(agent, "this agent has no hooks");
    }
    Some(())
}

fn add_flag<'n>(
    import: &mut Import<'n>,
    flag: &'static str,
    value: &'n Node<'n>,
    events: &[Event],
) {
    let what = format!("`{flag}`");
    let is_set = match &value.value {
        _ if flag != PROMPT_FILES => import.reader.value(value, &what),
        Value::Null => None,
        Value::List(files) => Some(!files.is_empty()),
        _ => import.reader.expected(&what, "a list", value),
    };
    if is_set != Some(true) {
        return;
    }
    for event in events {
        let mut hook = Mapping::new(value.span.clone());
        hook.set("type", "builtin");
        hook.set("command", flag);
        if flag == PROMPT_FILES {
            hook.put("args", value.clone());
        }
        let place = value.span.clone();
        import.add(*event, Group { place, matcher: None, condition: None, hooks: vec![hook] });
    }
}

/// Refuses the hooks in which a model decides: their prompts are templates of docker-agent.
fn refuse_models(import: &mut Import<'_>) {
    let mut refused = Vec::new();
    for (_, items) in &import.hooks {
        for item in items.one_or_many() {
            for hook in get(item, "hooks").unwrap_or(item).one_or_many() {
                let kind = get(hook, "type").and_then(Node::as_text).unwrap_or_default();
                // A model hook of ours has its model in `with`.
                if kind == "evaluator" || kind == "model" && get(hook, "model").is_some() {
                    refused.push(hook.span.start);
                    let what = format!("a hook of type `{kind}`");
                    let hint = "write a model hook by hand: docs/configuration.md, \"Model hooks\"";
                    let _ = cannot_import::<()>(&mut import.reader, hook, &what, hint);
                }
            }
        }
    }
    take_out(&mut import.hooks, &refused);
}
