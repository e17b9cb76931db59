//! Every file of `tests/configs/valid` is read, and means what it should.

use std::time::Duration;

use hookexec::config::{Command, Hook, InheritEnv, OnError, Phase};
use hookexec::{Config, Event};
use hookexec_project::LoadOptions;

use super::invalid::files;

fn load(name: &str) -> Config {
    Config::load_file(format!("tests/configs/valid/{name}"))
        .unwrap_or_else(|problems| panic!("{}", problems.render(false)))
}

/// Returns event, type and command of every hook, one a line.
fn summary(config: &Config) -> String {
    let line = |hook: &Hook| {
        let flags =
            [(hook.phase == Phase::Mutate, " mutates"), (hook.phase == Phase::Observe, " observe")];
        let flags: String = flags.iter().filter(|(set, _)| *set).map(|(_, name)| *name).collect();
        format!("{} {} {}{flags}\n", hook.event, hook.kind, hook.label())
    };
    config.hooks.iter().map(line).collect()
}

#[test]
fn every_valid_file_is_read() {
    for file in files("tests/configs/valid") {
        let mut options = LoadOptions::default();
        options.isolated = true;
        options.managed_dir = Some("/nonexistent".into());
        options.files.push(file.clone());
        if let Err(problems) = hookexec_project::load(&options) {
            panic!("{}\n{}", file.display(), problems.render(false));
        }
    }
}

#[test]
fn a_docker_agent_block_works_unchanged() {
    let config = load("docker-agent-block.yaml");
    assert_eq!(config.hooks.len(), 6);
    let shell = &config.hooks[0];
    assert_eq!((shell.event, shell.matcher.as_str()), (Event::PreToolUse, "shell"));
    assert_eq!(shell.timeout, Duration::from_secs(10));
    let Some(Command::Text(text)) = &shell.command else { panic!("no text") };
    assert!(text.contains("grep -qE '^sudo'"));
    let log = &config.hooks[1];
    assert!(log.matcher.is_everything() && log.strict_output);
    assert_eq!(log.env["PORT"], "8080");
    assert_eq!(log.working_dir.as_deref(), Some("~/logs"));
    assert_eq!(log.on_error, Some(OnError::Warn));
    assert_eq!(log.timeout, Duration::from_mins(1));
    assert_eq!(config.hooks[5].args, ["AGENTS.md", "CLAUDE.md"]);
}

