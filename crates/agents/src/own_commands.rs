//! A model must not change which hooks run, or answer in the user's place: its own calls of the
//! commands in [`FOR_A_PERSON`] are denied.
//!
//! The guard is a rule: a call with the word `hookexec` in it is denied if one of its commands is one of
//! these, or can't be known, as in a text of more than 48 KiB. It does not see aliases, scripts, and
//! copies under another name. The commands refuse to run where they see an agent's variables.

use serde_json::{Value, json};

use super::Agent;
use super::read::NativeCall;
use hookexec::{Event, Input, Verdict};
use hookexec_calls::shell::unquoted;
use hookexec_rules::{may_run, names_a_command};

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
    ("init --from", &["--user"]),
];

/// The options and names with which `init` changes a file or writes hooks from elsewhere. Plain
/// `init --user` is for anyone: it overwrites nothing, and its rules only deny and ask.
const CHANGES_OF_INIT: &[&str] = &[
    "--remove", "--output", "approve", "budget", "commit-message", "databases", "force-push",
    "format", "keep-secrets", "log", "main-branch", "mcp-allow-list", "notify", "everyday",
    "read-only", "secrets", "subagents", "team", "tests-before-stop", "never", "loss", "outside",
    "machine",
];

const MESSAGE: &str = "a coding agent must not change which hooks run, or answer for a person: \
                       `hookexec trust add`, `trust remove`, `policy refresh`, `install`, \
                       `uninstall`, `approve`, and `init` with a name, `--remove`, `--output` or \
                       `--from ... --user` are for a person in a terminal. Write out each \
                       word of another command that stands beside the word hookexec";

/// Returns the denial of a call that would run one of these commands, by its input as it came or as
/// hooks rewrote it.
pub(super) fn denial(call: &NativeCall, input: &Input) -> Option<Verdict> {
    let event = call.event?;
    if !matches!(event, Event::PreToolUse | Event::PermissionRequest) || !changes_hooks(input) {
        return None;
    }
    Some(Verdict::denied(event, MESSAGE))
}

/// Returns whether a call runs a command that is for a person.
fn changes_hooks(input: &Input) -> bool {
    let Some(arguments) = &input.tool_input else { return false };
    // JSON writes a continued line so.
    let joined = json!(arguments).to_string().replace(r"\\\n", "");
    let text = unquoted(&joined).to_ascii_lowercase();
    if !text.contains("hookexec") {
        return false;
    }
    // Words that git and programs like it run.
    let mut patterns = vec![
        "git -c=*!*hookexec*".to_owned(),
        "* GIT_EDITOR=*hookexec*|EDITOR=*hookexec*|PAGER=*hookexec*".to_owned(),
    ];
    for program in ["hookexec|hookexec-*|hookexec_*|hookexec@*", "python*|py -m=hookexec*"] {
        for (command, words) in FOR_A_PERSON {
            if words.is_empty() {
                patterns.push(format!("{program} !--help {command}"));
                continue;
            }
            patterns.push(format!("{program} !--help {command} {}", words.join("|")));
            let looks = match *command {
                "trust" => "!show",
                "policy" => "!build !test",
                _ => "",
            };
            // A word that is not known may be one of them.
            patterns.push(format!("{program} !--help {command} {looks} $*"));
        }
    }
    if may_run(input, &patterns) {
        return true;
    }
    arguments.iter().any(|(name, value)| runs_one(name, value, &patterns))
}

/// Returns whether a tool of a server may run a command that fits, by its argument `name` or by one in
/// it.
fn runs_one(name: &str, value: &Value, patterns: &[String]) -> bool {
    // What a terminal or an interpreter takes.
    let is_typed = ["keys", "input", "code"].iter().any(|end| name.ends_with(end));
    if (is_typed || names_a_command(name)) && may_run(&shell_call(value), patterns) {
        return true;
    }
    // A list of texts is one command, unless its name says that it is several.
    let is_several = name.to_ascii_lowercase().ends_with("commands");
    match value {
        Value::Object(inner) => inner.iter().any(|(name, value)| runs_one(name, value, patterns)),
        Value::Array(items) => items
            .iter()
            .any(|item| (is_several || !item.is_string()) && runs_one(name, item, patterns)),
        _ => false,
    }
}

/// Returns a call of a shell with an argument as its command.
fn shell_call(argument: &Value) -> Input {
    let mut input = Input::default();
    input.tool_name = Some("Bash".to_owned());
    input.tool_kinds = vec!["shell".to_owned()];
    input.tool_input = json!({ "command": argument }).as_object().cloned();
    input
}

