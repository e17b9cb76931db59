//! One hook of a coding agent's settings.

use std::fmt::Write as _;

use hookexec::Event;
use hookexec::config::Diagnostic;
use hookexec_agents::{HookSettings, is_own_program};
use hookexec_calls::{Word, commands_of_text};
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::Fields;
use serde_json::Value as Json;

use super::settings::Importer;
use super::tree::{made, mapping, put, set};

impl<'n> Importer<'_, 'n> {
    /// Reads a hook of an event, whose script may speak Claude Code's dialect; `None` for one that is
    /// left out.
    pub(super) fn hook(
        &mut self,
        node: &'n Node<'n>,
        event: Event,
        is_claudes: bool,
    ) -> Option<Node<'n>> {
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
                "name" | "env" => put(&mut hook, name, value.clone()),
                "timeout" => match &value.value {
                    Value::Number(number) if in_milliseconds => {
                        put(&mut hook, name, made(format!("{number}ms"), &value.span));
                    }
                    _ => put(&mut hook, name, value.clone()),
                },
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
}

/// The variable that Claude Code puts into arguments.
const PROJECT: &str = "${CLAUDE_PROJECT_DIR}";

/// Returns whether a command runs `hookexec run`, as the entries do that `install` writes.
fn is_ours(command: &str) -> bool {
    for command in commands_of_text(command) {
        if command.words.windows(2).any(calls_hookexec) {
            return true;
        }
    }
    false
}

fn calls_hookexec(pair: &[Word]) -> bool {
    let program = pair[0].text.rsplit('/').next().unwrap_or_default();
    is_own_program(program) && pair[1].text == "run"
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
    use super::*;

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
