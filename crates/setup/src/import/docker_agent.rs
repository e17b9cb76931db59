//! The hooks of one agent of a docker-agent file.

use hookexec::Event;
use hookexec_files::node::Node;
use hookexec_files::suggest;
use serde_json::Value as Json;

use super::block::Import;
use super::yaml::{mapping, set};

/// The flags of an agent that stand for a builtin hook.
const FLAGS: [(&str, &[Event]); 4] = [
    ("add_date", &[Event::TurnStart]),
    ("add_environment_info", &[Event::SessionStart]),
    (
        "redact_secrets",
        &[Event::ToolInputTransform, Event::BeforeLlmCall, Event::ToolResponseTransform],
    ),
    ("add_prompt_files", &[Event::TurnStart]),
];

/// Reads the hooks of the agent called `name`, and those that its flags stand for. Everything else
/// in the file is docker-agent's to judge. Returns `None` if the file has no such agent, or it has no
/// hooks, which is reported.
pub(super) fn read<'n>(import: &mut Import<'n>, root: &'n Node<'n>, name: &str) -> Option<()> {
    let node = import.key(root, "agents")?;
    let reader = &mut import.reader;
    let agents = reader.open_fields(node, "`agents`")?;
    let Some(agent) = agents.get(name) else {
        let names: Vec<&str> = agents.iter().map(|(name, ..)| name).collect();
        let hint = format!("the file has: {}", names.join(", "));
        return reader.refuse_with_hint(node, "choose an agent with `--agent NAME`", hint);
    };
    let keys = reader.open_fields(agent, "an agent")?;
    // Other keys are docker-agent's, but a guard below a misspelt key must not vanish.
    for (key, node, _) in keys.iter() {
        if key != "hooks"
            && let Some(hint) = suggest::hint(key, ["hooks"])
        {
            reader.error_with_hint(node, format!("unknown key `{key}` in an agent"), hint);
        }
    }
    if let Some(hooks) = keys.get("hooks") {
        import.add_block(hooks)?;
    }
    // The flags come after the user's own hooks, as in docker-agent.
    for (flag, events) in FLAGS {
        let Some(value) = keys.get(flag) else { continue };
        let mut hook = mapping(&value.span);
        set(&mut hook, "type", "builtin");
        set(&mut hook, "command", flag);
        match import.reader.value(value, flag)? {
            Json::Null | Json::Bool(false) => continue,
            Json::Bool(true) => {}
            Json::Array(files) if files.is_empty() => continue,
            arguments => set(&mut hook, "args", arguments),
        }
        for event in events {
            import.add_hook(*event, &mapping(&value.span), hook.clone());
        }
    }
    if import.hook_count == 0 && import.reader.errors() == 0 {
        return import.reader.refuse(agent, "this agent has no hooks");
    }
    Some(())
}
