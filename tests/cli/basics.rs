//! What holds for every subcommand: exit codes, streams, help.

use std::process::Stdio;

use hookexec::{Contract, Event};

use crate::support::{Sandbox, wait};

#[test]
fn wrong_arguments_exit_64_and_never_2() {
    let sandbox = Sandbox::new();
    let nothing: [&str; 0] = [];
    let done = sandbox.hookexec(nothing).run().exits(64);
    assert!(done.stderr.contains("Usage: hookexec"), "{}", done.stderr);
    for args in [
        vec!["docs", "events", "--no-such-flag"],
        vec!["no-such-command"],
        vec!["list"],
        vec!["docs", "schema", "toml"],
    ] {
        let done = sandbox.hookexec(&args).run().exits(64);
        assert_eq!(done.stdout, "");
        assert!(done.stderr.starts_with("error: "), "{}", done.stderr);
    }
}

#[test]
fn help_and_version_go_to_stdout_and_exit_0() {
    let sandbox = Sandbox::new();
    let version = sandbox.hookexec(["--version"]).run().exits(0);
    assert_eq!(version.stdout, concat!("hookexec ", env!("CARGO_PKG_VERSION"), "\n"));
    let help = sandbox.hookexec(["help"]).run().exits(0);
    let commands =
        help.stdout.split_once("Commands:\n").unwrap().1.split_once("Options:").unwrap().0;
    // A command's line is indented by two blanks, what goes on from it by more.
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    assert_eq!((names.len(), names.last()), (16, Some(&"help")), "{names:?}");
    for name in &names[..15] {
        let help = sandbox.hookexec([*name, "--help"]).run().exits(0);
        assert!(
            help.stdout.contains("Example"),
            "`{name} --help` has no example:\n{}",
            help.stdout
        );
        assert_eq!(help.stderr, "");
        let told = sandbox.hookexec(["help", name]).run().exits(0);
        assert_eq!(told.stdout, help.stdout);
    }
    let short = sandbox.hookexec(["--help"]).run().exits(0).stdout;
    assert_eq!(sandbox.hookexec(["help"]).run().exits(0).stdout, short);
    let done = sandbox.hookexec(["help", "trust", "ad"]).run().exits(64);
    assert!(done.stderr.contains("unrecognized subcommand 'ad'"), "{}", done.stderr);
    for action in ["show", "add", "remove"] {
        let help = sandbox.hookexec(["trust", action, "--help"]).run().exits(0);
        assert!(help.stdout.contains(&format!("Example: hookexec trust {action}")), "{help:?}");
    }
}

#[test]
fn one_event_is_shown_alone() {
    let sandbox = Sandbox::new();
    for event in Event::all() {
        let shown = sandbox.hookexec(["docs", "events", event.name()]).run().exits(0).stdout;
        assert!(shown.starts_with(&format!("{event}\n    ")), "{shown}");
        assert!(shown.contains(&format!("| hookexec run {event}")), "{shown}");
        assert!(shown.contains("\nhook_event_name") && !shown.contains('\u{fffd}'), "{shown}");
        if event == Event::PostToolUse {
            assert!(
                shown.contains("tool_error         true, false  Whether the tool call failed\n"),
                "{shown}"
            );
            assert!(shown.contains("Claude Code (PostToolUse, PostToolUseFailure)"), "{shown}");
            assert!(shown.contains("\nfiles  ") && shown.contains("\niteration  "), "{shown}");
        }
    }
    let json =
        sandbox.hookexec(["docs", "events", "stop", "--format", "json"]).run().exits(0).stdout;
    let row: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(row, serde_json::to_value(Event::Stop.contract()).unwrap());
    let done = sandbox.hookexec(["docs", "events", "stopp"]).run().exits(64);
    assert!(done.stderr.contains("a similar value exists: 'stop'"), "{}", done.stderr);
}

#[test]
fn the_table_of_events_reads_without_colours_and_as_json() {
    let sandbox = Sandbox::new();
    let text = sandbox.hookexec(["docs", "events"]).run().exits(0).stdout;
    assert!(text.lines().all(|line| line == line.trim_end()));
    // Below each event stands what it can do, wrapped.
    let rows: Vec<String> = format!("\n{text}")
        .replace("\n    ", " ")
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    assert_eq!(rows.len(), Event::all().len());
    for (event, row) in Event::all().zip(rows) {
        let fires = format!("fires: {}", event.contract().fires);
        assert!(row.starts_with(event.name()) && row.ends_with(&fires), "{row}");
    }
    let json = sandbox.hookexec(["docs", "events", "--format", "json"]).run().exits(0).stdout;
    let rows: serde_json::Value = serde_json::from_str(&json).unwrap();
    let contracts: Vec<&Contract> = Event::all().map(Event::contract).collect();
    assert_eq!(rows, serde_json::to_value(contracts).unwrap());
}

#[test]
fn completions_know_the_subcommands() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.hookexec(["completions", shell]).run().exits(0).stdout;
        assert!(script.contains("completions") && script.contains("events"), "{shell}");
    }
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let sandbox = Sandbox::new();
    for args in [["docs", "schema", "verdict"], ["docs", "events", "--format=json"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hookexec"));
        let mut child = sandbox
            .dress(&mut command)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = wait(child);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
#[test]
fn the_program_needs_no_relocation_of_its_pointers() {
    const ET_EXEC: &[u8] = &2_u16.to_ne_bytes();
    let program = std::fs::read(env!("CARGO_BIN_EXE_hookexec")).unwrap();
    assert_eq!(
        &program[16..18],
        ET_EXEC,
        "crates/cli/build.rs, or a relocation model in RUSTFLAGS"
    );
}
