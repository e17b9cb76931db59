//! One hook of a coding agent's settings, and what hooks.yaml has for it.

use hookexec::Event;
use hookexec::config::Command;
use hookexec_agents::{Agent, ScriptWords};
use jsonc_parser::ast::{ObjectProp, Value as Node};

use super::command::{self, PLUGIN_ROOT};
use super::format::Target;
use super::http;
use super::json::Members;
use super::mcp;
use super::prompt;
use super::settings::Importer;
use super::yaml::{self, Hook};

/// Keys of a hook that change nothing about what it does here.
const WITHOUT_EFFECT: [&str; 9] = [
    "statusMessage", "once", "description", "comment", "powershell", "windows", "show_output",
    "loop_limit", "sequential",
];
/// Keys of a hook that are read before the others.
const READ: [&str; 7] = ["type", "command", "bash", "linux", "osx", "exec", "matcher"];

impl Importer {
    /// Reads a hook below the event `target`.
    pub(super) fn hook(
        &mut self,
        node: &Node<'_>,
        target: &Target,
        matcher: Option<&str>,
    ) -> Option<Hook> {
        let members = self.reader.object(node, "a hook")?;
        let kind = self.kind(&members)?;
        let is_command = kind == "command";
        let text = if is_command { self.command_text(&members)? } else { String::new() };
        if command::is_ours(&text) {
            self.import.own_entries += 1;
            return None;
        }
        let mut hook = Hook::new(self.reader.line(node), kind, Command::Text(text.clone()));
        match kind {
            "http" => hook.set("with", http::parameters(&mut self.reader, &members)?),
            "model" => {
                hook.set("with", prompt::parameters(&mut self.reader, &members)?);
                hook.set("timeout", prompt::TIMEOUT);
            }
            "mcp" => {
                let (with, server) = mcp::parameters(&mut self.reader, &members, &self.servers)?;
                hook.set("with", with);
                if self.import.servers.iter().all(|known| known.name != server.name) {
                    self.import.servers.push(server);
                }
            }
            _ => {}
        }
        let patches = matcher.is_some_and(|matcher| matcher.contains("apply_patch"));
        match target.words {
            // A model reads any words.
            _ if kind == "model" => {}
            ScriptWords::ClaudeCode => hook.set("dialect", "claude-code"),
            ScriptWords::ClaudeCodeExceptPatches if !patches => hook.set("dialect", "claude-code"),
            _ => {}
        }
        let import = self.format.import;
        if let Some(shell) = import.shell.filter(|_| is_command) {
            hook.set("shell", shell);
        }
        if let Some(timeout) =
            import.prompt_timeout.filter(|_| target.event == Event::UserPromptSubmit)
        {
            hook.set("timeout", timeout);
        }
        if import.any_failure_denies && target.event == Event::PreToolUse {
            hook.set("on_error", "block");
        }
        if let Some(directory) = self.working_dir.as_ref().filter(|_| is_command) {
            hook.set("working_dir", yaml::inline(directory));
        }
        let (mut name, mut env) = (None, Vec::new());
        for member in members.iter() {
            match member.name.as_str() {
                "name" => name = Some(self.reader.string(&member.value, "`name`")?),
                "url" | "headers" | "allowedEnvVars" if kind == "http" => {}
                "prompt" | "model" if kind == "model" => {}
                "server" | "tool" | "input" if kind == "mcp" => {}
                "env" => env = self.variables(&member.value)?,
                _ => self.key(member, target, &mut hook)?,
            }
        }
        if let Command::Argv(words) = &mut hook.command {
            words.insert(0, text.clone());
            hook.command = command::program(std::mem::take(words));
        }
        self.plugin_variable(node, &text, &mut env);
        if !env.is_empty() {
            hook.set("env", yaml::mapping(env.iter().map(|(name, value)| (name, value))));
        }
        if matches!(hook.command, Command::Argv(_)) {
            hook.unset("shell");
        }
        if target.words == ScriptWords::Foreign {
            hook.set("enabled", "false");
            let title = self.format.agent.title();
            let message = format!(
                "the script reads and answers words of {title} that hookexec does not speak: the hook is \
                 imported switched off"
            );
            let hint = "adapt the script to docs/events.md (`hookexec docs events`), then take \
                        `enabled: false` out";
            self.reader.warning(node, message, hint);
        }
        if let Some(name) = name.or_else(|| command::script_stem(&hook.command)) {
            let name = self.unique(&name);
            hook.set("name", yaml::inline(&name));
        }
        Some(hook)
    }

