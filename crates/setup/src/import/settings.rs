//! The hooks in a coding agent's settings.

use std::collections::HashSet;
use std::fmt::Write as _;

use hookexec::Event;
use hookexec::config::Diagnostic;
use hookexec_agents::{Agent, HookSettings, ImportFormat, NativeEvent, is_own_program};
use hookexec_calls::commands_of_text;
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::Fields;
use serde_json::{Value as Json, json};

use super::block::Import;
use super::yaml::{consists_of, made, mapping, put, set};

/// Reads one settings file.
struct Importer<'i, 'n> {
    agent: Agent,
    format: &'static ImportFormat,
    import: &'i mut Import<'n>,
}

/// Returns how the hooks of an agent are imported, if they are.
pub(super) fn format(agent: Agent) -> Option<&'static ImportFormat> {
    agent.settings()?.import.as_ref()
}

/// Reads the hooks of a settings file. Returns `None` if it has none, which is reported.
pub(super) fn read<'n>(agent: Agent, import: &mut Import<'n>, root: &'n Node<'n>) -> Option<()> {
    let format = format(agent)?;
    let hooks = import.key(root, "hooks")?;
    import.timeout = Some(format.timeout);
    if let Some(permissions) = root.get("permissions") {
        let warning = Diagnostic::warning("`permissions` is left out")
            .hint("leave it in the settings; for other agents write hooks of `type: rule` by hand");
        import.reader.report(permissions, warning);
    }
    Importer { agent, format, import }.events(hooks)
}

