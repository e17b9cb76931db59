//! What somebody meets who has just installed the command.

use crate::support::Sandbox;

const RM: &str = "pre_tool_use: { hooks: { type: command, command: 'exit 2', on_error: block } }";

#[test]
fn check_takes_files_and_looks_at_no_others() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", "hooks: { nonsense: 1 }");
    sandbox.write("other.yaml", RM);
    let done = sandbox.hookexec(["check", "other.yaml"]).run().exits(0);
    assert!(done.stdout.starts_with("1 hook in 1 file: 0 errors"), "{done:#?}");
    let _ = sandbox.hookexec(["check", "hooks.yaml"]).run().exits(78);
}

#[test]
fn a_short_name_of_an_agent_leads_to_the_whole_one() {
    let sandbox = Sandbox::new();
    for args in [
        ["install", "claude"].as_slice(),
        &["docs", "agents", "claude"],
        &["run", "--from", "claude"],
        &["init", "--from", "claude:x.json"],
    ] {
        let done = sandbox.hookexec(args).run();
        assert!(done.stderr.contains("claude-code"), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn completions_know_agents_and_events() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.hookexec(["completions", shell]).run().exits(0).stdout;
        for word in ["claude-code", "windsurf", "pre_tool_use", "worktree_create"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn bash_completes_agents_and_events() {
    let sandbox = Sandbox::new();
    let script = sandbox.hookexec(["completions", "bash"]).run().exits(0).stdout;
    sandbox.write("completion", &script);
    for (line, word) in [
        ("hookexec run pre_to", "pre_tool_use"),
        ("hookexec run --from claude", "claude-code"),
        ("hookexec explain --from win", "windsurf"),
        ("hookexec install claude", "claude-code"),
    ] {
        let last = line.split(' ').count() - 1;
        let words = line.split(' ').map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let script = format!(
            "source completion; COMP_WORDS=({words}); COMP_CWORD={last}; COMP_LINE='{line}'; \
             COMP_POINT={}; _hookexec hookexec \"${{COMP_WORDS[{last}]}}\" \"${{COMP_WORDS[{}]}}\"; \
             echo \"${{COMPREPLY[@]}}\"",
            line.len(),
            last - 1
        );
        let mut bash = std::process::Command::new("bash");
        let output = sandbox.dress(&mut bash).args(["-c", &script]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.split_whitespace().any(|found| found == word), "{line}: {output:?}");
    }
}

#[test]
fn the_flags_of_run_stand_under_what_they_are_about() {
    let sandbox = Sandbox::new();
    let help = sandbox.hookexec(["run", "--help"]).run().exits(0).stdout;
    let mut heading = "";
    for line in help.lines() {
        if line.ends_with(':') && !line.starts_with(' ') {
            heading = line;
        }
        for (flag, expected) in [
            ("--from", "Under a coding agent:"),
            ("--config", "Hooks files:"),
            ("--connect", "Server:"),
            ("--format", "Output:"),
            ("--verbose", "Output:"),
        ] {
            if line.trim_start().starts_with('-') && line.contains(flag) {
                assert_eq!(heading, expected, "{line}");
            }
        }
    }
}

#[test]
fn tables_fit_a_screen() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", RM);
    for args in [
        ["docs", "events"].as_slice(),
        &["docs", "agents"],
        &["docs", "builtins"],
        &["docs"],
        &["explain", "--config=hooks.yaml"],
    ] {
        let text = sandbox.hookexec(args).run().exits(0).stdout;
        let tables = text.lines().filter(|line| !line.starts_with("Tools:"));
        let wide: Vec<&str> = tables.filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{args:?}: {wide:#?}");
    }
}

#[test]
fn the_documentation_is_part_of_the_program() {
    let sandbox = Sandbox::new();
    let topics = sandbox.hookexec(["docs"]).run().exits(0).stdout;
    for line in topics.lines().skip(1).take_while(|line| !line.is_empty()) {
        let topic = line.split(' ').next().unwrap();
        let mut args = vec!["docs", topic];
        if ["events", "builtins", "agents"].contains(&topic) {
            let table = sandbox.hookexec(&args).run().exits(0).stdout;
            assert!(!table.contains("# "), "{topic}: {table}");
            args.push("--page");
        }
        let page = sandbox.hookexec(&args).run().exits(0).stdout;
        assert!(page.starts_with("# "), "{topic}: {page}");
    }
    let done = sandbox.hookexec(["docs", "trustt"]).run().exits(64);
    assert!(done.stderr.contains("'trust'"), "{}", done.stderr);
}

#[test]
fn init_offers_what_fits_the_agents_that_are_used() {
    let sandbox = Sandbox::new();
    let settings = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"./a.sh"}]}]}}"#;
    sandbox.write(".claude/settings.json", settings);
    sandbox.write(".gemini/settings.json", "{}");
    let done = sandbox.hookexec(["init"]).run().exits(0);
    for part in [
        "\nnext:\n  hookexec test",
        "hookexec init --from claude-code:.claude/settings.json \
         --output .hookexec/hooks.d/claude-code.yaml\n",
        "hookexec install claude-code",
        "hookexec install gemini",
        "hookexec docs",
        "hookexec init --user",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    assert!(!done.stdout.contains("--from gemini"), "{}", done.stdout);

    // What `init` suggests is read.
    let import = "init --from claude-code:.claude/settings.json \
                  --output .hookexec/hooks.d/claude-code.yaml";
    let _ = sandbox.hookexec(import.split(' ')).run().exits(0);
    let list = sandbox.hookexec(["explain"]).run().exits(0).stdout;
    assert!(list.contains("claude-code.yaml"), "{list}");
}

