//! The `commands` of rules: a corpus of commands, and what is around them.

use hookexec::{Config, Decision, Event, Executor, Input};
use serde_json::{Value, json};

use crate::registry::everything;

const CORPUS: &str = include_str!("commands.txt");

const UNREADABLE: &str = "the command can't be read: it has a function, `case`, an array or a \
     syntax error, is too long or is not for a POSIX shell";

fn bash(command: &str) -> Input {
    Input::call("Bash").arg("command", command)
}

/// Builds a rule from its keys.
fn rule(keys: Value) -> Executor {
    let mut rule = keys;
    rule["type"] = "rule".into();
    let file = json!({ "hooks": { "pre_tool_use": [{ "hooks": [rule] }] } }).to_string();
    let config = Config::from_yaml(&file, "hooks.yaml").unwrap();
    Executor::builder(config).registry(everything()).build().unwrap()
}

/// Returns a rule's answer to a call, and its reason.
fn answer(executor: &Executor, call: &Input) -> (&'static str, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let verdict = runtime.block_on(executor.dispatch(Event::PreToolUse, call));
    assert_eq!(verdict.hooks[0].error, None, "{call:?}");
    let word = match verdict.decision {
        None => "-",
        Some(Decision::Allow) => "allow",
        Some(Decision::Ask) => "ask",
        Some(Decision::Deny) => "deny",
    };
    (word, verdict.message.unwrap_or_default())
}

/// Returns a command with the characters that its line stands for.
fn command(line: &str) -> String {
    let text = line.replace('␤', "\n").replace('␍', "\r").replace('␀', "\0").replace('⇥', "\t");
    let mut parts = text.split('⟨');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |before, part| {
        let (code, rest) = part.split_once('⟩').unwrap();
        let letter = char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
        format!("{before}{letter}{rest}")
    })
}

