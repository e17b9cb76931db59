//! The hooks in a coding agent's settings, and what hooks.yaml has for them.

use std::path::Path;
use std::sync::Arc;

use hookexec::Event;
use hookexec::config::{Command, Diagnostic, Diagnostics, Severity};
use hookexec::internal::SourceFile;
use hookexec_agents::{Agent, ScriptWords};
use jsonc_parser::ast::{ObjectProp, Value as Node};

use super::command::{self, PLUGIN_ROOT};
use super::format::{Format, Target};
use super::http;
use super::json::Reader;
use super::matcher::{self, Alternatives};
use super::mcp::{self, Server};
use super::permissions;
use super::prompt;
use super::yaml::{self, Group, Hook};
use crate::settings::text::{self, EditError};

/// What an import comes to.
#[derive(Default)]
pub(super) struct Import {
    /// The groups of hooks, by event in the order in which the events first appear.
    pub(super) events: Vec<(Event, Vec<Group>)>,
    /// The MCP servers that hooks call.
    pub(super) servers: Vec<Server>,
    /// What can't be imported, as errors, and what is imported as something else.
    pub(super) problems: Diagnostics,
    /// How many entries that call hookexec were skipped.
    pub(super) own_entries: usize,
}

impl Import {
    /// Returns the groups of an event.
    pub(super) fn groups(&mut self, event: Event) -> &mut Vec<Group> {
        let place = self.events.iter().position(|(known, _)| *known == event);
        let place = place.unwrap_or_else(|| {
            self.events.push((event, Vec::new()));
            self.events.len() - 1
        });
        &mut self.events[place].1
    }
}

/// Keys of a hook that change nothing about what it does here.
const WITHOUT_EFFECT: [&str; 9] = [
    "statusMessage",
    "once",
    "description",
    "comment",
    "powershell",
    "windows",
    "show_output",
    "loop_limit",
    "sequential",
];
/// Keys of a hook that are read before the others.
const READ: [&str; 7] = ["type", "command", "bash", "linux", "osx", "exec", "matcher"];
/// A switch that agents have beside the hooks.
const SWITCHED_OFF: &str = "disableAllHooks";
/// Reads the `hooks` of an agent's settings file at `path`.
pub(super) fn read(format: Format, source: SourceFile, path: &Path) -> Result<Import, EditError> {
    let source = Arc::new(source);
    let mut importer = Importer {
        format,
        reader: Reader::new(&source),
        servers: mcp::Files::of(path, plugin_root(path).as_deref()),
        plugin: plugin_root(path),
        working_dir: None,
        names: Vec::new(),
        import: Import::default(),
    };
    let Some(Node::Object(root)) = text::parse(&source.text)? else {
        return Err(EditError("it is not a JSON object".to_owned()));
    };
    let find = |key: &str| root.properties.iter().find(|member| member.name.as_str() == key);
    let permissions = find("permissions").filter(|_| format.agent == Agent::ClaudeCode);
    let hooks = find("hooks");
    if hooks.is_none() && permissions.is_none() {
        return Err(EditError("it has no `hooks`".to_owned()));
    }
    let title = format.agent.title();
    if root.get_boolean(SWITCHED_OFF).is_some_and(|off| off.value) {
        let message = format!("`{SWITCHED_OFF}` is set: under {title} none of these hooks run");
        importer.reader.problems.push(Diagnostic::warning(message));
    }
    importer.working_dir = own_directory(format, path);
    if let Some(permissions) = permissions {
        for group in permissions::groups(&permissions.value, &mut importer.reader) {
            importer.add(Event::PreToolUse, Some(group));
        }
    }
    if let Some(hooks) = hooks {
        importer.events(&hooks.value);
    }
    Ok(Import { problems: importer.reader.problems, ..importer.import })
}

/// Returns the directory of the plugin that a `hooks/hooks.json` belongs to, absolute; `None` for
/// settings, which belong to no plugin.
fn plugin_root(path: &Path) -> Option<String> {
    let path = dunce::canonicalize(path).ok()?;
    let (file, directory) = (path.file_name()?.to_str()?, path.parent()?);
    if file.starts_with("settings") {
        return None;
    }
    let inside = ["hooks", ".claude-plugin"].iter().any(|name| directory.ends_with(name));
    let root = if inside { directory.parent()? } else { directory };
    root.to_str().map(str::to_owned)
}

/// Returns where the agent runs the hooks of the file, when that is not the project.
fn own_directory(format: Format, path: &Path) -> Option<String> {
    let directory = dunce::canonicalize(path).ok()?.parent()?.to_owned();
    let home = dunce::canonicalize(std::env::home_dir()?).ok()?;
    let is_users =
        format.import.runs_in_own_directory && directory.parent() == Some(home.as_path());
    is_users.then(|| directory.into_os_string().into_string().ok()).flatten()
}