impl<'n> Importer<'_, 'n> {
    /// Refuses what works in the agent alone, with what to do `instead`.
    fn leave<T>(&mut self, node: &Node<'_>, what: &str, instead: &str) -> Option<T> {
        let title = self.agent.title();
        let hint = format!("leave it in the settings of {title}, or {instead} by hand");
        self.import.reader.refuse_with_hint(node, format!("{what} can't be imported"), hint)
    }

    fn events(&mut self, node: &'n Node<'n>) -> Option<()> {
        let events = self.import.reader.open_fields(node, "`hooks`")?;
        for (name, key, entries) in events.iter() {
            if !is_comment(name)
                && let Some(native) = self.native(name, key)
                && let Some(entries) = self.import.reader.list(entries, &format!("`{name}`"))
            {
                for entry in entries {
                    let _ = self.group(entry, native);
                }
            }
        }
        Some(())
    }

    /// Returns an event of the agent, if its hooks can be imported.
    fn native(&mut self, name: &str, key: &Node<'_>) -> Option<&'static NativeEvent> {
        let reader = &mut self.import.reader;
        let Some(native) = self.agent.events().iter().find(|native| native.name == name) else {
            return reader.refuse(key, format!("unknown event `{name}`"));
        };
        for (refused, reason) in &self.format.not_importable {
            if *refused == name {
                let message = format!("hooks of `{name}` can't be imported: {reason}");
                return reader.refuse(key, message);
            }
        }
        if native.event.is_none() {
            let message = format!("hookexec has no event for `{name}`: {}", native.unmapped);
            return reader.refuse(key, message);
        }
        Some(native)
    }

    /// Adds hooks that share a matcher.
    fn group(&mut self, node: &'n Node<'n>, native: &NativeEvent) -> Option<()> {
        let fields = self.import.reader.open_fields(node, "an entry")?;
        for (name, key, _) in fields.iter() {
            if !["matcher", "hooks", "sequential", "description"].contains(&name) {
                self.warn_of_unknown(name, key);
            }
        }
        let Some(hooks) = fields.get("hooks") else {
            return self.import.reader.refuse(node, "an entry needs `hooks`");
        };
        let hooks = self.import.reader.list(hooks, "`hooks`")?;
        let (place, matcher) = match fields.get("matcher") {
            Some(value) => (value, self.import.reader.value(value, "`matcher`")?),
            None => (node, String::new()),
        };
        let (event, limits) = (native.event?, self.limits(place, &matcher, native)?);
        let is_claudes = self.format.speaks_claude(native, &matcher);
        for node in hooks {
            if let Some(hook) = self.hook(node, event, is_claudes) {
                self.import.add_hook(event, &limits, hook);
            }
        }
        Some(())
    }

    /// Says a matcher in our words: of tools as a `matcher`, of anything else as a `when`.
    fn limits(&mut self, at: &Node<'n>, matcher: &str, native: &NativeEvent) -> Option<Node<'n>> {
        let (event, mut limits) = (native.event?, mapping(&at.span));
        let mut conditions = Vec::from_iter(condition(self.agent, native, event));
        let names = names(self.agent, self.format.searches, matcher);
        let is_limited = !["", "*"].contains(&matcher);
        if let Some(field) = matched_field(event)
            && is_limited
        {
            conditions.push(match names {
                Some(names) => json!({ "field": field, "in": names }),
                None => json!({ "field": field, "regex": matcher }),
            });
        } else if event.contract().tool_matched && is_limited {
            if is_permission_rule(matcher) {
                let what = format!("the permission rule `{matcher}`, which matches no tool,");
                return self.leave(at, &what, "name the tool alone and write a `when:`");
            }
            set(&mut limits, "matcher", pattern(self.agent, names, matcher));
        }
        match conditions.len() {
            0 => {}
            1 => set(&mut limits, "when", conditions.remove(0)),
            _ => set(&mut limits, "when", json!({ "all": conditions })),
        }
        Some(limits)
    }

    /// Reads a hook of an event, whose script may speak Claude Code's dialect; `None` for one that is
    /// left out.
    fn hook(&mut self, node: &'n Node<'n>, event: Event, is_claudes: bool) -> Option<Node<'n>> {
        let fields = self.import.reader.open_fields(node, "a hook")?;
        let mut hook = mapping(&node.span);
        set(&mut hook, "type", self.kind(node, &fields)?);
        if is_claudes {
            set(&mut hook, "dialect", "claude-code");
        }
        let command = self.command(node, &fields)?;
        if let Json::String(text) = &command
            && is_ours(text)
        {
            self.import.own_entries += 1;
            return None;
        }
        set(&mut hook, "command", command);
        let written = self.import.reader.written(node);
        if written.contains("PLUGIN_ROOT") || written.contains("PLUGIN_DATA") {
            let what = "a hook that needs the directory of its plugin";
            return self.leave(node, what, "write that directory into it");
        }
        let in_milliseconds = self.agent.settings().is_some_and(HookSettings::counts_milliseconds);
        let mut shell = self.format.shell;
        for (name, key, value) in fields.iter() {
            let is_on = !matches!(value.value, Value::Bool(false));
            match name {
                "timeout" if in_milliseconds && value.as_number().is_some() => {
                    let limit = format!("{}ms", self.import.reader.written(value));
                    put(&mut hook, name, made(limit, &value.span));
                }
                "name" | "env" | "timeout" => put(&mut hook, name, value.clone()),
                "async" if is_on => {
                    put(&mut hook, "background", value.clone());
                    // Its decision comes too late there as well.
                    set(&mut hook, "mode", "shadow");
                    let lost = "what an `async` hook answers is left out: its context and messages are lost here";
                    let hint = "remove `async` if they count; the event then waits for the hook";
                    self.import.reader.report(key, Diagnostic::warning(lost).hint(hint));
                }
                "onFailure" if event.contract().may_block && value.as_text() == Some("block") => {
                    set(&mut hook, "on_error", "block");
                }
                "onFailure" => set(&mut hook, "on_error", "warn"),
                "shell" if value.as_text() == Some("bash") => shell = Some("bash"),
                "if" | "shell" | "asyncRewake" if is_on => {
                    let what = format!("the key `{name}` of a hook");
                    return self.leave(key, &what, "write a hook without it, or with `when:`");
                }
                "type" | "command" | "args" | "async" | "asyncRewake" | "statusMessage"
                | "once" | "description" => {}
                _ => self.warn_of_unknown(name, key),
            }
        }
        if let Some(shell) = shell
            && fields.get("args").is_none()
        {
            set(&mut hook, "shell", shell);
        }
        if let Some(seconds) = self.format.prompt_timeout
            && event == Event::UserPromptSubmit
            && fields.get("timeout").is_none()
        {
            set(&mut hook, "timeout", seconds);
        }
        Some(hook)
    }

    /// Returns the type of a hook, which is `command` for each that can be imported.
    fn kind(&mut self, node: &Node<'_>, fields: &Fields<'n>) -> Option<String> {
        let kind = self.text(node, fields, "type")?;
        let ours = match &*kind {
            "command" => return Some(kind),
            "http" => "http",
            "mcp_tool" => "mcp",
            "prompt" | "agent" => "model",
            _ => "command",
        };
        let instead = format!("write a hook of `type: {ours}`");
        self.leave(node, &format!("a hook of type `{kind}`"), &instead)
    }

    /// Returns what a hook runs.
    fn command(&mut self, node: &Node<'_>, fields: &Fields<'n>) -> Option<Json> {
        let program = self.text(node, fields, "command")?;
        let Some(arguments) = fields.get("args") else { return Some(program.into()) };
        let arguments = self.import.reader.value(arguments, "`args`")?;
        Some(command_of(program, arguments))
    }

    /// Returns the text of a key that each hook has.
    fn text(&mut self, node: &Node<'_>, fields: &Fields<'n>, name: &str) -> Option<String> {
        match fields.get(name) {
            Some(value) => self.import.reader.value(value, &format!("`{name}`")),
            None => self.import.reader.refuse(node, format!("a hook needs a `{name}`")),
        }
    }

    /// Warns of a key that hookexec does not know.
    fn warn_of_unknown(&mut self, name: &str, key: &Node<'_>) {
        if !is_comment(name) {
            let message = format!("unknown key `{name}`: it is left out");
            self.import.reader.report(key, Diagnostic::warning(message));
        }
    }
}

