//! `hookexec init --from claude-code:FILE`, from outside: realistic settings in, hooks that run out.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Done, Sandbox};

/// Returns a sandbox with a settings file of the given name.
fn with_settings(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let settings = Path::new(crate::support::ROOT).join("tests/agents/claude-settings");
    let text = std::fs::read_to_string(settings.join(name)).unwrap();
    sandbox.write(".claude/settings.json", &text);
    sandbox
}

fn import(sandbox: &Sandbox, more: &[&str]) -> Done {
    let args = ["init", "--from", "claude-code:.claude/settings.json"];
    sandbox.hookexec(args.iter().chain(more)).run()
}

#[test]
fn a_settings_file_becomes_a_hooks_file_that_loads() {
    for name in ["project.json", "user.json"] {
        let sandbox = with_settings(name);
        let done = import(&sandbox, &[]).exits(0);
        insta::assert_snapshot!(format!("import-{name}"), done.stdout);
        insta::assert_snapshot!(format!("import-{name}-remarks"), done.stderr);
        sandbox.write("imported.yaml", &done.stdout);
        let check = sandbox.hookexec(["check", "--config", "imported.yaml"]).run().exits(0);
        assert!(check.stdout.contains(" 0 errors"), "{check:#?}");
    }
}

#[test]
fn what_cannot_be_imported_is_named_by_its_line_and_nothing_is_written() {
    let sandbox = with_settings("refused.json");
    let done = import(&sandbox, &["--output", "hooks.yaml"]);
    assert_eq!(done.code(), Some(78));
    assert!(!sandbox.project().join("hooks.yaml").exists());
    insta::assert_snapshot!("refused", done.stderr);
    // It is not known which of two keys counts.
    let text = sandbox.read(".claude/settings.json").replace(",\n    \"Stop\": []", "");
    sandbox.write(".claude/settings.json", &text);
    insta::assert_snapshot!("refused-by-line", import(&sandbox, &[]).stderr);
    let done = import(&sandbox, &["--partial", "--output", "hooks.yaml"]).exits(0);
    assert!(done.stderr.contains("hookexec trust add hooks.yaml"), "{}", done.stderr);
    assert!(done.stderr.contains("settings.json:5:9: a hook of type `agent`"), "{}", done.stderr);
    assert!(!done.stderr.contains("error: "), "{}", done.stderr);
    insta::assert_snapshot!("partial", sandbox.plain(&sandbox.read("hooks.yaml")));
    let again = import(&sandbox, &["--partial", "--output", "hooks.yaml"]).exits(64);
    let said = "hooks.yaml is there already; nothing was written";
    assert!(again.stderr.contains(said), "{}", again.stderr);
}

#[test]
fn a_matcher_that_claude_code_ignores_drops_no_hook() {
    for event in ["UserPromptSubmit", "Stop"] {
        for matcher in ["Bash|x", "^a.*", "(?!Bash).*"] {
            let sandbox = Sandbox::new();
            let hooks = json!([{"type": "command", "command": "./guard.sh"}]);
            let settings = json!({"hooks": {event: [{"matcher": matcher, "hooks": hooks}]}});
            sandbox.write(".claude/settings.json", &settings.to_string());
            let done = import(&sandbox, &[]).exits(0);
            assert!(done.stdout.contains("command: ./guard.sh"), "{event} {matcher}: {done:#?}");
            for limit in ["matcher:", "when:"] {
                assert!(!done.stdout.contains(limit), "{event} {matcher}: {done:#?}");
            }
        }
    }
}

#[test]
fn a_file_without_hooks_is_no_empty_policy() {
    let sandbox = Sandbox::new();
    for (text, problem, code) in [
        ("{}", "the file has no `hooks`", 78),
        ("[]", "the file must be a mapping", 78),
        ("", "not valid JSON", 64),
        ("{\"hooks\": ", "not valid JSON", 64),
    ] {
        sandbox.write(".claude/settings.json", text);
        let done = import(&sandbox, &["--partial"]).exits(code);
        assert!(done.stderr.contains(problem), "{}", done.stderr);
    }
    let done = sandbox.hookexec(["init", "--from", "claude-code:none.json"]).run().exits(64);
    assert!(done.stderr.contains("can't read none.json"), "{}", done.stderr);
}