#[test]
fn picoclaws_shorthand_becomes_hooks() {
    let config = load("picoclaw-config.json");
    let mut few = config.clone();
    few.hooks.retain(|hook| hook.label() != "all");
    insta::assert_snapshot!(summary(&few), @"
        before_llm_call process rewriter mutates
        after_llm_call process rewriter mutates
        pre_tool_use process rewriter mutates
        post_tool_use process rewriter mutates
        pre_tool_use process review_gate mutates
        permission_request process review_gate
        pre_tool_use process review_gate observe
        post_tool_use process review_gate observe
        ");
    let gate: Vec<&Hook> =
        config.hooks.iter().filter(|hook| hook.label() == "review_gate").collect();
    let timeouts: Vec<u128> = gate.iter().map(|hook| hook.timeout.as_millis()).collect();
    assert_eq!(timeouts, [4_000, 30_000, 500, 500]);
    // A broken interceptor of a tool call denies; a broken observer is nobody's business.
    assert_eq!(gate[0].on_error, None);
    assert_eq!(gate[2].on_error, Some(OnError::Ignore));
    let all = config.hooks.iter().filter(|hook| hook.label() == "all").count();
    assert_eq!(all, Event::all().len());
    assert!(!config.processes.contains_key("off"));
    assert_eq!(config.processes["review_gate"].working_dir.as_deref(), Some("/opt"));
    assert!(config.warnings.to_string().contains("channel.lifecycle.started"));
}

#[test]
fn a_chain_comes_after_the_hooks_of_its_file() {
    insta::assert_snapshot!(summary(&load("picoclaw-shorthand.yaml")), @"
        pre_tool_use command ./first.sh
        pre_tool_use process gate mutates
        turn_end process gate observe
        ");
}

#[test]
fn every_key_is_read() {
    let config = load("everything.yaml");
    assert_eq!(config.hooks[0].layer_max_parallel(), Some(8));
    assert_eq!(config.hooks[0].layer_deadline(), Some(Duration::from_secs(30)));
    insta::assert_debug_snapshot!("everything_hook", config.hooks[0]);
    insta::assert_debug_snapshot!("everything_process", config.processes["full"]);
    let custom = &config.hooks[1];
    assert_eq!(custom.kind, "full_custom");
    assert_eq!(
        custom.with,
        Some(serde_json::json!({ "url": "http://x", "retries": 3, "list": [1, { "a": null }] }))
    );
    assert_eq!(custom.inherit_env, InheritEnv::Only(vec!["PATH".into(), "HOME".into()]));
    assert_eq!(custom.shell.as_deref(), Some("/bin/bash"));
    assert_eq!(custom.timeout, Duration::from_mins(2));
    let bye = &config.hooks[2];
    assert!(bye.phase == Phase::Background);
    // `defaults.on_error: block` where nothing can block is a warning.
    assert_eq!(bye.on_error, Some(OnError::Warn));
    assert_eq!(config.hooks[3].timeout, Duration::from_millis(1_500));
}

#[test]
fn the_default_of_on_error_is_never_weaker_than_the_event() {
    use OnError::{Ask, Block, Warn};
    let on_error = |default: &str| -> Vec<Option<OnError>> {
        let text = format!(
            "defaults: {{ on_error: {default} }}\n\
             pre_tool_use: {{ hooks: {{ type: command, command: a }} }}\n\
             permission_request: {{ hooks: {{ type: command, command: a }} }}\n\
             user_prompt_submit: {{ type: command, command: a }}\n\
             stop: {{ type: command, command: a }}\n"
        );
        let hooks = Config::from_yaml(&text, "x").map(|config| config.hooks).unwrap_or_default();
        hooks.iter().map(|hook| hook.on_error).collect()
    };
    assert_eq!(on_error("block"), [Some(Block), Some(Block), Some(Block), Some(Warn)]);
    assert_eq!(on_error("ask"), [None, Some(Ask), Some(Ask), Some(Warn)]);
    assert_eq!(on_error("warn"), []);
    assert_eq!(on_error("ignore"), []);
}

#[test]
fn aliases_and_merge_keys_mean_what_they_say() {
    let config = load("anchors.yaml");
    let commands: Vec<(&str, Command)> = config
        .hooks
        .iter()
        .map(|hook| (hook.matcher.as_str(), hook.command.clone().unwrap()))
        .collect();
    let text = |text: &str| Command::Text(text.into());
    assert_eq!(
        commands,
        [
            ("shell", text("./a.sh")),
            ("shell", text("./b.sh")),
            ("edit_file", text("./a.sh")),
            ("edit_file", text("./b.sh"))
        ]
    );
}

#[test]
fn what_is_probably_not_meant_is_a_warning() {
    let text = r"
processes:
  idle: { command: [x] }
  busy: { command: [x] }
hooks:
  pre_tool_use:
    - hooks:
        - { type: command, command: ./a.sh }
        - { type: command, command: ./b.sh }
        - { type: command, command: ./c.sh, on_error: warn }
        - { type: command, command: ./d.sh, enabled: false }
        - { type: process, command: busy }
        - { type: command, command: [x], on_error: block }
  stop:
    - { type: command, command: ./e.sh }
    - { type: command, command: ./f.sh }
    - { type: command, command: ./f.sh }
    - { type: command, command: ./g.sh, when: { field: tol_input.cmd, exists: true } }
  session_end: []
";
    let config = Config::from_yaml(text, "hooks.yaml").unwrap();
    insta::assert_snapshot!(config.warnings.render(false), @"
        warning: 2 guards, this one first, on `pre_tool_use` would let the tool run after a crash (exit code 1)
         --> hooks.yaml:8:11
          |
        8 |         - { type: command, command: ./a.sh }
          |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          |
          = help: set `on_error: block` on the hook or in `defaults:`

        warning: this hook is the same as the one at hooks.yaml:16, and does not run
          --> hooks.yaml:17:7
           |
        17 |     - { type: command, command: ./f.sh }
           |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

        warning: no input of ours has a field `tol_input`
          --> hooks.yaml:18:56
           |
        18 |     - { type: command, command: ./g.sh, when: { field: tol_input.cmd, exists: true } }
           |                                                        ^^^^^^^^^^^^^
           |
           = help: did you mean `tool_input`?

        warning: `session_end` has no hooks
          --> hooks.yaml:19:3
           |
        19 |   session_end: []
           |   ^^^^^^^^^^^
        ");
}

#[test]
fn a_hook_is_warned_of_as_a_duplicate_exactly_when_it_never_runs() {
    use hookexec::executor::Selection;
    use hookexec::wire::JsonObject;
    use hookexec::{Event, Executor, Input};

    for (first, second, differing, never) in [
        ("shell", "shell", "", true),
        ("*", "shell", "", true),
        // Only what is declared for replays differs.
        ("shell", "shell", ", side_effects: none", true),
        ("shell", "*", "", false),
        ("shell", "shell", ", timeout: 5", false),
        ("shell", "edit_file", "", false),
    ] {
        let text = format!(
            "pre_tool_use:\n\
             - {{ matcher: '{first}', hooks: [{{ type: command, command: x, on_error: block }}] }}\n\
             - {{ matcher: '{second}', hooks: [{{ type: command, command: x, on_error: block{differing} }}] }}\n"
        );
        let config = Config::from_yaml(&text, "hooks.yaml").unwrap();
        let warned = config.warnings.render(false).contains("does not run");
        let executor = Executor::builder(config).build().unwrap();
        let runs = |tool: &str| {
            let input = Input::for_tool(tool, JsonObject::new());
            executor.explain(Event::PreToolUse, &input)[1].selection == Selection::Runs
        };
        let ever = ["shell", "edit_file", "other"].into_iter().any(runs);
        assert_eq!((warned, ever), (never, !never), "{text}");
    }
}