fn condition(agent: Agent, native: &NativeEvent, event: Event) -> Option<Json> {
    let failed = json!({ "field": "tool_error", "equals": true });
    match event {
        Event::PostToolUse if native.failed_tool => Some(failed),
        Event::PostToolUse if agent.events().iter().any(|native| native.failed_tool) => {
            Some(json!({ "not": failed }))
        }
        Event::OnToolApprovalDecision => {
            Some(json!({ "field": "approval_decision", "equals": "deny" }))
        }
        _ => None,
    }
}

/// Returns the field that a matcher is about where it is not about the tool.
fn matched_field(event: Event) -> Option<&'static str> {
    match event {
        Event::SessionStart | Event::PreCompact | Event::AfterCompaction => Some("source"),
        Event::SessionEnd | Event::OnError => Some("reason"),
        Event::Notification => Some("notification_type"),
        Event::SubagentStart | Event::SubagentStop => Some("agent_type"),
        Event::OnToolApprovalDecision => Some("tool_name"),
        _ => None,
    }
}

/// Returns whether a key is a comment, as people write them into JSON.
fn is_comment(key: &str) -> bool {
    key.starts_with("//") || key.starts_with(['$', '_', '#'])
}

/// Returns the names that a matcher lists; `None` for an expression, which is searched for.
fn names(agent: Agent, searches: bool, matcher: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for name in matcher.split(['|', ',']).map(str::trim) {
        let is_tool = agent.toolset().named().any(|(tool, _)| tool == name);
        let is_name = !searches && consists_of(name, "_- ");
        if !is_tool && !is_name {
            return None;
        }
        if !name.is_empty() {
            names.push(name.to_owned());
        }
    }
    Some(names)
}

/// Returns an expression that matches the whole name of each tool that a matcher matches, and under
/// other agents the kinds of the tools. Claude Code's names need none: its dialect knows what each tool
/// is called there.
fn pattern(agent: Agent, names: Option<Vec<String>>, matcher: &str) -> String {
    let Some(names) = names else { return format!(".*(?:{matcher}).*") };
    let mut all = Vec::new();
    for name in names {
        let kinds = if agent == Agent::ClaudeCode { Vec::new() } else { agent.tool_kinds(&name) };
        all.push(name);
        all.extend(kinds);
    }
    let mut seen = HashSet::new();
    all.retain(|name| seen.insert(name.clone()));
    all.join("|")
}

