//! Whole docker-agent files: the hooks of one of their agents.

use super::diagnostic::Diagnostic;
use super::document::Document;
use super::keys::Defaults;
use super::model::{Command, Hook};
use super::node::{Node, Value};
use super::reader::Fields;
use crate::event::Event;
use crate::suggest;

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

impl Document<'_> {
    /// Reads the hooks of the chosen agent; everything else in the file is not ours to judge.
    pub(super) fn agents(&mut self, fields: &Fields<'_>) {
        self.has_agents = true;
        let Some((_, agents_key, node)) = fields.iter().find(|(name, ..)| *name == "agents") else {
            return;
        };
        self.refuse_own_keys(
            fields,
            "agents",
            "beside `agents` belongs to no agent",
            "move it below `agents.<name>.hooks`, or into a file of its own",
        );
        let Some(agents) = self.reader.open_fields(node, "`agents`") else { return };
        let names: Vec<&str> = agents.iter().map(|(name, ..)| name).collect();
        let listed = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let Some(wanted) = self.agent else {
            self.reader.error_with_hint(
                agents_key,
                "this is a docker-agent file, and no agent was chosen",
                format!("choose one with `--agent NAME`; it has: {listed}"),
            );
            return;
        };
        if let Some((_, _, agent)) = agents.iter().find(|(name, ..)| *name == wanted) {
            self.agent(agent, wanted);
            return;
        }
        let hint = match suggest::closest(wanted, names.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`? It has: {listed}"),
            None => format!("it has: {listed}"),
        };
        self.reader.error_with_hint(agents_key, format!("unknown agent `{wanted}`"), hint);
    }

    fn agent(&mut self, node: &Node, name: &str) {
        let Some(fields) = self.reader.open_fields(node, "an agent") else { return };
        self.misspelt_hooks(&fields);
        if let Some(hooks) = fields.get("hooks") {
            self.hooks_block(hooks, &Defaults::default());
        }
        // The flags come after the user's own hooks, as in docker-agent.
        for (flag, events) in FLAGS {
            let Some(value) = fields.get(flag) else { continue };
            if self.reader.value(value, &format!("`{flag}`")) == Some(true) {
                for event in events {
                    self.builtin(value, *event, flag, Vec::new());
                }
            }
        }
        if let Some(value) = fields.get(PROMPT_FILES)
            && !matches!(value.value, Value::Null)
            && let Some(files) =
                self.reader.value::<Vec<String>>(value, &format!("`{PROMPT_FILES}`"))
            && !files.is_empty()
        {
            self.builtin(value, Event::TurnStart, PROMPT_FILES, files);
        }
        if self.config.hooks.is_empty() && self.chain.is_empty() && self.reader.errors() == 0 {
            let warning = Diagnostic::warning(format!("agent `{name}` has no hooks"));
            self.reader.report(node, warning);
        }
    }

    /// Refuses what nearly says `hooks`: which other keys an agent may have is not known here.
    fn misspelt_hooks(&mut self, fields: &Fields<'_>) {
        for (name, key, _) in fields.iter() {
            if name != "hooks" && suggest::closest(name, ["hooks"]).is_some() {
                let message = format!("unknown key `{name}` in an agent");
                self.reader.error_with_hint(key, message, "did you mean `hooks`?");
            }
        }
    }

    fn builtin(&mut self, node: &Node, event: Event, name: &str, args: Vec<String>) {
        let location = self.reader.location(node);
        let hook = Hook::new(event, "builtin", Command::Text(name.to_owned()));
        self.config.hooks.push(Hook { args, location, ..hook });
    }
}
