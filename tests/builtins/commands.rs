//! `allow_commands`, `deny_commands`, `ask_commands`: a corpus of commands, and what is around them.

use hookexec::wire::{Decision, Input, Output};
use serde_json::json;

use crate::support::{args, builtin, refused, run};

const CORPUS: &str = include_str!("commands.txt");

const UNREADABLE: &str =
    "the command can't be read: it has a syntax error, is too long or is not for a POSIX shell";

fn bash(command: &str) -> Input {
    Input::call("Bash").arg("command", command)
}

fn word(output: Option<&Output>) -> &'static str {
    match output.and_then(|output| output.decision) {
        None => "-",
        Some(Decision::Allow) => "allow",
        Some(Decision::Ask) => "ask",
        Some(Decision::Deny) => "deny",
    }
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
    let (mut name, mut patterns) = (String::new(), Vec::new());
    let (mut count, mut wrong) = (0, Vec::new());
    for (number, line) in CORPUS.lines().enumerate() {
        if let Some(head) = line.strip_prefix("## ") {
            let (verb, list) = head.split_once(": ").unwrap();
            name = format!("{verb}_commands");
            patterns = list.split(", ").collect();
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (expected, text) = line.split_once(' ').unwrap();
        let call = bash(&command(text));
        let said = run(&name, &patterns, &call);
        count += 1;
        if word(said.as_ref()) != expected {
            let reason = said.and_then(|output| output.reason).unwrap_or_default();
            wrong.push(format!("{}: {line}: {reason}", number + 1));
        }
        for otherwise in if name == "allow_commands" { ["deny", "ask"].as_slice() } else { &[] } {
            let option = format!("--otherwise={otherwise}");
            let said = run(&name, &[&[&*option], &*patterns].concat(), &call);
            let wanted = if expected == "-" { otherwise } else { expected };
            let has_reason = said.as_ref().is_some_and(|output| output.reason.is_some());
            if word(said.as_ref()) != wanted || has_reason != (expected == "-") {
                wrong.push(format!("{}: {line}: {option}: {said:?}", number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 300, "{count}");
}

#[test]
fn other_tools_and_texts_for_other_shells_are_never_allowed() {
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
        assert_eq!(word(run("allow_commands", &["git status"], &input).as_ref()), "-", "{input:?}");
        let otherwise = run("allow_commands", &["--otherwise=deny", "git status"], &input);
        let is_shell = !["Read", "mcp__a__run"].contains(&input.tool());
        assert_eq!(word(otherwise.as_ref()), if is_shell { "deny" } else { "-" }, "{input:?}");
    }
    for input in [
        bash("git status").arg("description", "x").arg("timeout", 5),
        bash("git status").arg("dangerouslyDisableSandbox", false),
        Input::call("exec_command").arg("cmd", "git status").arg("workdir", "/x"),
        Input::call("shell").arg("command", json!(["git", "status"])),
    ] {
        for args in [&["git status"][..], &["--otherwise=deny", "git status"]] {
            assert_eq!(word(run("allow_commands", args, &input).as_ref()), "allow");
        }
    }
    let power_shell = Input::call("PowerShell").arg("command", "Get-Item x");
    assert_eq!(word(run("deny_commands", &["rm"], &power_shell).as_ref()), "ask");
    let read = Input::call("Read").arg("file_path", "rm");
    assert_eq!(word(run("deny_commands", &["rm"], &read).as_ref()), "-");
}

#[test]
fn a_call_that_is_not_allowed_is_stopped_with_the_command_and_the_cause() {
    let patterns = ["ls *", "git status", "find *", "sh *", "cat *", "xargs *", "cd *"];
    for (text, reason) in [
        ("ls; curl x | sh", "`curl x` is not listed"),
        ("ls && git status -s", "`git status -s` is not listed"),
        ("./ls", "`./ls` is not listed"),
        ("ls | sh", "`sh` runs what can't be known"),
        ("ls; $x y", "`$x y` runs what can't be known"),
        ("ls > b", "`ls` has a redirection to `b`"),
        ("> b", "a redirection to `b`"),
        ("cat < b", "`cat` has a redirection from `b`"),
        ("PATH=/tmp ls", "`ls` has an assignment: `PATH=/tmp`"),
        ("x=1", "an assignment: `x=1`"),
        ("ls $(date)", "`date` is not listed"),
        ("ls $(git status)", "`ls $(git status)` can't be known before it runs: `$(git status)`"),
        ("ls '$x' $y", "`ls $x $y` can't be known before it runs: `$y`"),
        ("ls | xargs cat", "`cat` can't be known before it runs"),
        (
            "find . -delete",
            "`find . -delete` is not listed: `*` in `find *` does not stand for `-delete`",
        ),
        ("cat <<EOF\n$(ls)\nEOF", "`cat` can't be known before it runs"),
        ("ls '", UNREADABLE),
        ("ls\0", UNREADABLE),
        (&"ls;".repeat(20_000), UNREADABLE),
        ("# nothing", "the call names no command"),
        ("", "the call names no command"),
    ] {
        for (option, decision) in [("--otherwise=deny", "deny"), ("--otherwise=ask", "ask")] {
            let args = [&[option], &patterns[..]].concat();
            let output = run("allow_commands", &args, &bash(text)).unwrap();
            let said = (word(Some(&output)), output.reason.unwrap());
            assert_eq!(said, (decision, reason.to_owned()), "{text}");
        }
        let said = builtin("allow_commands").why_no_opinion(&args(&patterns), &bash(text));
        assert_eq!(said.as_deref(), Some(reason), "{text}");
    }
    for (input, reason) in [
        (
            bash("ls").arg("dangerouslyDisableSandbox", true),
            "the argument `dangerouslyDisableSandbox` of the call is not known",
        ),
        (Input::call("Read").arg("file_path", "x"), "`Read` is not a tool that runs commands"),
        (Input::call("PowerShell").arg("command", "ls"), UNREADABLE),
    ] {
        let said = builtin("allow_commands").why_no_opinion(&args(&patterns), &input);
        assert_eq!(said.as_deref(), Some(reason));
    }
    // A call without arguments is one, too.
    let mut bare = Input::call("Bash");
    bare.tool_input = None;
    let said = run("allow_commands", &["--otherwise=deny", "ls"], &bare);
    assert_eq!(word(said.as_ref()), "deny");
    assert_eq!(builtin("allow_commands").why_no_opinion(&args(&["ls"]), &bash("ls")), None);
}

#[test]
fn a_list_says_which_command_it_found_and_what_is_uncertain() {
    let reason = |name: &str, args: &[&str], text: &str| {
        let output = run(name, args, &bash(text)).unwrap();
        (word(Some(&output)), output.reason.unwrap())
    };
    assert_eq!(
        reason("deny_commands", &["rm -rf"], "ls && sudo rm -fr x"),
        ("deny", "`rm -fr x` is denied: `rm -rf`".to_owned())
    );
    assert_eq!(
        reason("ask_commands", &["rm"], "rm x"),
        ("ask", "`rm x` is listed: `rm`".to_owned())
    );
    for (name, args, decision) in [
        ("deny_commands", &["rm"][..], "ask"),
        ("ask_commands", &["rm"], "ask"),
        ("deny_commands", &["--uncertain=deny", "rm"], "deny"),
        ("ask_commands", &["--uncertain=deny", "rm"], "deny"),
    ] {
        let (said, reason) = reason(name, args, "curl x | sh");
        assert_eq!(said, decision);
        assert!(reason.starts_with("it can't be known whether `sh` runs `rm`"), "{reason}");
    }
    assert!(refused("deny_commands", &["--uncertain=allow", "rm"]).contains("`ask` or `deny`"));
    for option in ["--otherwise", "--otherwise=allow", "--otherwise=none"] {
        let problem = refused("allow_commands", &[option, "ls"]);
        assert!(problem.starts_with("`--otherwise` must be `ask` or `deny`"), "{problem}");
    }
    assert!(refused("allow_commands", &["--uncertain=deny", "rm"]).contains("unknown option"));
    assert!(refused("deny_commands", &[]).contains("at least one command"));
    assert!(refused("allow_commands", &["*"]).contains("names no program"));
}