/// Returns whether a matcher is written like a rule of `permissions`: `Bash(git push:*)`.
fn is_permission_rule(matcher: &str) -> bool {
    matcher.starts_with(|first: char| first.is_ascii_alphabetic())
        && matcher.ends_with(')')
        && !matcher.contains('|')
}

/// The variable that Claude Code puts into arguments.
const PROJECT: &str = "${CLAUDE_PROJECT_DIR}";

/// Returns whether a command runs `hookexec run`, as the entries do that `install` writes.
fn is_ours(command: &str) -> bool {
    for command in commands_of_text(command) {
        for pair in command.words.windows(2) {
            let program = pair[0].text.rsplit('/').next().unwrap_or_default();
            if is_own_program(program) && pair[1].text == "run" {
                return true;
            }
        }
    }
    false
}

/// Returns the command of a hook with the arguments beside it: words, or a shell's command where Claude
/// Code puts the project's directory into them.
fn command_of(program: String, arguments: Vec<String>) -> Json {
    if arguments.is_empty() {
        return program.into();
    }
    let mut words = vec![program];
    words.extend(arguments);
    if !words.iter().any(|word| word.contains(PROJECT)) {
        return words.into();
    }
    let mut command = String::from("exec");
    for word in words {
        let word = word.replace('\'', r"'\''").replace(PROJECT, &format!("'\"{PROJECT}\"'"));
        let _ = write!(command, " '{word}'");
    }
    command.into()
}

#[cfg(test)]
mod tests {
    use hookexec::matcher::Matcher;

    use super::*;

    #[test]
    fn an_expression_is_found_anywhere_in_a_name() {
        for (expression, name, expected) in [
            ("mcp__memory__.*", "mcp__memory__store", true),
            ("mcp__.*__write.*", "mcp__fs__write_file", true),
            ("^Bash$", "Bash", true),
            ("^Bash$", "BashOutput", false),
            ("Bash.", "BashOutput", true),
            ("Edit|Write.*", "MultiEdit", true),
            ("Notebook.*|^Edit$", "Edit", true),
            ("a*", "b", true),
            ("(Web)+", "WebFetch", true),
        ] {
            let pattern = pattern(Agent::ClaudeCode, None, expression);
            let matches = Matcher::new(&pattern).unwrap().matches(name);
            assert_eq!(matches, expected, "{expression} as {pattern}: {name}");
        }
    }

    #[test]
    fn a_name_of_another_agent_brings_its_kinds() {
        for (agent, searches, matcher, expected) in [
            (Agent::ClaudeCode, false, "Edit, Write", "Edit|Write"),
            (Agent::Gemini, true, "run_shell_command", "run_shell_command|shell"),
            (Agent::Gemini, true, "write_", ".*(?:write_).*"),
        ] {
            let names = names(agent, searches, matcher);
            assert_eq!(pattern(agent, names, matcher), expected);
        }
    }

    #[test]
    fn a_permission_rule_is_not_an_expression() {
        for (matcher, expected) in [
            ("Bash(git push:*)", true),
            ("Write(/etc/**)", true),
            ("Bash(*)", true),
            ("(Web)+", false),
            ("Notebook(Edit|Read)", false),
            ("mcp__(fs|db)__.*", false),
            ("Task(Create|Update)", false),
        ] {
            assert_eq!(is_permission_rule(matcher), expected, "{matcher}");
        }
    }

    #[test]
    fn a_program_with_paths_of_claude_code_goes_through_a_shell() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(command_of("a".to_owned(), words("b")), serde_json::json!(["a", "b"]));
        assert_eq!(
            command_of("${CLAUDE_PROJECT_DIR}/a".to_owned(), words("$b \"c")),
            r#"exec ''"${CLAUDE_PROJECT_DIR}"'/a' '$b' '"c'"#
        );
    }

    #[test]
    fn entries_of_our_own_are_told_from_others() {
        for (command, expected) in [
            ("/home/me/.cargo/bin/hookexec run --from claude-code --event Stop --within 54", true),
            ("'/a b/hookexec' run --from codex --event Stop || { exit 2; }", true),
            ("hookexec run pre_tool_use", true),
            ("hookexec check", false),
            ("./my-hookexec run", false),
        ] {
            assert_eq!(is_ours(command), expected, "{command}");
        }
    }
}
