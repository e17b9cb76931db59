//! One hook of a coding agent's settings.

use std::collections::BTreeMap;

use hookexec::Event;
use hookexec::config::{Command, Diagnostic};
use hookexec::internal::reading::{At, Node};
use hookexec::section;
use hookexec_agents::{Agent, HookSettings, ScriptWords};
use serde_json::Value as Json;

use super::command::{self, PLUGIN_ROOT};
use super::settings::{Importer, Target};
use super::tree::{Mapping, Strict, cannot_import, made, required};
use super::{mcp, parameters};

section! {
    /// The keys of a hook.
    pub(super) HookKeys<'n>, "a hook":
    kind "type": At<'n, Strict>, "", "";
    name "name": Strict, "", "";
    command "command": Strict, "", "";
    args "args": Vec<String>, "", "";
    url "url": Strict, "", "";
    headers "headers": BTreeMap<String, String>, "", "";
    allowed "allowedEnvVars": Vec<String>, "", "";
    prompt "prompt": Strict, "", "";
    model "model": Strict, "", "";
    server "server": At<'n, Strict>, "", "";
    tool "tool": Strict, "", "";
    input "input": Json, "", "";
    timeout "timeout": At<'n, Json>, "", "";
    background "async": bool, "", "";
    wakes "asyncRewake": At<'n, bool>, "", "";
    shell "shell": At<'n, Strict>, "", "";
    env "env": BTreeMap<String, String>, "", "";
    failure "onFailure": Strict, "", "";
    rule "if": At<'n, Json>, "", "";
    status "statusMessage": Json, "", "changes nothing here, as the others below";
    once "once": Json, "", "";
    description "description": Json, "", "";
    comment "comment": Json, "", "";
}

