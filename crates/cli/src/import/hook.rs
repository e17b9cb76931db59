//! One hook of a coding agent's settings, and what hooks.yaml has for it.

use hookexec::Event;
use hookexec::config::{Command, Diagnostic};
use hookexec::internal::reading::{Fields, Node};
use hookexec_agents::{Agent, ScriptWords};

use super::command::{self, PLUGIN_ROOT};
use super::format::Target;
use super::json::{object, required, string};
use super::mcp;
use super::parameters;
use super::settings::Importer;
use super::yaml::Hook;
use serde_json::{Map, Value};

/// Keys of a hook that change nothing about what it does here.
const WITHOUT_EFFECT: [&str; 4] = ["statusMessage", "once", "description", "comment"];
/// Keys of a hook that are read before the others.
const READ: [&str; 2] = ["type", "command"];

impl Importer {
    /// Reads a hook below the event `target`.
    pub(super) fn hook<'n>(
        &mut self,
        node: &'n Node<'n>,
        target: &Target,
        matcher: Option<&str>,
    ) -> Option<Hook> {
        let members = object(&mut self.reader, node, "a hook")?;
        let kind = self.kind(node, &members)?;
        let text = match kind {
            "command" => required(&mut self.reader, node, &members, "command", "a command hook")?,
            _ => String::new(),
        };
        if command::is_ours(&text) {
            self.import.own_entries += 1;
            return None;
        }
        let command = Command::Text(text.clone());
        let mut hook = Hook::new(self.reader.location(node), kind, command);
        self.parameters(node, &members, &mut hook)?;
        self.defaults(target, matcher, &mut hook);
        let (mut name, mut env) = (None, Map::new());
        for (key, place, value) in members.iter() {
            match key {
                "name" => name = Some(string(&mut self.reader, value, "`name`")?),
                "url" | "headers" | "allowedEnvVars" if kind == "http" => {}
                "prompt" | "model" if kind == "model" => {}
                "server" | "tool" | "input" if kind == "mcp" => {}
                "env" => env = self.variables(value)?,
                _ => self.key((key, place), value, target, &mut hook)?,
            }
        }
        if let Command::Argv(words) = &mut hook.command {
            words.insert(0, text.clone());
            hook.command = command::program(std::mem::take(words));
        }
        self.plugin_variable(node, &text, &mut env);
        if !env.is_empty() {
            hook.set("env", env);
        }
        if matches!(hook.command, Command::Argv(_)) {
            hook.unset("shell");
        }
        if let Some(name) = name.or_else(|| command::script_stem(&hook.command)) {
            let name = self.unique(&name);
            hook.set("name", name);
        }
        Some(hook)
    }

    /// Reads the parameters of a hook that runs no command.
    fn parameters<'n>(
        &mut self,
        node: &'n Node<'n>,
        members: &Fields<'n>,
        hook: &mut Hook,
    ) -> Option<()> {
        let reader = &mut self.reader;
        match &*hook.kind {
            "http" => hook.set("with", parameters::http(reader, node, members)?),
            "model" => {
                hook.set("with", parameters::model(reader, node, members)?);
                hook.set("timeout", parameters::MODEL_TIMEOUT);
            }
            "mcp" => {
                let (with, server) = mcp::parameters(reader, node, members, &self.servers)?;
                hook.set("with", with);
                if self.import.servers.iter().all(|known| known.name != server.name) {
                    self.import.servers.push(server);
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Sets what holds in the agent for a hook that does not say otherwise.
    fn defaults(&self, target: &Target, matcher: Option<&str>, hook: &mut Hook) {
        let patches = matcher.is_some_and(|matcher| matcher.contains("apply_patch"));
        match target.words {
            // A model reads any words.
            _ if hook.kind == "model" => {}
            ScriptWords::ClaudeCode => hook.set("dialect", "claude-code"),
            ScriptWords::ClaudeCodeExceptPatches if !patches => hook.set("dialect", "claude-code"),
            _ => {}
        }
        let import = self.format.import;
        if hook.kind == "command"
            && let Some(shell) = import.shell
        {
            hook.set("shell", shell);
        }
        if let (Some(timeout), Event::UserPromptSubmit) = (import.prompt_timeout, target.event) {
            hook.set("timeout", timeout);
        }
    }

    /// Reads a key of a hook.
    fn key<'n>(
        &mut self,
        (key, place): (&str, &Node<'_>),
        value: &'n Node<'n>,
        target: &Target,
        hook: &mut Hook,
    ) -> Option<()> {
        let may_block = target.event.contract().may_block;
        match key {
            "args" => {
                hook.command = Command::Argv(self.reader.value(value, "`args`")?);
            }
            "timeout" => hook.set("timeout", self.duration(value)?),
            "async" => {
                if self.reader.value(value, "`async`")? {
                    hook.set("background", true);
                    if may_block {
                        // What it answers comes too late there as well.
                        hook.set("mode", "shadow");
                    }
                }
            }
            "shell" => {
                let shell = string(&mut self.reader, value, "`shell`")?;
                if shell != "bash" {
                    let message = format!("the shell `{shell}` can't be imported");
                    return self.reader.refuse(value, message);
                }
                hook.set("shell", shell);
            }
            "onFailure" => {
                let said = string(&mut self.reader, value, "`onFailure`")?;
                let blocks = said == "block" && may_block;
                hook.set("on_error", if blocks { "block" } else { "warn" });
            }
            "if" => {
                let hint = "let the script look at `tool_input`, or write a `when:` by hand";
                let message = "a permission rule in `if` can't be imported";
                return self.reader.refuse_with_hint(value, message, hint);
            }
            "asyncRewake" => {
                if self.reader.value(value, "`asyncRewake`")? {
                    return self.leave(value, "nothing here wakes the model: `asyncRewake`");
                }
            }
            known if WITHOUT_EFFECT.contains(&known) || READ.contains(&known) => {}
            _ => self.left_out(key, place),
        }
        Some(())
    }

    /// Returns the type of a hook, and refuses one that hookexec does not run.
    fn kind(&mut self, node: &Node<'_>, hook: &Fields<'_>) -> Option<&'static str> {
        let Some(kind) = hook.get("type") else {
            return self.reader.refuse(node, "a hook needs a `type`");
        };
        match kind.as_text() {
            Some("command") => Some("command"),
            Some("http") => Some("http"),
            Some("prompt") if self.format.agent == Agent::ClaudeCode => Some("model"),
            Some("mcp_tool") if self.format.agent == Agent::ClaudeCode => Some("mcp"),
            other => {
                let other = other.unwrap_or("not a string");
                self.leave(kind, &format!("a hook of type `{other}` can't be imported"))
            }
        }
    }

    /// Refuses what works in the agent alone.
    fn leave<T>(&mut self, node: &Node<'_>, message: &str) -> Option<T> {
        let hint = format!("leave it in the settings of {}", self.format.agent.title());
        self.reader.refuse_with_hint(node, message, hint)
    }

    /// Gives a hook of a plugin the variable that only its own agent sets.
    fn plugin_variable(&mut self, node: &Node<'_>, text: &str, env: &mut Map<String, Value>) {
        if !text.contains(PLUGIN_ROOT) || env.contains_key(PLUGIN_ROOT) {
            return;
        }
        let problem = if let Some(root) = &self.plugin {
            env.insert(PLUGIN_ROOT.to_owned(), root.clone().into());
            Diagnostic::warning(format!("`{PLUGIN_ROOT}` is taken to be {root}"))
                .hint("change it in the `env` of the hook if the plugin is somewhere else")
        } else {
            let hint = format!("add `env: {{ {PLUGIN_ROOT}: /path/of/the/plugin }}` to the hook");
            Diagnostic::warning(format!("it needs `{PLUGIN_ROOT}`, which only Claude Code sets"))
                .hint(hint)
        };
        self.reader.report(node, problem);
    }

    /// Returns a name that no other hook has.
    fn unique(&mut self, name: &str) -> String {
        let numbered = |number: usize| match number {
            1 => name.to_owned(),
            _ => format!("{name}-{number}"),
        };
        // One more than the names that there are is always free.
        let free = (1..=self.names.len() + 1).map(numbered).find(|it| !self.names.contains(it));
        let name = free.unwrap_or_default();
        self.names.push(name.clone());
        name
    }

    fn variables<'n>(&mut self, node: &'n Node<'n>) -> Option<Map<String, Value>> {
        let mut variables = Map::new();
        for (name, _, value) in object(&mut self.reader, node, "`env`")?.iter() {
            let value = string(&mut self.reader, value, "a variable")?;
            variables.insert(name.to_owned(), value.into());
        }
        Some(variables)
    }

    fn duration(&mut self, node: &Node<'_>) -> Option<Value> {
        let milliseconds = self.format.settings.counts_milliseconds();
        let words = if milliseconds { "milliseconds" } else { "seconds" };
        let number = node.as_number().filter(|it| it.as_f64().is_some_and(|time| time > 0.0));
        if let Some(number) = number {
            let number = number.clone();
            return Some(if milliseconds { format!("{number}ms").into() } else { number.into() });
        }
        let message = format!("`timeout` is not a valid number of {words}: it must be above 0");
        self.reader.refuse(node, message)
    }
}