#[test]
fn a_guard_that_survives_the_model_goes_to_the_users_layer() {
    let sandbox = Sandbox::new();
    let done = sandbox.hookexec(["init", "--user"]).run().exits(0);
    assert!(!done.stdout.contains("trust"), "{}", done.stdout);
    let directory = sandbox.home().join(".config/hookexec");
    assert!(directory.join("hooks.yaml").is_file() && directory.join("hooks.test.yaml").is_file());
    assert!(!sandbox.project().join("hooks.yaml").exists());
    let hooks = std::fs::read_to_string(directory.join("hooks.yaml")).unwrap();
    assert!(hooks.starts_with("# Rules for every project of yours."), "{hooks}");
    for (command, code) in
        [("rm -rf ~", 2), ("git push --force", 3), ("rm -rf target", 0), ("ls", 0)]
    {
        let input = format!(r#"{{"tool_name":"shell","tool_input":{{"cmd":"{command}"}}}}"#);
        let _ = sandbox.hookexec(["run", "pre_tool_use"]).stdin(input).run().exits(code);
    }
    // Its cases hold in every directory, also where the rules guard each file.
    std::fs::create_dir_all(sandbox.home().join(".ssh")).unwrap();
    for place in [sandbox.project(), sandbox.home(), directory.clone(), sandbox.home().join(".ssh")]
    {
        let test = ["test", directory.to_str().unwrap()];
        let _ = sandbox.hookexec(test).current_dir(place).run().exits(0);
    }
}

#[test]
fn the_hooks_of_another_engine_go_to_the_users_layer_too() {
    let sandbox = Sandbox::new();
    let settings = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"./a.sh"}]}]}}"#;
    let path = sandbox.home().join(".claude/settings.json");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, settings).unwrap();
    std::fs::create_dir(sandbox.project().join(".claude")).unwrap();
    let done = sandbox.hookexec(["init", "--user"]).run().exits(0);
    let step = "hookexec init --from claude-code:[SANDBOX]/home/.claude/settings.json --user\n";
    assert!(done.stdout.contains(step), "{}", done.stdout);
    let from = format!("claude-code:{}", path.display());
    let done = sandbox.hookexec(["init", "--from", &from, "--user"]).run().exits(0);
    let written = sandbox.home().join(".config/hookexec/hooks.d/claude-code.yaml");
    assert!(written.is_file() && !done.stderr.contains("trust add"), "{}", done.stderr);
    let list = sandbox.hookexec(["explain"]).run().exits(0).stdout;
    assert!(list.contains("claude-code.yaml"), "{list}");
    // One place is enough, and the options of an import need an import.
    for args in [["--from", &from, "--user", "--output=x"].as_slice(), &["--partial"]] {
        let _ = sandbox.hookexec(["init"].iter().chain(args)).run().exits(64);
    }
}

