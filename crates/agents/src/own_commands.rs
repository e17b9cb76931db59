//! A model must not change which hooks run, or answer in the user's place: its own calls of the
//! commands in [`FOR_A_PERSON`] are denied.
//!
//! The guard denies a command that contains the word `hookexec` and, after it, the words of one of
//! these commands. Quotes and the program do not matter. It also denies a call of `hookexec` of
//! which a word that decides is not known beforehand. A call is allowed if it runs only programs
//! that take texts, such as `git commit` and `grep`. The guard expands nothing: it does not see
//! aliases and scripts. These commands refuse to run where they see an agent's variables.

use serde_json::Value;

use super::read::NativeCall;
use hookexec::event::Event;
use hookexec::wire::{Decision, Input, JsonObject, Verdict};
use hookexec_builtins::shell::{
    Script, ScriptCommand, Word, is_command_of_server, read_script, unquoted,
};

/// The commands that only a person may run: each subcommand, and the words of which one must follow;
/// without such words the subcommand as a whole.
///
/// A test of the command holds this table and the table of subcommands together.
pub const FOR_A_PERSON: &[(&str, &[&str])] = &[
    ("install", &[]),
    ("uninstall", &[]),
    ("approve", &[]),
    ("trust", &["add", "remove"]),
    ("policy", &["refresh"]),
    ("init", CHANGES_OF_INIT),
];

/// The options and names with which `init` changes a file that is there, or one outside of the
/// project.
const CHANGES_OF_INIT: &[&str] = &[
    "--user", "--remove", "--output", "--directory", "approve", "budget", "commit-message",
    "databases", "force-push", "format", "log", "main-branch", "mcp-allow-list", "notify",
    "read-only", "secrets", "subagents", "team", "tests-before-stop", "never", "loss", "outside",
    "machine",
];

/// Programs that run nothing of their arguments; with a second word, only that subcommand.
const TAKE_TEXTS: [&str; 19] = [
    "cat", "cd", "echo", "gh issue", "gh pr", "git add", "git commit", "git diff", "git log",
    "git show", "git status", "git tag", "grep", "head", "ls", "pwd", "rg", "tail", "wc",
];

const MESSAGE: &str = "a coding agent must not change which hooks run, or answer for a person: \
                       `hookexec trust add`, `trust remove`, `policy refresh`, `install`, \
                       `uninstall`, `approve`, and `init` with a name, `--user`, `--remove`, \
                       `--output` or `--directory` are for a person in a terminal. Write out each \
                       word of another command of hookexec. To only write about them, edit a file, \
                       or use a call of nothing but `git commit`, `grep`, `echo` and the like";

/// Returns the denial of a call that would run one of these commands, by its input as it came or as
/// hooks rewrote it.
pub(super) fn denial(call: &NativeCall, input: &Input) -> Option<Verdict> {
    let event = call.event?;
    let arguments = input.tool_input.as_ref()?;
    // The kinds leave out one that equals the tool's name.
    let runs_commands = input.tool() == "shell"
        || input.tool_kinds.iter().any(|kind| kind == "shell")
        || arguments.keys().any(|key| is_command_of_server(input.tool(), key));
    let is_before = matches!(event, Event::PreToolUse | Event::PermissionRequest);
    if !runs_commands || !is_before || !object_changes_hooks(arguments) {
        return None;
    }
    let mut verdict = Verdict::no_opinion(event);
    (verdict.decision, verdict.allowed) = (Some(Decision::Deny), false);
    verdict.message = Some(MESSAGE.to_owned());
    Some(verdict)
}

/// Returns whether an argument of a shell tool has such a command: as a text, or as a list of
/// words.
fn changes_hooks(argument: &Value) -> bool {
    match argument {
        Value::String(text) => text_changes_hooks(text),
        Value::Array(items) => list_changes_hooks(items),
        Value::Object(fields) => object_changes_hooks(fields),
        _ => false,
    }
}

fn list_changes_hooks(items: &[Value]) -> bool {
    let mut words = Vec::new();
    for item in items {
        match item.as_str() {
            Some(word) => words.push(word),
            None if changes_hooks(item) => return true,
            None => {}
        }
    }
    match *words {
        ["bash" | "sh" | "zsh", "-c" | "-lc", text] => text_changes_hooks(text),
        _ => has_command(&words.join(" ")),
    }
}

/// Looks at each argument, and at a program together with the arguments beside it.
fn object_changes_hooks(fields: &JsonObject) -> bool {
    let names_program = fields.values().any(is_own_path);
    for value in fields.values() {
        if changes_hooks(value) || names_program && has_command(&format!("hookexec {value}")) {
            return true;
        }
    }
    false
}

fn is_own_path(value: &Value) -> bool {
    is_own_file(value.as_str().unwrap_or_default().trim())
}

fn is_own_file(path: &str) -> bool {
    is_own_program(path.rsplit('/').next().unwrap_or_default())
}