struct Importer {
    format: Format,
    reader: Reader,
    plugin: Option<String>,
    servers: mcp::Files,
    working_dir: Option<String>,
    /// The names that hooks have got so far.
    names: Vec<String>,
    import: Import,
}

impl Importer {
    fn events(&mut self, node: &Node<'_>) {
        let Some(events) = self.reader.object(node, "`hooks`") else { return };
        for member in events {
            let name = member.name.as_str();
            let known = self.format.agent.events().iter().find(|native| native.name == name);
            let Some(native) = known else {
                self.reader.error(&member.name, format!("unknown event `{name}`"), "");
                continue;
            };
            let target = self.format.target(native);
            let target = target.map_err(|reason| self.reader.error(&member.name, reason, ""));
            let Ok(target) = target else { continue };
            for entry in self.reader.list(&member.value, &format!("`{name}`")) {
                let group = self.group(entry, &target);
                self.add(target.event, group);
            }
        }
    }

    /// Adds what of a group loads as it is written, and reports the rest.
    fn add(&mut self, event: Event, group: Option<Group>) {
        let Some(mut group) = group else { return };
        let hooks = std::mem::take(&mut group.hooks);
        let alone = |hook: Hook| Group { hooks: vec![hook], ..group.clone() };
        let any = Hook::new(group.line, "command", Command::Text("true".to_owned()));
        if !hooks.is_empty() && self.loads(group.line, yaml::problems(event, alone(any), &[])) {
            let mut sound = Vec::new();
            for hook in hooks {
                let problems = yaml::problems(event, alone(hook.clone()), &self.import.servers);
                if self.loads(hook.line, problems) {
                    sound.push(hook);
                }
            }
            group.hooks = sound;
        }
        if !group.hooks.is_empty() {
            self.import.groups(event).push(group);
        }
    }

    /// Reports the problems of what was written for a line, and returns whether there are none.
    fn loads(&mut self, line: usize, problems: Option<Diagnostics>) -> bool {
        let problems = problems.unwrap_or_default();
        for problem in problems.iter().filter(|problem| problem.severity == Severity::Error) {
            self.reader.error_on_line(line, problem.message.clone());
        }
        !problems.has_errors()
    }

    /// Reads hooks that share a matcher, or a hook that has a matcher of its own.
    fn group(&mut self, node: &Node<'_>, target: &Target) -> Option<Group> {
        let members = self.reader.object(node, "an entry")?;
        let find = |key: &str| members.iter().find(|member| member.name.as_str() == key);
        let mut group = Group {
            line: self.reader.line(node),
            matcher: target.kinds.clone(),
            condition: target.condition.map(str::to_owned),
            hooks: Vec::new(),
        };
        if let Some(member) = find("matcher") {
            self.matcher(&member.value, target, &mut group)?;
        }
        let mut hooks = vec![node];
        // VS Code reads the groups of Claude Code, too.
        if find("hooks").is_some() || self.format.has_groups() {
            hooks = find("hooks")
                .map(|list| self.reader.list(&list.value, "`hooks`"))
                .unwrap_or_default();
            let known = ["matcher", "hooks", "sequential", "description"];
            for member in members.iter().filter(|member| !known.contains(&member.name.as_str())) {
                self.reader.left_out(member);
            }
        }
        for hook in hooks {
            group.hooks.extend(self.hook(hook, target, group.matcher.as_deref()));
        }
        Some(group)
    }

    /// Says a matcher in our words: of tools as a matcher, of anything else as a condition.
    fn matcher(&mut self, node: &Node<'_>, target: &Target, group: &mut Group) -> Option<()> {
        let written = self.reader.string(node, "`matcher`")?;
        let alternatives = Alternatives::of(self.format.import.matching, &written);
        if matches!(alternatives, Alternatives::Everything) {
            return Some(());
        }
        let fields = matched_fields(self.format, target);
        if fields.is_empty() && !target.event.contract().tool_matched {
            // There is nothing that it could be about; the agents ignore it.
            return Some(());
        }
        let pattern = alternatives.pattern(self.format.agent);
        if let Some((message, hint)) = matcher::problem(self.format.agent, &written, &pattern) {
            self.reader.error(node, message, hint);
            return None;
        }
        if fields.is_empty() {
            group.matcher = Some(pattern);
            return Some(());
        }
        let test = match &alternatives {
            Alternatives::Names(names) => {
                let names: Vec<String> = names.iter().map(|name| yaml::inline(name)).collect();
                format!("in: [{}]", names.join(", "))
            }
            _ => format!("regex: {}", yaml::inline(&written)),
        };
        let leaves: Vec<String> =
            fields.iter().map(|field| format!("{{ field: {field}, {test} }}")).collect();
        let condition = match leaves.as_slice() {
            [leaf] => leaf.clone(),
            _ => format!("{{ any: [{}] }}", leaves.join(", ")),
        };
        group.condition = Some(match group.condition.take() {
            Some(other) => format!("{{ all: [{other}, {condition}] }}"),
            None => condition,
        });
        Some(())
    }