#[test]
fn the_log_that_init_suggests_may_be_in_its_file() {
    for scope in [&["init"][..], &["init", "--user"]] {
        let sandbox = Sandbox::new();
        let _ = sandbox.hookexec(scope).run().exits(0);
        let path = match scope {
            ["init"] => sandbox.project().join("hooks.yaml"),
            _ => sandbox.home().join(".config/hookexec/hooks.yaml"),
        };
        let hooks = std::fs::read_to_string(&path).unwrap();
        assert_eq!(hooks.matches("\n# audit: ").count(), 1, "{hooks}");
        std::fs::write(&path, hooks.replace("\n# audit: ", "\naudit: ")).unwrap();
        let check = sandbox.hookexec(["check"]).run().exits(0);
        assert!(check.stdout.contains(" 0 errors"), "{check:?}");
        if scope == ["init"] {
            sandbox.trust();
        }
        let call = r#"{"tool_name":"shell","tool_input":{"command":"ls"}}"#;
        let _ = sandbox.hookexec(["run", "pre_tool_use"]).stdin(call).run().exits(0);
        let _ = sandbox.hookexec(["log"]).run().exits(0);
    }
}

#[test]
fn the_guards_of_init_know_the_spellings_of_what_they_guard() {
    let sandbox = Sandbox::new();
    let _ = sandbox.hookexec(["init"]).run().exits(0);
    for (command, code) in [
        ("rm -rf x", 2),
        ("rm -f -r x", 2),
        ("rm x -rf", 2),
        ("rm --force --recursive x", 2),
        ("cd /tmp && rm -R x", 2),
        ("rm notes.txt", 0),
        ("ls && sudo /bin/rm -fr x | cat", 2),
        ("sh -c 'rm -r x'", 2),
        // A text that talks about it runs nothing.
        ("git commit -m 'rm -rf is refused'", 0),
        ("cat .env", 2),
        ("cat .env.example", 0),
        ("curl x | sh", 3),
        ("npm run farm -r", 0),
        ("git push -f", 2),
        ("git push origin +main", 2),
        ("git -C x push -f", 2),
        ("git -C x push --force origin", 2),
        ("git push --force-with-lease", 0),
        ("git push origin main", 0),
        ("git push origin feature-f", 0),
        ("git stash push -m fix", 0),
    ] {
        for key in ["cmd", "command"] {
            let input = serde_json::json!({ "tool_name": "shell", "tool_input": { key: command } });
            let args = ["run", "pre_tool_use", "--config", "hooks.yaml"];
            let done = sandbox.hookexec(args).stdin(input.to_string()).run();
            assert_eq!(done.code(), Some(code), "{command}: {done:#?}");
        }
    }
}

#[test]
fn a_main_that_returns_the_problems_shows_the_lines() {
    let problems = hookexec::Config::from_yaml("hooks: { pre: [] }", "hooks.yaml").unwrap_err();
    let error: Box<dyn std::error::Error> = problems.into();
    let shown = format!("Error: {error:?}");
    assert!(shown.starts_with("Error: \nerror: unknown event `pre`"), "{shown}");
    assert!(shown.contains("--> hooks.yaml:1:10") && shown.contains("^^^"), "{shown}");
}

#[test]
fn arguments_come_as_values() {
    use hookexec::Input;
    use hookexec::lifecycle::ToolCall;
    let arguments = serde_json::json!({ "cmd": "ls", "depth": 2 });
    let call = Input::call("shell").arg("cmd", "ls").arg("depth", 2);
    assert_eq!(call.tool_input, arguments.as_object().cloned());
    let call = ToolCall::from_value("shell", arguments).unwrap().arg("all", true);
    assert_eq!(call.name, "shell");
    assert!(ToolCall::from_value("shell", serde_json::json!([1])).is_err());
    assert!(ToolCall::from_value("shell", serde_json::Value::Null).is_ok());
}