fn text_changes_hooks(text: &str) -> bool {
    let script = read_script(text);
    if takes_only_texts(&script) {
        return false;
    }
    if !script.understood && has_command(text) || built_elsewhere(&script) {
        return true;
    }
    script.commands.iter().any(|command| has_command(&joined(&command.words)))
        || script.redirected.iter().any(|word| has_command(&word.text))
}

/// Returns whether a command whose program or arguments come from other words of the text may be such
/// a command: `$(which hookexec) trust add`, `echo add | xargs hookexec trust`.
fn built_elsewhere(script: &Script) -> bool {
    let all = joined(script.words());
    if !names_us(&all) {
        return false;
    }
    for command in &script.commands {
        let words = &command.words;
        let own = joined(words);
        let is_xargs = words.iter().any(|word| word.text.rsplit('/').next() == Some("xargs"));
        let program = words.iter().find(|word| !word.is_assignment());
        let is_built = program.is_some_and(|program| !program.literal);
        let gets_words = is_xargs && names_us(&own) && has_command(&format!("{own} {all}"));
        let is_ours = (is_xargs || is_built) && has_command(&format!("hookexec {own}"));
        if gets_words || is_ours {
            return true;
        }
        for (at, word) in words.iter().enumerate() {
            let is_us = is_own_file(&word.text) || is_built && Some(word) == program;
            let is_run = Some(word) == program || is_xargs || command.runs_next || command.hides;
            if is_us && is_run && may_become_one(&words[at + 1..], is_xargs) {
                return true;
            }
        }
    }
    false
}

/// Returns whether the words behind our program may come to be one of these commands: one that decides
/// is not known, or there are `more` behind them.
fn may_become_one(words: &[Word], more: bool) -> bool {
    let Some((first, rest)) = words.split_first() else { return more };
    let may_be_ours = first.text.starts_with('-')
        || FOR_A_PERSON.iter().any(|(command, _)| *command == first.text);
    !first.literal || may_be_ours && (more || rest.iter().any(|word| !word.literal))
}

fn names_us(text: &str) -> bool {
    words_of(text).any(is_own_program)
}

fn joined<'w>(words: impl IntoIterator<Item = &'w Word>) -> String {
    let mut text = String::new();
    for word in words {
        text.push_str(&word.text);
        text.push(' ');
    }
    text
}

fn takes_only_texts(script: &Script) -> bool {
    for ScriptCommand { words, .. } in &script.commands {
        let [program, rest @ ..] = words.as_slice() else { return false };
        let next = rest.first().map_or("", |word| &word.text);
        let with_next = format!("{} {next}", program.text);
        if !TAKE_TEXTS.contains(&&*program.text) && !TAKE_TEXTS.contains(&&*with_next) {
            return false;
        }
    }
    script.understood
}

/// Returns whether the words of `text`, quotes removed, have such a command.
fn has_command(text: &str) -> bool {
    let plain = unquoted(&text.replace("\\\n", ""));
    let mut words = words_of(&plain);
    if !words.any(is_own_program) {
        return false;
    }
    let rest: Vec<&str> = words.collect();
    for (command, following) in FOR_A_PERSON {
        if let Some(place) = rest.iter().position(|word| word == command)
            && (following.is_empty() || rest[place..].iter().any(|word| following.contains(word)))
        {
            return true;
        }
    }
    false
}

/// Splits at everything that is not part of a name, so that each part of a path is a word.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && !"_-.".contains(letter))
        .filter(|word| !word.is_empty())
}