#[test]
fn of_two_lists_of_hooks_none_is_imported() {
    let sandbox = Sandbox::new();
    sandbox.write(".claude/settings.json", "{\"hooks\": {},\n\"hooks\": {\"Stop\": []}}");
    let done = import(&sandbox, &[]).exits(78);
    assert!(done.stderr.contains("the key `hooks` appears twice"), "{}", done.stderr);
    let done = import(&sandbox, &["--partial"]).exits(0);
    assert!(done.stdout.contains("the key `hooks` appears twice"), "{}", done.stdout);
}

/// A sandbox in which the project's settings were imported.
fn imported() -> Sandbox {
    let sandbox = with_settings("project.json");
    sandbox.script(
        ".claude/hooks/protect.py",
        "#!/usr/bin/env python3\nimport json, sys\ndata = json.load(sys.stdin)\nif '.env' in data['tool_input']['file_path']:\n    print('a secret: ' + data['tool_name'], file=sys.stderr)\n    sys.exit(2)\n",
    );
    let _ = import(&sandbox, &["--output", "imported.yaml"]).exits(0);
    sandbox
}

fn call(sandbox: &Sandbox, agent: &str, event: &str, payload: Value) -> Done {
    let mut payload = payload;
    payload["cwd"] = json!(sandbox.project());
    payload["hook_event_name"] = json!(event);
    let args = ["run", "--from", agent, "--event", event, "--config", "imported.yaml"];
    sandbox.hookexec(args).stdin(payload.to_string()).run().exits(0)
}