/// Returns the variable that says that a coding agent runs this process.
pub fn agent_variable() -> Option<&'static str> {
    let mut names = vec!["AGENT", "AI_AGENT"];
    for agent in Agent::all() {
        names.extend(&agent.facts().variables);
        names.extend(agent.project_variable());
    }
    names.retain(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    names.first().copied()
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
    use super::*;

    /// Returns whether a call of a shell tool is denied, with these arguments or with this command.
    fn is_denied(arguments: &Value) -> bool {
        let mut input = shell_call(arguments);
        if let Some(arguments) = arguments.as_object() {
            input.tool_input = Some(arguments.clone());
        }
        changes_hooks(&input)
    }

    #[test]
    fn commands_that_change_hooks_are_found() {
        let mut missed = Vec::new();
        for command in [
            "hookexec trust add",
            "hookexec trust add --cwd show --yes",
            "cd x && ~/.cargo/bin/hookexec trust remove hooks.yaml",
            "yes | hookexec trust add",
            "hook''exec \"trust\" add --yes",
            "env -u CLAUDECODE hookexec trust add --yes",
            "sh -c 'hookexec uninstall codex'",
            "script -qc 'hookexec trust add' /dev/null",
            "eval 'hookexec trust add'",
            "hook\\\nexec tr''ust a\"d\"d",
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
            "cd x && hookexec init --partial --user --from codex:x",
            "hookexec init --user --from=claude-code:.claude/settings.json",
            "hookexec init --from claude-code:.claude/settings.json --user",
            "hookexec init --user never",
            "sh -c 'hookexec \"init\" --re''move never'",
            "echo --remove never | xargs hookexec init",
            "hookexec init format",
            "hookexec init secrets 'force'-push",
            "hookexec init --remove=secrets",
            "hookexec init --from claude-code:x.json --output=$HOME/.config/hookexec/hooks.d/x.yaml",
            "U=--user; R=--remove; N=never; hookexec init $U $R $N",
            "for N in never loss; do hookexec init $U $R $N; done",
            "hookexec init \"$@\"",
            "hookexec init {ne,}ver",
            "a=uninstall; hookexec $a claude-code",
            "hookexec $(echo uninstall) claude-code",
            "hookexec `echo approve`",
            "hookexec policy $r",
            "sudo hookexec trust $a",
            "sh -c \"hookexec $a\"",
            "npx hookexec $a",
            "pipx run hookexec trust add",
            "uvx hookexec trust add",
            "script typescript hookexec trust add",
            "hookexec --color $a trust",
            "h=hookexec; $h trust add",
            "h=hookexec; $h $a",
            "cat words | xargs hookexec",
            "cat words | xargs -n 2 hookexec init",
            "cat words | xargs -I{} hookexec {} add",
            "xargs -I % hookexec % claude-code < w",
            "./hookexec-linux-x64 trust add",
            "./hookexec_linux_amd64 uninstall codex",
            "python3 -m hookexec.cli uninstall codex",
        ] {
            if !is_denied(&json!(command)) {
                missed.push(command);
            }
        }
        assert!(missed.is_empty(), "{missed:#?}");
        assert!(is_denied(&json!(["bash", "-lc", "hookexec trust add"])));
        assert!(is_denied(&json!(["hookexec", "trust", "add"])));
        assert!(is_denied(&json!({ "command": "/bin/hookexec", "args": ["trust", "add"] })));
    }

    #[test]
    fn a_tool_of_a_server_runs_none_of_them() {
        for (tool, key, text, denied) in [
            ("mcp_shell_run", "command", "hookexec trust add --yes", true),
            ("shell___run", "shellCommand", "cd x; hookexec uninstall codex", true),
            ("mcp__tmux__send_keys", "keys", "hookexec init never", true),
            ("mcp__python__run", "code", "os.system('hookexec install codex')", true),
            ("mcp__x__run", "commandLine", "hookexec trust add", true),
            ("mcp__x__run", "command_line", "hookexec trust add", true),
            ("mcp__x__job", "run", "hookexec trust add", true),
            ("mcp__x__run", "command", "hookexec check", false),
            ("mcp__github__create_issue", "body", "run `hookexec install codex`", false),
            ("Write", "content", "hookexec install codex", false),
        ] {
            let mut input = Input::default();
            input.tool_name = Some(tool.to_owned());
            input.tool_input = json!({ key: text }).as_object().cloned();
            assert_eq!(changes_hooks(&input), denied, "{tool} {text}");
            input.tool_input = json!({ "steps": [{ "with": { key: text } }] }).as_object().cloned();
            assert_eq!(changes_hooks(&input), denied, "nested: {tool} {text}");
        }
    }

    #[test]
    fn a_list_is_one_command_or_several() {
        for (arguments, denied) in [
            (json!({ "commands": ["ls", "hookexec trust add"] }), true),
            (json!({ "commands": [["ls"], ["hookexec", "trust", "add"]] }), true),
            (json!({ "command": ["git", "commit", "-m", "hookexec install"] }), false),
        ] {
            let mut input = Input::default();
            input.tool_name = Some("shell___run".to_owned());
            input.tool_input = arguments.as_object().cloned();
            assert_eq!(changes_hooks(&input), denied, "{arguments}");
        }
    }

    #[test]
    fn other_commands_are_left_alone() {
        let mut denied = Vec::new();
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
            "hookexec init --user",
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
            "git grep -n 'hookexec install'",
            "awk '/hookexec install/' README.md",
            "sed -n '/hookexec install/,/end/p' README.md",
            "rg 'hookexec install' | awk '{print $1}'",
            "git stash push -m 'hookexec install wip'",
            "python3 -c \"print('hookexec install')\"",
            "make -C hookexec install",
            "npm --prefix hookexec install",
            "docker exec hookexec-web npm install",
            "pip install ./hookexec",
            "brew install x/hookexec/hookexec",
            "pytest tests -k 'install and hookexec'",
            "cargo test -p hookexec -- trust add",
            "git checkout -b hookexec/install",
            "find hookexec -name '*.rs' | xargs grep -l install",
            "hookexec test --filter install",
            "hookexec install --help",
            "hookexec policy test $DIR",
            "cd hookexec && $VENV/bin/pip install .",
        ] {
            if is_denied(&json!(command)) {
                denied.push(command);
            }
        }
        assert!(denied.is_empty(), "{denied:#?}");
        assert!(!is_denied(&json!(["bash", "-lc", "git commit -m 'hookexec install'"])));
        let call = json!({ "command": "cargo install hookexec", "description": "cargo install" });
        assert!(!is_denied(&call));
    }
}