/// Returns whether a file is the command by its name, which may end in a version
/// (`hookexec-1.2.3`).
///
/// The case does not matter: some file systems ignore it.
pub fn is_own_program(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let Some(rest) = name.strip_prefix("hookexec") else { return false };
    // Behind the number of a version there may be more: `-rc.1`.
    let version = rest.trim_start_matches(['-', '_', 'v', '.']);
    version.is_empty() || version.starts_with(|first: char| first.is_ascii_digit())
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
            "hookexec trust --cwd 'a;b' >/dev/null add",
            "sh -ce 'hookexec trust add --yes'",
            "bash -c -e 'hookexec trust add'",
            "bash -ceu -- 'hookexec trust add'",
            "bash <<< 'hookexec trust add'",
            "echo 'hookexec trust add' | sh",
            "echo 'hookexec trust add' > >(sh)",
            "echo 'hookexec trust add' && sh x",
            "cat <<E | sh\nit's\nhookexec trust add\nE",
            "env -S 'hookexec trust add'",
            "trap 'hookexec trust add' EXIT",
            "watch 'hookexec trust add'",
            "ssh localhost 'hookexec trust add'",
            "sh -ce \"sh -ce 'hook\\\"\\\"exec trust add'\"",
            "sh -ce 'hookexec \\\n trust add'",
            "python3 -c 'import os; os.system(\"hookexec trust add\")'",
            "python3 -c 'subprocess.run([\"hookexec\", \"trust\", \"add\"])'",
            "{hookexec,trust,add}",
            "GIT_EDITOR='hookexec trust add #' git commit",
            "git -c alias.x='!hookexec trust add' x",
            "git rebase --exec='hookexec uninstall codex' main",
            "git commit -m \"$(hookexec trust add)\"",
            "echo ${x:-$(hookexec trust add)}",
            "echo x > \"${x:-`hookexec trust add`}\"",
            "printf -v 'a[$(hookexec trust add)]' 1",
            "echo <# a #>; hookexec trust add",
            "HookExec trust add",
            "$(which hookexec) trust add",
            "\"$(command -v hookexec)\" trust add",
            "`which hookexec` uninstall codex",
            "echo add | xargs hookexec trust",
            "xargs hookexec <<< 'trust add'",
            "ls /usr/bin/hookexec | xargs -I{} {} trust add",
            "~/bin/hookexec-0.1 trust add",
            "hookexec.exe trust add",
            "~/.local/share/hookexec/bin/hookexec-1.2.3-rc.1 uninstall codex",
            "npx hookexec@latest uninstall codex",
            "python3 -m hookexec install codex",
            "sudo hookexec policy refresh",
            "sh -c 'hookexec policy refresh'",
            "hookexec approve",
            "script -qc 'hookexec approve --listen x' /dev/null",
            "hookexec approve allow 7f3a9c21",
            "hookexec init --user",
            "cd x && hookexec init --directory x --user",
            "hookexec init --from claude-code:.claude/settings.json --user",
            "sh -c 'hookexec \"init\" --us''er'",
            "echo --user | xargs hookexec init",
            "hookexec init format",
            "hookexec init --directory x 'force'-push",
            "hookexec init --remove=secrets",
            "hookexec init --from claude-code:x.json --output=$HOME/.config/hookexec/hooks.d/x.yaml",
            "hookexec init --directory ~/.config/hookexec",
            "U=--user; R=--remove; N=never; hookexec init $U $R $N",
            "for N in never loss; do hookexec init $U $R $N; done",
            "hookexec init \"$@\"",
            "hookexec init {ne,}ver",
            "hookexec init --remov?=never",
            "a=uninstall; hookexec $a claude-code",
            "hookexec $(echo uninstall) claude-code",
            "hookexec `echo approve`",
            "hookexec policy $r",
            "sudo hookexec trust $a",
            "sh -c \"hookexec $a\"",
            "npx hookexec $a",
            "hookexec --color $a trust",
            "h=hookexec; $h trust add",
            "h=hookexec; $h $a",
            "cat words | xargs hookexec",
            "cat words | xargs -n 2 hookexec init",
        ] {
            assert!(changes_hooks(&json!(command)), "{command}");
        }
        assert!(changes_hooks(&json!(["bash", "-lc", "hookexec trust add"])));
        assert!(changes_hooks(&json!(["hookexec", "trust", "add"])));
        assert!(changes_hooks(&json!({ "command": "/bin/hookexec", "args": ["trust", "add"] })));
    }

    #[test]
    fn other_commands_are_left_alone() {
        for command in [
            "hookexec trust",
            "hookexec trust show && hookexec check",
            "git commit -m 'hookexec install writes a backup'",
            "grep -rn 'hookexec trust add' docs",
            "cargo install hookexec",
            "npm install ./hookexec-1.2.3.tgz",
            "npm install",
            "hookexec check && npm install",
            "hookexec docs approval",
            "hookexec init",
            "hookexec init --from claude-code:.claude/settings.json",
            "for f in *.yaml; do hookexec check --config \"$f\"; done",
            "hookexec test $FILES && hookexec docs \"$topic\"",
            "ls *.yaml | xargs hookexec check --config",
            "cargo test -p hookexec $FILTER",
            "cp target/debug/hookexec \"$HOME/bin/\"",
            "hookexec init && git config user.name y",
            "hookexec test --log audit.jsonl --config new.yaml --run-external",
            "hookexec policy test policy",
            "hookexec policy build policy --name guards --version 7",
            "hookexec check && x=$(npm install)",
            "grep -rl hookexec . | xargs git add && npm install",
            "hookexec.yaml install",
            "cd hookexec; cargo install --path .",
            "cd x && git add -A && git commit -m 'describe `hookexec install`' && git status",
            "grep -rn 'hookexec trust add' docs | head -n 3 > found.txt",
            "echo 'run hookexec trust add yourself'",
        ] {
            assert!(!changes_hooks(&json!(command)), "{command}");
        }
        assert!(!changes_hooks(&json!(["bash", "-lc", "git commit -m 'hookexec install'"])));
        let call = json!({ "command": "cargo install hookexec", "description": "cargo install" });
        assert!(!changes_hooks(&call));
    }
}