impl<'n> Importer<'n> {
    /// Reads a hook below the event `target`; `None` for one that is left out.
    pub(super) fn hook(
        &mut self,
        node: &'n Node<'n>,
        target: &Target,
        matcher: &str,
    ) -> Option<Mapping<'n>> {
        let errors = self.import.reader.errors();
        let fields = self.import.reader.open_fields(node, "a hook")?;
        self.left_out(&fields, HookKeys::NAMES);
        let keys = HookKeys::of(&mut self.import.reader, fields);
        if self.import.reader.errors() > errors {
            return None;
        }
        let (kind, with) = self.kind(node, &keys)?;
        let command = if kind == "command" { Some(self.command(node, &keys)?) } else { None };
        if let Some(Command::Text(text)) = &command
            && command::is_ours(text)
        {
            self.import.own_entries += 1;
            return None;
        }
        self.refuse_unknown_meaning(&keys)?;
        let mut hook = Mapping::new(node.span.clone());
        hook.set("type", kind);
        let stem = command.as_ref().and_then(command::script_stem);
        if let Some(name) = keys.name.as_ref().map(|name| name.0.clone()).or(stem) {
            hook.set("name", name);
        }
        let is_claudes = match target.words {
            ScriptWords::ClaudeCode => true,
            ScriptWords::ClaudeCodeExceptPatches => !matcher.contains("apply_patch"),
            _ => false,
        };
        // A model reads any words.
        if is_claudes && kind != "model" {
            hook.set("dialect", "claude-code");
        }
        let may_block = target.event.contract().may_block;
        let env = self.environment(node, &keys, command.as_ref());
        let is_text = matches!(command, Some(Command::Text(_)));
        match command {
            Some(Command::Text(text)) => hook.set("command", text),
            Some(Command::Argv(words)) => hook.set("command", words),
            _ => {}
        }
        if keys.background == Some(true) {
            hook.set("background", true);
            if may_block {
                // What it answers comes too late there as well.
                hook.set("mode", "shadow");
            }
        }
        let shell = if keys.shell.is_some() { Some("bash") } else { self.format.shell };
        if let Some(shell) = shell.filter(|_| is_text) {
            hook.set("shell", shell);
        }
        if !env.is_empty() {
            hook.set("env", serde_json::json!(env));
        }
        if let Some(failure) = &keys.failure {
            let blocks = failure.0 == "block" && may_block;
            hook.set("on_error", if blocks { "block" } else { "warn" });
        }
        match (&keys.timeout, self.format.prompt_timeout) {
            (Some(timeout), _) => hook.put("timeout", self.timeout(timeout)?),
            _ if kind == "model" => hook.set("timeout", parameters::MODEL_TIMEOUT),
            (None, Some(seconds)) if target.event == Event::UserPromptSubmit => {
                hook.set("timeout", seconds);
            }
            _ => {}
        }
        if let Some(with) = with {
            hook.set("with", with);
        }
        Some(hook)
    }

    /// Returns the type of a hook and the parameters of one that runs no command; refuses a type that
    /// hookexec does not have.
    fn kind(
        &mut self,
        node: &Node<'_>,
        keys: &HookKeys<'_>,
    ) -> Option<(&'static str, Option<Json>)> {
        let reader = &mut self.import.reader;
        let kind = required(reader, node, keys.kind.as_ref(), "a hook needs a `type`")?;
        let is_claudes = self.agent == Agent::ClaudeCode;
        Some(match &*kind.value.0 {
            "command" => ("command", None),
            "http" => ("http", Some(parameters::http(reader, node, keys)?)),
            "prompt" if is_claudes => ("model", Some(parameters::model(reader, node, keys)?)),
            "mcp_tool" if is_claudes => (
                "mcp",
                Some(mcp::parameters(&mut self.import, node, keys, self.plugin.as_deref())?),
            ),
            other => return self.leave(kind.node, &format!("a hook of type `{other}`")),
        })
    }

    /// Returns what a hook runs.
    fn command(&mut self, node: &Node<'_>, keys: &HookKeys<'_>) -> Option<Command> {
        let message = "a command hook needs a `command`";
        let command = required(&mut self.import.reader, node, keys.command.as_ref(), message)?;
        let Some(args) = &keys.args else { return Some(Command::Text(command.0.clone())) };
        Some(command::program(&command.0, args))
    }

    /// Refuses the keys that would change what a hook does, and have no counterpart.
    fn refuse_unknown_meaning(&mut self, keys: &HookKeys<'_>) -> Option<()> {
        if let Some(rule) = &keys.rule {
            let hint = "let the script look at `tool_input`, or write a `when:` by hand";
            let what = "a permission rule in `if`";
            return cannot_import(&mut self.import.reader, rule.node, what, hint);
        }
        if let Some(At { node, value: true }) = keys.wakes {
            return self.leave(node, "a hook that wakes the model (`asyncRewake`)");
        }
        match &keys.shell {
            Some(At { node, value }) if value.0 != "bash" => {
                self.leave(node, &format!("the shell `{}`", value.0))
            }
            _ => Some(()),
        }
    }

    /// Refuses what works in the agent alone.
    fn leave<T>(&mut self, node: &Node<'_>, what: &str) -> Option<T> {
        let hint = format!("leave it in the settings of {}", self.agent.title());
        cannot_import(&mut self.import.reader, node, what, hint)
    }

    /// Returns the variables of a hook, with that of its plugin, which only its own agent sets.
    fn environment(
        &mut self,
        node: &Node<'_>,
        keys: &HookKeys<'_>,
        command: Option<&Command>,
    ) -> BTreeMap<String, String> {
        let mut env = keys.env.clone().unwrap_or_default();
        let names_plugin =
            matches!(command, Some(Command::Text(text)) if text.contains(PLUGIN_ROOT));
        if !names_plugin || env.contains_key(PLUGIN_ROOT) {
            return env;
        }
        let problem = if let Some(root) = &self.plugin {
            env.insert(PLUGIN_ROOT.to_owned(), root.clone());
            Diagnostic::warning(format!("`{PLUGIN_ROOT}` is taken to be {root}"))
                .hint("change it in the `env` of the hook if the plugin is somewhere else")
        } else {
            let hint = format!("add `env: {{ {PLUGIN_ROOT}: /path/of/the/plugin }}` to the hook");
            Diagnostic::warning(format!("it needs `{PLUGIN_ROOT}`, which only Claude Code sets"))
                .hint(hint)
        };
        self.import.reader.report(node, problem);
        env
    }

    fn timeout(&mut self, timeout: &At<'n, Json>) -> Option<Node<'n>> {
        let Json::Number(number) = &timeout.value else {
            return self.import.reader.expected("`timeout`", "a number", timeout.node);
        };
        if self.agent.settings().is_some_and(HookSettings::counts_milliseconds) {
            return Some(made(&format!("{number}ms").into(), &timeout.node.span));
        }
        Some(timeout.node.clone())
    }
}
