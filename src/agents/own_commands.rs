//! A model must not change which hooks run: its own calls of `hookexec trust add|remove`, `install`
//! and `uninstall` are denied.
//!
//! The guard finds a program word `hookexec` that is followed by these words. It sees no alias, no
//! script and no word that only a shell can build.

use serde_json::Value;

use super::read::NativeCall;
use crate::event::Event;
use crate::shell::{Word, read_script};
use crate::wire::{Decision, JsonObject, Verdict};

/// How deep `sh -c` may nest.
const MAX_DEPTH: usize = 4;

const MESSAGE: &str = "a coding agent must not change which hooks run: `hookexec trust add`, \
                       `trust remove`, `install` and `uninstall` are for a person";

/// Returns the denial of a call that would change which hooks run.
pub(super) fn denial(call: &NativeCall) -> Option<Verdict> {
    let event = call.event?;
    let runs_commands = call.input.tool_kinds.iter().any(|kind| kind == "shell");
    if !runs_commands || !matches!(event, Event::PreToolUse | Event::PermissionRequest) {
        return None;
    }
    call.input.tool_input.iter().flat_map(JsonObject::values).any(changes_hooks).then(|| {
        let mut verdict = Verdict::no_opinion(event);
        (verdict.decision, verdict.allowed) = (Some(Decision::Deny), false);
        verdict.message = Some(MESSAGE.to_owned());
        verdict
    })
}

/// Returns whether an argument of a shell tool has such a command: as a text, or as a list of words.
fn changes_hooks(argument: &Value) -> bool {
    match argument {
        Value::String(text) => in_text(text, 0),
        Value::Array(items) => {
            let words: Vec<Word> =
                items.iter().filter_map(Value::as_str).map(Word::literal).collect();
            in_words(&words, 0) || items.iter().any(changes_hooks)
        }
        Value::Object(fields) => fields.values().any(changes_hooks),
        _ => false,
    }
}

fn in_text(text: &str, depth: usize) -> bool {
    depth < MAX_DEPTH && read_script(text).commands.iter().any(|words| in_words(words, depth))
}

fn in_words(words: &[Word], depth: usize) -> bool {
    let at = |index: usize| {
        let mut rest = words[index + 1..].iter().map(|word| word.text.as_str());
        let mut next = || rest.find(|word| !word.starts_with('-'));
        match next() {
            Some("install" | "uninstall") => true,
            Some("trust") => matches!(next(), Some("add" | "remove")),
            _ => false,
        }
    };
    words.iter().enumerate().any(|(index, word)| {
        let is_ours = word.text.rsplit('/').next() == Some("hookexec");
        let before = index.checked_sub(1).map_or("", |before| &words[before].text);
        // The text of `sh -c`, of `eval` and their like.
        let is_text = before == "eval" || before.starts_with('-') && before.ends_with('c');
        is_ours && at(index) || is_text && in_text(&word.text, depth + 1)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_that_change_hooks_are_found() {
        for command in [
            "hookexec trust add",
            "cd x && ~/.cargo/bin/hookexec trust remove hooks.yaml",
            "yes | hookexec trust --help add",
            "hook''exec \"trust\" add --yes",
            "env -u CLAUDECODE hookexec trust add --yes",
            "sh -c 'hookexec uninstall codex'",
            "script -qc 'hookexec trust add' /dev/null",
            "eval 'hookexec trust add'",
            "hookexec tr''ust a\"d\"d",
            "bash <<E\nhookexec install claude-code\nE",
            "x=$(hookexec trust add)",
            "find . | xargs hookexec trust add",
        ] {
            assert!(changes_hooks(&json!(command)), "{command}");
        }
        assert!(changes_hooks(&json!(["bash", "-lc", "hookexec trust add"])));
        assert!(changes_hooks(&json!(["hookexec", "trust", "add"])));
    }

    #[test]
    fn other_commands_are_left_alone() {
        for command in [
            "hookexec trust",
            "hookexec trust show && hookexec check",
            "git commit -m 'hookexec install writes a backup'",
            "grep -rn 'hookexec trust add' docs",
            "cargo install hookexec",
            "npm install",
        ] {
            assert!(!changes_hooks(&json!(command)), "{command}");
        }
    }
}