#[test]
fn an_imported_policy_holds_under_claude_code_codex_and_gemini() {
    let sandbox = imported();
    for (agent, before, shell) in [
        ("claude-code", "PreToolUse", "Bash"),
        ("codex", "PreToolUse", "Bash"),
        ("gemini", "BeforeTool", "run_shell_command"),
        ("qwen", "PreToolUse", "run_shell_command"),
    ] {
        let command =
            |command: &str| json!({"tool_name": shell, "tool_input": {"command": command}});
        let denied = call(&sandbox, agent, before, command("rm -rf /"));
        assert!(denied.stdout.contains("Refusing: rm -rf"), "{agent}: {denied:#?}");
        let allowed = call(&sandbox, agent, before, command("date"));
        assert_eq!(allowed.stdout, "", "{agent}");
    }
    let edit =
        |name: &str, path: &str| json!({"tool_name": name, "tool_input": {"file_path": path}});
    let diff = "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: .env\n*** End Patch";
    let patch = json!({"tool_name": "apply_patch", "tool_input": {"command": diff}});
    for (agent, event, payload) in [
        ("claude-code", "PreToolUse", edit("Write", "/x/.env")),
        ("gemini", "BeforeTool", edit("replace", "/x/.env")),
        ("codex", "PreToolUse", patch),
    ] {
        let done = call(&sandbox, agent, event, payload);
        assert!(done.stdout.contains("a secret: "), "{agent}: {done:#?}");
    }
    let ask = call(
        &sandbox,
        "claude-code",
        "PreToolUse",
        json!({"tool_name": "mcp__fs__delete_all", "tool_input": {}}),
    );
    assert!(ask.stdout.contains(r#""permissionDecision":"ask""#), "{ask:#?}");
}

#[test]
fn imported_hooks_run_at_the_moments_they_were_written_for() {
    let sandbox = imported();
    let edited = json!({"tool_name": "replace", "tool_input": {"file_path": "/a"}, "tool_response": {"llmContent": "ok"}});
    assert_eq!(call(&sandbox, "gemini", "AfterTool", edited).stdout, "");
    assert_eq!(sandbox.read("formatted.log"), "formatted /a\n");
    assert!(!sandbox.project().join("failed.log").exists());
    let failed = json!({"tool_name": "replace", "tool_input": {"file_path": "/b"}, "tool_response": {"error": "no"}});
    assert_eq!(call(&sandbox, "gemini", "AfterTool", failed).stdout, "");
    assert_eq!(sandbox.read("formatted.log"), "formatted /a\n");
    assert_eq!(sandbox.read("failed.log"), "failed\n");

    let prompt = call(&sandbox, "gemini", "BeforeAgent", json!({"prompt": "hi"}));
    assert!(prompt.stdout.contains("Branch: main"), "{prompt:#?}");
    for (source, context) in [("startup", true), ("resume", true), ("clear", false)] {
        let done = call(&sandbox, "codex", "SessionStart", json!({"source": source}));
        assert_eq!(done.stdout.contains("make test"), context, "{source}: {done:#?}");
    }
    for kind in ["idle_prompt", "permission_prompt"] {
        let _ = call(&sandbox, "claude-code", "Notification", json!({"notification_type": kind}));
    }
    assert_eq!(sandbox.read("notified.log"), "notified\n");
}

#[test]
fn a_hook_may_keep_the_model_at_work() {
    let sandbox = imported();
    for (agent, event, word) in [
        ("claude-code", "Stop", r#""decision":"block","reason":"Run the tests first.""#),
        ("codex", "Stop", r#""decision":"block","reason":"Run the tests first.""#),
        ("qwen", "Stop", r#""decision":"block","reason":"Run the tests first.""#),
        ("copilot", "Stop", r#""decision":"block","reason":"Run the tests first.""#),
        ("gemini", "AfterAgent", r#""decision":"deny","reason":"Run the tests first.""#),
        ("cursor", "stop", r#""followup_message":"Run the tests first.""#),
    ] {
        let first = call(&sandbox, agent, event, json!({"stop_hook_active": false}));
        assert!(first.stdout.contains(word), "{agent}: {first:#?}");
        let again =
            call(&sandbox, agent, event, json!({"stop_hook_active": true, "loop_count": 1}));
        assert_eq!(again.stdout, "", "{agent}");
    }
    // Without a dialect a hook only observes the end of a turn.
    sandbox.write("imported.yaml", "stop: { type: command, command: 'echo go on >&2; exit 2' }");
    let done = call(&sandbox, "codex", "Stop", json!({}));
    assert!(!done.stdout.contains("\"decision\""), "{done:#?}");
}

#[test]
fn a_script_that_an_imported_hook_names_is_part_of_the_approval() {
    let sandbox = imported();
    std::fs::rename(sandbox.project().join("imported.yaml"), sandbox.project().join("hooks.yaml"))
        .unwrap();
    sandbox.trust();
    let write = || {
        let payload = json!({"hook_event_name": "BeforeTool", "cwd": sandbox.project(),
            "tool_name": "write_file", "tool_input": {"file_path": "/a.txt"}});
        let args = ["run", "--from", "gemini", "--event", "BeforeTool"];
        sandbox.hookexec(args).stdin(payload.to_string()).run().exits(0).stdout
    };
    assert_eq!(write(), "");
    sandbox.script(".claude/hooks/protect.py", "#!/bin/sh\nexit 0\n");
    assert!(write().contains("\"decision\":\"deny\""), "{}", write());
}

/// Writes `settings` to a file, imports it and returns what was written.
fn imports(sandbox: &Sandbox, engine: &str, path: &str, settings: &Value) -> Done {
    sandbox.write(path, &settings.to_string());
    let _ = std::fs::remove_file(sandbox.project().join("imported.yaml"));
    let done = sandbox.hookexec(["init", "--from", &format!("{engine}:{path}")]).run();
    sandbox.write("imported.yaml", &done.stdout);
    done
}

#[test]
fn an_entry_of_hookexec_itself_is_skipped() {
    for program in ["/home/me/.cargo/bin/hookexec", "/home/me/hookexec/bin/hookexec-1.2.3"] {
        let sandbox = Sandbox::new();
        let own = format!("{program} run --from claude-code --event PreToolUse --within 54");
        let hooks =
            json!([{"type": "command", "command": own}, {"type": "command", "command": "./a"}]);
        let settings = json!({"hooks": {"PreToolUse": [{"hooks": hooks}]}});
        let done = imports(&sandbox, "claude-code", "settings.json", &settings).exits(0);
        assert_eq!(done.stderr, "skipped 1 hook of hookexec itself\n");
        assert!(!done.stdout.contains("run --from"), "{done:#?}");
        assert!(done.stdout.contains("command: ./a"), "{done:#?}");
    }
}

#[test]
fn what_guards_under_claude_code_alone_is_refused_with_what_to_write() {
    let command = |command: &str| json!({"type": "command", "command": command});
    for (hook, instead) in [
        (json!({"type": "prompt", "prompt": "safe?"}), "write a hook of `type: model` by hand"),
        (json!({"type": "http", "url": "https://example.com"}), "write a hook of `type: http`"),
        (json!({"type": "mcp_tool", "server": "a", "tool": "b"}), "write a hook of `type: mcp`"),
        (command("node \"${CLAUDE_PLUGIN_ROOT}/guard.js\""), "the directory of its plugin"),
    ] {
        let sandbox = Sandbox::new();
        let hooks = json!([hook, command("./kept")]);
        let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}});
        sandbox.write(".claude/settings.json", &settings.to_string());
        let done = import(&sandbox, &[]).exits(78);
        assert!(done.stderr.contains(instead), "{done:#?}");
        let done = import(&sandbox, &["--partial"]).exits(0);
        assert!(done.stdout.contains("# LEFT OUT") && done.stdout.contains(instead), "{done:#?}");
        assert!(done.stdout.contains("command: ./kept"), "{done:#?}");
    }
}

#[test]
fn permissions_are_named_as_left_out() {
    let sandbox = Sandbox::new();
    let settings = json!({"permissions": {"deny": ["Read(./.env)"]}, "hooks": {}});
    sandbox.write(".claude/settings.json", &settings.to_string());
    let done = import(&sandbox, &[]).exits(0);
    let line = "#   .claude/settings.json:1: `permissions` is left out; leave it in the settings";
    assert!(done.stdout.contains(line), "{done:#?}");
    assert!(done.stderr.contains("`permissions` is left out"), "{done:#?}");
}

#[test]
fn the_answer_of_an_async_hook_is_named_as_left_out() {
    let hook = json!({"type": "command", "command": "./context", "async": true});
    let settings = json!({"hooks": {"SessionStart": [{"hooks": [hook]}]}});
    let done = imports(&Sandbox::new(), "claude-code", "settings.json", &settings).exits(0);
    let line = "# LEFT OUT, or doubtful. What is left out guards nothing here:\n#   settings.json:1: what an `async` hook answers is left out";
    assert!(done.stdout.contains(line), "{done:#?}");
    assert!(done.stdout.contains("background: true"), "{done:#?}");
}

#[test]
fn an_entry_that_no_agent_reads_is_not_lost_silently() {
    let hook = json!({"type": "command", "command": "exit 2"});
    for engine in ["claude-code", "codex", "gemini"] {
        let event = if engine == "gemini" { "BeforeTool" } else { "PreToolUse" };
        for entry in [
            json!({"matcher": "Bash", "command": "exit 2"}),
            hook.clone(),
            json!({"matcher": "Bash", "hook": [hook]}),
            json!({"matcher": "Bash"}),
            json!("exit 2"),
        ] {
            let sandbox = Sandbox::new();
            let settings = json!({"hooks": {event: [entry]}});
            let done = imports(&sandbox, engine, "settings.json", &settings).exits(78);
            assert!(done.stderr.contains("--> settings.json:1:"), "{engine} {entry}: {done:#?}");
        }
    }
}

#[test]
fn a_matcher_that_cannot_be_imported_is_named_by_its_line() {
    for (matcher, problem) in [
        ("Bash(git push:*)", "which matches no tool, can't be imported"),
        ("mcp__a b", "can't match the name of any tool"),
    ] {
        let sandbox = Sandbox::new();
        let text = format!(
            "{{ // a comment\n\"hooks\": {{ \"PreToolUse\": [\n{{ \"matcher\": \"{matcher}\", \"hooks\": [{{ \"type\": \"command\", \"command\": \"x\" }}] }},\n{{ \"matcher\": \"Bash\", \"hooks\": [{{ \"type\": \"command\", \"command\": \"kept\" }}] }}\n] }} }}"
        );
        sandbox.write(".claude/settings.json", &text);
        let done = import(&sandbox, &[]).exits(78);
        assert!(done.stderr.contains(problem), "{done:#?}");
        assert!(done.stderr.contains("settings.json:3:"), "{done:#?}");
        let done = import(&sandbox, &["--partial"]).exits(0);
        let place = "#   .claude/settings.json:3: ";
        assert!(done.stdout.contains(place) && done.stdout.contains("kept"), "{done:#?}");
    }
}

#[test]
fn hooks_of_gemini_and_codex_go_on_working_there() {
    let guard = "python3 -c 'import json,sys; d=json.load(sys.stdin); sys.exit(2 if \"rm\" in d[\"tool_input\"][\"command\"] else 0)'";
    let hook = json!([{"type": "command", "command": guard, "timeout": 5000}]);
    for (engine, event, tool, timeout) in [
        ("gemini", "BeforeTool", "run_shell_command", "timeout: \"5000ms\""),
        ("codex", "PreToolUse", "Bash", "timeout: 5000\n"),
    ] {
        let sandbox = Sandbox::new();
        let settings = json!({"hooks": {event: [{"matcher": tool, "hooks": hook}]}});
        let done = imports(&sandbox, engine, "settings.json", &settings).exits(0);
        assert!(done.stdout.contains(timeout), "{done:#?}");
        let payload =
            |command: &str| json!({"tool_name": tool, "tool_input": {"command": command}});
        let denied = call(&sandbox, engine, event, payload("rm -rf /"));
        assert!(denied.stdout.contains("deny"), "{engine}: {denied:#?}");
        assert_eq!(call(&sandbox, engine, event, payload("date")).stdout, "", "{engine}");
        // The kind of the tool makes the guard hold under another agent.
        let payload = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}});
        let denied = call(&sandbox, "claude-code", "PreToolUse", payload);
        assert!(denied.stdout.contains("deny"), "{engine}: {denied:#?}");
    }
}

#[test]
fn settings_whose_scripts_speak_other_words_are_not_imported() {
    let sandbox = Sandbox::new();
    for engine in ["cursor", "copilot", "windsurf"] {
        let done = imports(&sandbox, engine, "hooks.json", &json!({"hooks": {}})).exits(64);
        let expected = "ENGINE is one of: claude-code, codex, gemini, docker-agent, picoclaw";
        assert!(done.stderr.contains(expected), "{engine}: {}", done.stderr);
    }
}

#[test]
fn what_has_no_counterpart_is_listed_with_the_reason() {
    for (engine, event, reason) in [
        ("claude-code", "WorktreeCreate", "hookexec has no event"),
        ("gemini", "BeforeModel", "`llm_request`"),
        ("codex", "PreTolUse", "unknown event"),
    ] {
        let sandbox = Sandbox::new();
        let settings = json!({"hooks": {event: [{"command": "x", "type": "command"}]}});
        let done = imports(&sandbox, engine, "hooks.json", &settings).exits(78);
        assert!(done.stderr.contains(reason), "{engine} {event}: {}", done.stderr);
        let done = sandbox
            .hookexec(["init", "--from", &format!("{engine}:hooks.json"), "--partial"])
            .run()
            .exits(0);
        assert!(done.stdout.contains("LEFT OUT"), "{engine} {event}: {}", done.stdout);
    }
}

#[test]
fn the_hooks_of_a_docker_agent_file_are_written_without_the_rest() {
    let sandbox = Sandbox::new();
    let file = r#"version: "3"
models:
  smart: { provider: openai, model: gpt-x }
agents:
  root:
    model: smart
    add_date: true
    hooks:
      pre_tool_use:
        - matcher: shell
          hooks:
            - { type: command, command: 'echo no >&2; exit 2', on_error: block, timeout: 5, env: { A: b } }
            - { type: model, model: smart, prompt: "{{ toJSON . }}", schema: pre_tool_use_decision }
            - { type: evaluator, prompt: "is it safe?" }
      stop:
        - { type: model, model: smart, prompt: "is it done?" }
"#;
    sandbox.write("team.yaml", file);
    let import = |more: &[&str]| {
        let args = ["init", "--from", "docker-agent:team.yaml"];
        sandbox.hookexec(args.iter().chain(more)).run()
    };
    let done = import(&[]).exits(78);
    assert!(done.stderr.contains("`--agent NAME`"), "{}", done.stderr);
    let done = import(&["--agent", "root"]).exits(78);
    assert_eq!(done.stderr.matches("error: ").count(), 3, "{}", done.stderr);
    for (line, kind) in [(13, "model"), (14, "evaluator"), (16, "model")] {
        let problem = format!("a hook of type `{kind}` can't be imported\n  --> team.yaml:{line}:");
        assert!(done.stderr.contains(&problem), "{problem}: {}", done.stderr);
    }
    let done = import(&["--agent", "root", "--partial"]).exits(0);
    for part in [
        "#   team.yaml:13: a hook of type `model`",
        "#   team.yaml:16: a hook of type `model`",
        "on_error: block",
        "timeout: 5\n",
        "- type: builtin",
        "add_date",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    assert!(!done.stdout.contains("  stop:"), "{}", done.stdout);
    sandbox.write("imported.yaml", &done.stdout);
    let args = ["run", "pre_tool_use", "--config", "imported.yaml"];
    let input = r#"{"tool_name":"shell","tool_input":{"cmd":"ls"}}"#;
    let _ = sandbox.hookexec(args).stdin(input).run().exits(2);
}

#[test]
fn each_value_of_a_docker_agent_hook_arrives_as_it_is_written() {
    let block = r#"
pre_tool_use:
  matcher: "shell|write_.*"
  when: { field: tool_input.path, glob: "/etc/**" }
  hooks: &guards
    - command: |-
        case "$(cat)" in
          *rm*) exit 2;;
        esac
      type: command
      name: '#1 "guard": it''s strict'
      env: { WORD: True, HEX: 0x1F, TEXT: "5", EMPTY: "" }
      timeout: 1m
      mode: shadow
session_start:
  type: command
  command: [echo, "a\tb", "- c"]
  inherit_env: [PATH]
permission_request:
  - { matcher: "*", hooks: *guards }
processes:
  gate: { command: [gate], intercept: [before_tool], priority: 7 }
"#;
    let sandbox = Sandbox::new();
    let inner = block.replace('\n', "\n      ");
    sandbox.write("team.yaml", &format!("agents:\n  root:\n    hooks:{inner}\n"));
    let args = ["init", "--from", "docker-agent:team.yaml", "--agent", "root"];
    let done = sandbox.hookexec(args).run().exits(0);
    assert_eq!(meanings(&done.stdout), meanings(&format!("hooks:{}", block.replace('\n', "\n  "))));
}

/// Returns what the hooks of a hooks file do, without the places where they stand.
fn meanings(text: &str) -> Vec<String> {
    let config = hookexec::Config::from_yaml(text, "hooks.yaml").unwrap();
    let hooks = config.hooks.into_iter().map(|mut hook| {
        hook.location = hookexec::config::Location::default();
        let said = format!("{hook:?}");
        said.split("key_locations").next().unwrap().to_owned()
    });
    hooks.collect()
}

#[test]
fn a_hook_that_is_left_out_takes_no_other_along() {
    let sandbox = Sandbox::new();
    let hook = |command: &str| json!({"type": "command", "command": command});
    let late = json!({"type": "command", "command": "./late", "timeout": 100_000});
    let agent = json!({"type": "agent", "prompt": "?"});
    let group = |matcher: &str, hooks: &[Value]| json!({"matcher": matcher, "hooks": hooks});
    let settings = json!({"hooks": {
        "PostToolUse": [
            group("Bash", &[agent.clone(), hook("./first"), late.clone(), hook("./second")]),
            group("(?!x)", &[hook("./lost")]),
            group("Edit", std::slice::from_ref(&late)),
        ],
        "SessionStart": [
            group("startup", &[late.clone(), hook("./third"), agent]),
            group("(?=x)", &[hook("./lost")]),
        ],
        "Stop": [{"hooks": [late, hook("./fourth")]}],
    }});
    sandbox.write(".claude/settings.json", &serde_json::to_string_pretty(&settings).unwrap());
    let done = import(&sandbox, &["--partial"]).exits(0);
    insta::assert_snapshot!("left-out", done.stdout);
}

/// Returns a sandbox with the file of another engine.
fn with_engine(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let file = Path::new(crate::support::ROOT).join("tests/agents/engines").join(name);
    sandbox.write(name, &std::fs::read_to_string(file).unwrap());
    sandbox
}

fn import_agent(name: &str) -> Done {
    let args = ["init", "--from", "docker-agent:docker-agent.yaml", "--agent", name];
    with_engine("docker-agent.yaml").hookexec(args).run()
}

/// Returns event, type and what runs of each hook that `text` configures.
fn summary(text: &str) -> String {
    let config = hookexec::Config::from_yaml(text, "imported.yaml").unwrap();
    let line = |hook: &hookexec::config::Hook| {
        format!("{} {} {} {:?}\n", hook.event, hook.kind, hook.label(), hook.args)
    };
    config.hooks.iter().map(line).collect()
}

#[test]
fn the_hooks_of_an_agent_come_with_those_of_its_flags() {
    insta::assert_snapshot!(summary(&import_agent("root").exits(0).stdout), @r#"
        pre_tool_use command ./guard.sh []
        session_start builtin add_environment_info []
        turn_start command ./status.sh []
        turn_start builtin add_date []
        turn_start builtin add_prompt_files ["AGENTS.md"]
        "#);
    let done = import_agent("helper").exits(78);
    assert!(done.stderr.contains("this agent has no hooks"), "{}", done.stderr);
}

#[test]
fn an_unknown_agent_is_an_error_that_lists_the_known_ones() {
    insta::assert_snapshot!(import_agent("rot").exits(78).stderr, @"
        error: choose an agent with `--agent NAME`
         --> docker-agent.yaml:5:3
          |
        5 |   root:
          |   ^^^^^
          |
          = help: the file has: root, helper
        ");
}

#[test]
fn a_misspelt_key_does_not_lose_the_hooks_of_an_agent() {
    let sandbox = Sandbox::new();
    sandbox.write("team.yaml", "agents: { root: { hook: { stop: [] } } }\n");
    let args = ["init", "--from", "docker-agent:team.yaml", "--agent", "root"];
    let done = sandbox.hookexec(args).run().exits(78);
    assert!(done.stderr.contains("unknown key `hook` in an agent"), "{}", done.stderr);
}

#[test]
fn the_hooks_of_picoclaw_are_written_without_the_rest() {
    let import = |sandbox: &Sandbox, more: &[&str]| {
        let args = ["init", "--from", "picoclaw:picoclaw.json"];
        sandbox.hookexec(args.iter().chain(more)).run()
    };
    let sandbox = with_engine("picoclaw.json");
    let done = import(&sandbox, &[]).exits(0);
    let block = Path::new(crate::support::ROOT).join("tests/configs/valid/picoclaw-config.json");
    let block = std::fs::read_to_string(block).unwrap();
    assert_eq!(summary(&done.stdout), summary(&block));
    // A hook that is compiled into PicoClaw is named, and so is a process that hookexec refuses.
    let original = sandbox.read("picoclaw.json");
    for (from, to, problem) in [
        (r#""enabled": false, "priority": 1"#, r#""enabled": true"#, "is compiled into PicoClaw"),
        (r#"["node", "r.js"]"#, r#""node""#, "the `command` of a process"),
    ] {
        sandbox.write("picoclaw.json", &original.replace(from, to));
        let done = import(&sandbox, &["--partial"]).exits(78);
        assert!(done.stderr.contains(problem), "{}", done.stderr);
    }
    sandbox.write("picoclaw.json", "{ hooks: 1 }");
    let done = import(&sandbox, &[]).exits(64);
    assert!(done.stderr.contains("picoclaw.json: it is not valid JSON"), "{}", done.stderr);
    sandbox.write("picoclaw.json", r#"{"agents": {}}"#);
    let done = import(&sandbox, &["--partial"]).exits(78);
    assert!(done.stderr.contains("the file has no `hooks`"), "{}", done.stderr);
}

#[test]
fn a_list_of_hooks_that_stands_twice_or_is_empty_is_an_error() {
    let sandbox = Sandbox::new();
    let blocks = [
        "{ matcher: shell, hooks: [{ type: command, command: ./log.sh }], hooks: [{ type: command, command: ./guard.sh }] }",
        "{ type: command, command: ./guard.sh, hooks: [] }",
        "{ matcher: shell, hooks: [], hook: [{ type: command, command: ./guard.sh }] }",
    ];
    for block in blocks {
        let file = format!("agents: {{ root: {{ hooks: {{ pre_tool_use: [{block}] }} }} }}");
        sandbox.write("a.yaml", &file);
        let from = ["init", "--from", "docker-agent:a.yaml", "--agent", "root"];
        let done = sandbox.hookexec(from).run().exits(78);
        assert!(done.stderr.contains("a.yaml:1"), "{block}: {done:?}");
    }
}