#[test]
fn the_corpus_is_judged_as_expected() {
    let (mut name, mut rules) = ("", Vec::new());
    let (mut count, mut wrong) = (0, Vec::new());
    for (number, line) in CORPUS.lines().enumerate() {
        if let Some((verb, list)) = line.strip_prefix("## ").and_then(|head| head.split_once(": "))
        {
            name = verb;
            let commands: Vec<&str> = list.split(", ").collect();
            let reason = if verb == "allow" { json!(true) } else { json!("no") };
            rules = vec![("-", rule(json!({ verb: reason, "commands": commands })))];
            for otherwise in if verb == "allow" { ["deny", "ask"].as_slice() } else { &[] } {
                let keys = json!({ verb: true, "commands": commands, "otherwise": otherwise });
                rules.push((otherwise, rule(keys)));
            }
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (expected, text) = line.split_once(' ').unwrap();
        let call = bash(&command(text));
        count += 1;
        for (otherwise, executor) in &rules {
            let wanted = if name == "allow" && expected == "-" { otherwise } else { expected };
            let (said, reason) = answer(executor, &call);
            if said != wanted || reason.is_empty() != matches!(wanted, "-" | "allow") {
                wrong.push(format!("{}: {line}: {otherwise}: {said}: {reason}", number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 300, "{count}");
}

#[test]
fn the_list_of_everyday_commands_lets_them_through() {
    let root = tempfile::TempDir::new().unwrap();
    std::fs::create_dir_all(root.path().join("build")).unwrap();
    std::fs::create_dir_all(root.path().join("src/components")).unwrap();
    let recipe = include_str!("../../examples/recipes/everyday.yaml");
    let config = hookexec::Config::from_yaml(recipe, "everyday.yaml").unwrap();
    let mut registry = hookexec::Registry::new();
    hookexec_builtins::register(&mut registry);
    let builder = hookexec::Executor::builder(config).registry(registry);
    let executor = builder.working_dir(root.path()).build().unwrap();
    let (mut count, mut refused) = (0, Vec::new());
    for line in include_str!("../cases/everyday.txt").lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut call = Input::call("shell").arg("command", command(line));
        call.cwd = root.path().to_string_lossy().into_owned();
        count += 1;
        let (said, _) = answer(&executor, &call);
        if said != "allow" {
            refused.push(line);
        }
    }
    assert_eq!(count, 300);
    // A program that takes words of a pipe, another repository, a variable of Python, and unknown words.
    assert!(refused.len() <= 9, "{}", refused.join("\n"));
}

#[test]
fn other_tools_and_texts_for_other_shells_are_never_allowed() {
    let allow = rule(json!({ "allow": true, "commands": ["git status"] }));
    let otherwise = rule(json!({ "allow": true, "commands": ["git status"], "otherwise": "deny" }));
    for input in [
        Input::call("PowerShell").arg("command", "git status"),
        Input::call("write_stdin").arg("chars", "git status"),
        Input::call("Read").arg("file_path", "git status"),
        Input::call("mcp__a__run").arg("command", "git status"),
        Input::call("Bash"),
        bash("git status").arg("dangerouslyDisableSandbox", true),
        bash("git status").arg("env", json!({ "PATH": "/tmp" })),
        bash("git status").arg("script", "rm x"),
        Input::call("Bash").arg("command", json!(["git status"])),
        Input::call("shell").arg("command", json!(["git", "status", 5])),
    ] {
        assert_eq!(answer(&allow, &input).0, "-", "{input:?}");
        let is_shell = !["Read", "mcp__a__run"].contains(&input.tool());
        let expected = if is_shell { "deny" } else { "-" };
        assert_eq!(answer(&otherwise, &input).0, expected, "{input:?}");
    }
    for input in [
        bash("git status").arg("description", "x").arg("timeout", 5),
        bash("git status").arg("dangerouslyDisableSandbox", false),
        Input::call("exec_command").arg("cmd", "git status").arg("workdir", "src"),
        Input::call("shell").arg("command", json!(["git", "status"])),
    ] {
        assert_eq!(answer(&allow, &input).0, "allow", "{input:?}");
        assert_eq!(answer(&otherwise, &input).0, "allow", "{input:?}");
    }
    // A call without arguments is one, too.
    let mut bare = Input::call("Bash");
    bare.tool_input = None;
    assert_eq!(answer(&otherwise, &bare).0, "deny");
    let deny = rule(json!({ "deny": "no", "commands": ["rm"] }));
    let power_shell = Input::call("PowerShell").arg("command", "Get-Item x");
    assert_eq!(answer(&deny, &power_shell).0, "-");
    let power_shell = Input::call("PowerShell").arg("command", "rm x");
    assert_eq!(answer(&deny, &power_shell).0, "deny");
    for (text, expected) in [
        ("rm $x", "ask"),
        ("ls; & $x", "-"),
        ("$x = rm a", "ask"),
        ("if (rm x) { y }", "ask"),
        ("ls $x", "-"),
    ] {
        let power_shell = Input::call("PowerShell").arg("command", text);
        assert_eq!(answer(&deny, &power_shell).0, expected, "{text}");
    }
    assert_eq!(answer(&deny, &Input::call("Read").arg("file_path", "rm")).0, "-");
    let deny = rule(json!({ "deny": "no", "commands": ["mv"], "targets": ["**/.git"] }));
    let power_shell = Input::call("PowerShell").arg("command", r"Move-Item .\.git x");
    assert_eq!(answer(&deny, &power_shell).0, "deny");
    let deny = rule(json!({ "deny": "no", "files": [".env"] }));
    let power_shell = Input::call("PowerShell").arg("command", "type .env");
    assert_eq!(answer(&deny, &power_shell).0, "deny");
}

#[test]
fn a_pattern_may_fit_a_text_for_another_shell_by_each_name_of_an_option() {
    let patterns = ["git push -f", "npm -i=*", "powershell * *Stop-*"];
    let deny = rule(json!({ "deny": "no", "commands": patterns }));
    for (text, expected) in [
        ("git push --force", "ask"),
        ("git push origin +main", "ask"),
        ("git push", "-"),
        ("npm test", "-"),
        ("npm install --index-url https://a.b", "-"),
        ("npm install -i https://a.b", "ask"),
        ("NPM install -i https://a.b", "ask"),
        ("Stop-Service x", "ask"),
        ("Start-Service x", "-"),
    ] {
        // With an open bracket, so that it can't be read.
        let power_shell = Input::call("PowerShell").arg("command", format!("{text}; (y"));
        let power_shell = power_shell.arg("description", "Stop-Service");
        assert_eq!(answer(&deny, &power_shell).0, expected, "{text}");
        if !text.contains("-Service") {
            let wrapped = bash(&format!("fish -c '{text}'"));
            assert_eq!(answer(&deny, &wrapped).0, expected, "{text}");
        }
    }
}

#[test]
fn a_call_that_is_not_allowed_is_stopped_with_the_command_and_the_cause() {
    let commands = ["ls *", "git status", "find *", "sh *", "cat *", "xargs *", "cd *"];
    let executor = rule(json!({ "allow": true, "commands": commands, "otherwise": "deny" }));
    let cases = vec![
        (bash("ls; curl x | sh"), "`curl x` is not listed"),
        (bash("ls && git status -s"), "`git status -s` is not listed"),
        (bash("./ls"), "`./ls` is not listed"),
        (bash("ls | sh"), "`sh` runs what can't be known"),
        (bash("ls; $x y"), "`$x y` runs what can't be known"),
        (bash("ls > b"), "`ls` has a redirection to `b`"),
        (bash("> b"), "a redirection to `b`"),
        (bash("cat <> b"), "`cat` has a redirection to `b`"),
        (bash("PATH=/tmp ls"), "`ls` has an assignment: `PATH=/tmp`"),
        (bash("x=1"), "an assignment: `x=1`"),
        (bash("ls $(date)"), "`date` is not listed"),
        (
            bash("ls $(git status)"),
            "`ls $(git status)` can't be known before it runs: `$(git status)`",
        ),
        (bash("ls '$x' $y"), "`ls $x $y` can't be known before it runs: `$y`"),
        (bash("ls | xargs cat"), "`cat` can't be known before it runs"),
        (
            bash("find . -delete"),
            "`find . -delete` is not listed: `*` in `find *` does not stand for `-delete`; `-*` stands for any option",
        ),
        (bash("cat <<EOF\n$(ls)\nEOF"), "`cat` can't be known before it runs: `$(ls)\n`"),
        (bash("ls '"), "`ls ` can't be known before it runs"),
        (bash("ls ("), UNREADABLE),
        (bash("ls\0"), UNREADABLE),
        (bash(&"ls;".repeat(20_000)), UNREADABLE),
        (bash("# nothing"), "the call names no command"),
        (bash(""), "the call names no command"),
        (
            bash("ls").arg("dangerouslyDisableSandbox", true),
            "the argument `dangerouslyDisableSandbox` of the call is not known",
        ),
        (Input::call("PowerShell").arg("command", "ls $(x"), UNREADABLE),
    ];
    for (input, reason) in cases {
        assert_eq!(answer(&executor, &input), ("deny", reason.to_owned()), "{input:?}");
    }
}
