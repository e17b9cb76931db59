//! `allow_commands`, `deny_commands`, `ask_commands`: a corpus of commands, and what is around them.

use hookexec::wire::{Decision, Input, Output};
use serde_json::json;

use crate::support::{refused, run};

const CORPUS: &str = include_str!("commands.txt");

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
    let (mut builtin, mut patterns) = (String::new(), Vec::new());
    let (mut count, mut wrong) = (0, Vec::new());
    for (number, line) in CORPUS.lines().enumerate() {
        if let Some(head) = line.strip_prefix("## ") {
            let (name, list) = head.split_once(": ").unwrap();
            builtin = format!("{name}_commands");
            patterns = list.split(", ").collect();
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (expected, text) = line.split_once(' ').unwrap();
        let said = run(&builtin, &patterns, &bash(&command(text)));
        count += 1;
        if word(said.as_ref()) != expected {
            let reason = said.and_then(|output| output.reason).unwrap_or_default();
            wrong.push(format!("{}: {line}: {reason}", number + 1));
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
    }
    for input in [
        bash("git status").arg("description", "x").arg("timeout", 5),
        bash("git status").arg("dangerouslyDisableSandbox", false),
        Input::call("exec_command").arg("cmd", "git status").arg("workdir", "/x"),
        Input::call("shell").arg("command", json!(["git", "status"])),
    ] {
        assert_eq!(word(run("allow_commands", &["git status"], &input).as_ref()), "allow");
    }
    let power_shell = Input::call("PowerShell").arg("command", "Get-Item x");
    assert_eq!(word(run("deny_commands", &["rm"], &power_shell).as_ref()), "ask");
    let read = Input::call("Read").arg("file_path", "rm");
    assert_eq!(word(run("deny_commands", &["rm"], &read).as_ref()), "-");
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
    assert!(refused("allow_commands", &["--uncertain=deny", "rm"]).contains("unknown option"));
    assert!(refused("deny_commands", &[]).contains("at least one command"));
    assert!(refused("allow_commands", &["*"]).contains("names no program"));
}