    /// Reads a key of a hook.
    fn key(&mut self, member: &ObjectProp<'_>, target: &Target, hook: &mut Hook) -> Option<()> {
        let (key, value) = (member.name.as_str(), &member.value);
        let may_block = target.event.contract().may_block;
        match key {
            "args" => {
                let words = self.reader.strings(value, "`args`", "an argument")?;
                hook.command = Command::Argv(words);
            }
            "timeout" | "timeoutSec" => hook.set("timeout", self.duration(value)?),
            "async" => {
                if self.reader.boolean(value, "`async`")? {
                    hook.set("background", "true");
                    if may_block {
                        // What it answers comes too late there as well.
                        hook.set("mode", "shadow");
                    }
                }
            }
            "shell" => {
                let shell = self.reader.string(value, "`shell`")?;
                if shell != "bash" {
                    let message = format!("the shell `{shell}` can't be imported");
                    return self.reader.refuse(value, message, "");
                }
                hook.set("shell", shell);
            }
            "onFailure" => {
                let blocks = self.reader.string(value, "`onFailure`")? == "block" && may_block;
                hook.set("on_error", if blocks { "block" } else { "warn" });
            }
            "failClosed" => {
                if self.reader.boolean(value, "`failClosed`")? && may_block {
                    hook.set("on_error", "block");
                }
            }
            "cwd" | "working_directory" => {
                let directory = self.reader.string(value, &format!("`{key}`"))?;
                hook.set("working_dir", yaml::inline(&directory));
            }
            "if" => {
                let hint = "let the script look at `tool_input`, or write a `when:` by hand";
                let message = "a permission rule in `if` can't be imported";
                return self.reader.refuse(value, message, hint);
            }
            "asyncRewake" => {
                if self.reader.boolean(value, "`asyncRewake`")? {
                    let message = "nothing here wakes the model: `asyncRewake`";
                    return self.reader.refuse(value, message, &self.leave_it());
                }
            }
            known if WITHOUT_EFFECT.contains(&known) || READ.contains(&known) => {}
            _ => self.reader.left_out(member),
        }
        Some(())
    }

    /// Returns the type of a hook, and refuses one that hookexec does not run.
    fn kind(&mut self, hook: &Members<'_, '_>) -> Option<&'static str> {
        let Some(kind) = hook.get("type") else {
            if !self.format.import.needs_type {
                return Some("command");
            }
            return self.reader.refuse(hook.node, "a hook needs a `type`", "");
        };
        match kind.as_string_lit().map(|kind| kind.value.as_ref()) {
            Some("command") => Some("command"),
            Some("http") => Some("http"),
            Some("prompt") if self.format.agent == Agent::ClaudeCode => Some("model"),
            Some("mcp_tool") if self.format.agent == Agent::ClaudeCode => Some("mcp"),
            other => {
                let other = other.unwrap_or("not a string");
                let message = format!("a hook of type `{other}` can't be imported");
                self.reader.refuse(kind, message, &self.leave_it())
            }
        }
    }

    fn leave_it(&self) -> String {
        format!("leave it in the settings of {}", self.format.agent.title())
    }

    /// Returns the command for this system.
    fn command_text(&mut self, hook: &Members<'_, '_>) -> Option<String> {
        let mut keys = self.format.import.command_keys.iter();
        let Some((key, text)) = keys.find_map(|key| Some((key, hook.get(key)?))) else {
            return self.reader.refuse(hook.node, "a command hook needs a `command`", "");
        };
        self.reader.string(text, &format!("`{key}`"))
    }

    /// Gives a hook of a plugin the variable that only its own agent sets.
    fn plugin_variable(&mut self, node: &Node<'_>, text: &str, env: &mut Vec<(String, String)>) {
        if !text.contains(PLUGIN_ROOT) || env.iter().any(|(name, _)| name == PLUGIN_ROOT) {
            return;
        }
        if let Some(root) = &self.plugin {
            let message = format!("`{PLUGIN_ROOT}` is taken to be {root}");
            let hint = "change it in the `env` of the hook if the plugin is somewhere else";
            env.push((PLUGIN_ROOT.to_owned(), root.clone()));
            self.reader.warning(node, message, hint);
        } else {
            let message = format!("it needs `{PLUGIN_ROOT}`, which only Claude Code sets");
            let hint = format!("add `env: {{ {PLUGIN_ROOT}: /path/of/the/plugin }}` to the hook");
            self.reader.warning(node, message, &hint);
        }
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

    fn variables(&mut self, node: &Node<'_>) -> Option<Vec<(String, String)>> {
        let mut variables = Vec::new();
        for member in self.reader.object(node, "`env`")?.iter() {
            let value = self.reader.string(&member.value, "a variable")?;
            variables.push((member.name.as_str().to_owned(), value));
        }
        Some(variables)
    }

    fn duration(&mut self, node: &Node<'_>) -> Option<String> {
        let milliseconds = self.format.settings.counts_milliseconds();
        let (words, unit) = if milliseconds { ("milliseconds", "ms") } else { ("seconds", "") };
        let number = node.as_number_lit().map(|number| number.value);
        if let Some(number) = number.filter(|it| it.parse().is_ok_and(|time: f64| time > 0.0)) {
            return Some(format!("{number}{unit}"));
        }
        let message = format!("`timeout` is not a valid number of {words}: it must be above 0");
        self.reader.refuse(node, message, "")
    }
}