    fn hook(&mut self, node: &Node<'_>, target: &Target, matcher: Option<&str>) -> Option<Hook> {
        let members = self.reader.object(node, "a hook")?;
        let kind = self.kind(node, &members)?;
        let is_command = kind == "command";
        let text = if is_command { self.command_text(node, &members)? } else { String::new() };
        if command::is_ours(&text) {
            self.import.own_entries += 1;
            return None;
        }
        let mut hook = Hook::new(self.reader.line(node), kind, Command::Text(text.clone()));
        match kind {
            "http" => hook.set("with", http::parameters(&mut self.reader, node, &members)?),
            "model" => {
                hook.set("with", prompt::parameters(&mut self.reader, node, &members)?);
                hook.set("timeout", prompt::TIMEOUT);
            }
            "mcp" => {
                let (with, server) =
                    mcp::parameters(&mut self.reader, node, &members, &self.servers)?;
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
        for member in &members {
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
                let mut words = Vec::new();
                for word in self.reader.list(value, "`args`") {
                    words.push(self.reader.string(word, "an argument")?);
                }
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
                    self.reader.error(value, message, "");
                    return None;
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
                let message = "a permission rule in `if` can't be imported".to_owned();
                self.reader.error(value, message, hint);
                return None;
            }
            "asyncRewake" => {
                if self.reader.boolean(value, "`asyncRewake`")? {
                    let message = "nothing here wakes the model: `asyncRewake`".to_owned();
                    self.reader.error(value, message, &self.leave_it());
                    return None;
                }
            }
            known if WITHOUT_EFFECT.contains(&known) || READ.contains(&known) => {}
            _ => self.reader.left_out(member),
        }
        Some(())
    }

    /// Returns the type of a hook, and refuses one that hookexec does not run.
    fn kind(&mut self, node: &Node<'_>, members: &[&ObjectProp<'_>]) -> Option<&'static str> {
        let kind = members.iter().find(|member| member.name.as_str() == "type");
        let Some(kind) = kind.map(|member| &member.value) else {
            if !self.format.import.needs_type {
                return Some("command");
            }
            self.reader.error(node, "a hook needs a `type`".to_owned(), "");
            return None;
        };
        match kind.as_string_lit().map(|kind| kind.value.as_ref()) {
            Some("command") => Some("command"),
            Some("http") => Some("http"),
            Some("prompt") if self.format.agent == Agent::ClaudeCode => Some("model"),
            Some("mcp_tool") if self.format.agent == Agent::ClaudeCode => Some("mcp"),
            other => {
                let other = other.unwrap_or("not a string");
                let message = format!("a hook of type `{other}` can't be imported");
                self.reader.error(kind, message, &self.leave_it());
                None
            }
        }
    }

    fn leave_it(&self) -> String {
        format!("leave it in the settings of {}", self.format.agent.title())
    }

    /// Returns the command for this system.
    fn command_text(&mut self, node: &Node<'_>, members: &[&ObjectProp<'_>]) -> Option<String> {
        let find = |key: &&str| members.iter().find(|member| member.name.as_str() == *key);
        let Some(member) = self.format.import.command_keys.iter().find_map(find) else {
            self.reader.error(node, "a command hook needs a `command`".to_owned(), "");
            return None;
        };
        self.reader.string(&member.value, &format!("`{}`", member.name.as_str()))
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
        for member in self.reader.object(node, "`env`")? {
            let value = self.reader.string(&member.value, "a variable")?;
            variables.push((member.name.as_str().to_owned(), value));
        }
        Some(variables)
    }

    fn duration(&mut self, node: &Node<'_>) -> Option<String> {
        let number = node.as_number_lit().map(|number| number.value);
        let valid = number.filter(|text| text.parse().is_ok_and(|time: f64| time > 0.0));
        if valid.is_none() {
            let unit =
                if self.format.settings.counts_milliseconds() { "milliseconds" } else { "seconds" };
            let message = format!("`timeout` is not a valid number of {unit}: it must be above 0");
            self.reader.error(node, message, "");
        }
        let unit = if self.format.settings.counts_milliseconds() { "ms" } else { "" };
        valid.map(|number| format!("{number}{unit}"))
    }
}

/// Returns the fields that a matcher is about where it is not about the tool.
fn matched_fields(format: Format, target: &Target) -> &'static [&'static str] {
    match target.event {
        Event::PreToolUse | Event::PostToolUse
            if format.import.matches_commands && target.kinds.as_deref() == Some("shell") =>
        {
            &["tool_input.command", "tool_input.cmd"]
        }
        Event::SessionStart | Event::PreCompact | Event::AfterCompaction => &["source"],
        Event::SessionEnd | Event::OnError => &["reason"],
        Event::Notification => &["notification_type"],
        Event::SubagentStart | Event::SubagentStop => &["agent_type"],
        Event::OnToolApprovalDecision => &["tool_name"],
        _ => &[],
    }
}
