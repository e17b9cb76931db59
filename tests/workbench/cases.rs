//! `hookexec test`: cases in YAML, differences, coverage, formats.

use serde_json::{Value, json};

use crate::support::{Done, Sandbox};

const HOOKS: &str = r#"hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: command, name: no-rm, command: 'echo "not that" >&2; exit 2', when: { field: tool_input.cmd, regex: "^rm " } }
        - { type: command, name: deploy-log, command: "touch deployed", when: { field: tool_input.cmd, regex: "^deploy" } }
    - matcher: edit_file
      hooks:
        - { type: command, name: lower, mutates: true, command: 'echo "{\"hook_specific_output\":{\"updated_input\":{\"path\":\"b\"}}}"' }
  session_start:
    - { type: command, name: greet, command: echo hello }
"#;

const CASES: &str = r"cases:
  - name: rm is denied
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: rm -r x } }
    expect: { decision: deny, allowed: false, message: not that, ran: [no-rm], not_run: [lower] }
  - name: a deployment is only noted
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: deploy now } }
    stubs: { deploy-log: {} }
    expect: { decision: none, message: null, ran: [deploy-log], updated_input: null }
  - name: a log that fails stops it
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: deploy now } }
    stubs: { deploy-log: { failure: the disk is full } }
    expect: { decision: deny, message: { regex: the disk is full } }
  - name: paths are changed
    event: pre_tool_use
    input: { tool_name: edit_file, tool_input: { path: A, text: x } }
    expect: { decision: none, updated_input: { text: x, path: b } }
  - name: a greeting
    event: session_start
    expect: { additional_context: hello, ran: [greet], failed_open: [] }
";

fn sandbox(cases: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    sandbox.write("hooks.test.yaml", cases);
    sandbox
}

fn test(sandbox: &Sandbox, arguments: &[&str]) -> Done {
    sandbox.hookexec([&["test"], arguments].concat()).run()
}

#[test]
fn cases_that_hold_pass_and_stubbed_hooks_do_not_run() {
    let sandbox = sandbox(CASES);
    let done = test(&sandbox, &[]).exits(0);
    for line in ["5 passed, 0 failed", "coverage of hooks.yaml: 100 % (8 of 8)"] {
        assert!(done.stdout.lines().any(|found| found == line), "{line}\n{}", done.stdout);
    }
    assert_eq!(done.stderr, "");
    assert!(!sandbox.project().join("deployed").exists());
}

#[test]
fn a_policy_that_breaks_is_caught_with_what_differs() {
    let sandbox = sandbox(CASES);
    sandbox.write("hooks.yaml", &HOOKS.replace("exit 2", "exit 0"));
    let done = test(&sandbox, &["--format", "json"]).exits(1);
    let results: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((results["passed"].as_u64(), results["failed"].as_u64()), (Some(4), Some(1)));
    let differences = results["files"][0]["cases"][0]["differences"].as_array().unwrap();
    let what: Vec<_> = differences.iter().map(|one| one["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["decision", "allowed", "message"]);

    let done = test(&sandbox, &[]).exits(1);
    for line in [
        "  FAILED  rm is denied",
        "          hooks.test.yaml:2",
        "          decision (`-` expected, `+` found):",
        "            - deny",
        "            + none",
        "4 passed, 1 failed",
    ] {
        assert!(
            done.stdout.lines().any(|found| found.starts_with(line)),
            "{line}\n{}",
            done.stdout
        );
    }
}

#[test]
fn what_no_case_reaches_is_named_and_may_fail_the_run() {
    let first = CASES.split("  - name: a deployment").next().unwrap();
    let sandbox = sandbox(first);
    let done = test(&sandbox, &[]).exits(0);
    for line in [
        "coverage of hooks.yaml: 37 % (3 of 8)",
        "  never false: tool_input.cmd regex \"^rm \" of no-rm hooks.yaml:5",
        "  never ran: deploy-log hooks.yaml:6",
        "  never true: tool_input.cmd regex \"^deploy\" of deploy-log hooks.yaml:6",
        "  never ran: lower (matcher `edit_file`) hooks.yaml:9",
        "  never ran: greet hooks.yaml:11",
    ] {
        assert!(done.stdout.lines().any(|found| found == line), "{line}\n{}", done.stdout);
    }
    let done = test(&sandbox, &["--min-coverage", "38"]).exits(1);
    assert!(done.stdout.contains("less than the 38 % demanded"), "{}", done.stdout);
    let _ = test(&sandbox, &["--min-coverage", "37"]).exits(0);
    let _ = test(&sandbox, &["--min-coverage", "37", "--filter", "rm"]).exits(64);
}

#[test]
fn a_filter_chooses_by_name() {
    let sandbox = sandbox(CASES);
    let done = test(&sandbox, &["--filter", "greet"]).exits(0);
    assert!(done.stdout.contains("1 passed, 0 failed"), "{}", done.stdout);
    assert!(!done.stdout.contains("coverage"), "{}", done.stdout);
    let done = test(&sandbox, &["--filter", "nothing like it"]).exits(64);
    assert_eq!(done.stdout, "");
}

#[test]
fn github_names_the_failed_case() {
    let sandbox = sandbox(&CASES.replace("message: not that", "message: not <this>"));
    let done = test(&sandbox, &["--format", "github"]).exits(1);
    let error = "::error file=hooks.test.yaml,line=2,title=rm is denied::message (`-` \
                 expected, `+` found):%0A  - not <this>";
    assert!(done.stdout.starts_with(error), "{}", done.stdout);
}

#[test]
fn broken_files_are_errors_with_their_place_and_nothing_runs() {
    for (cases, problem) in [
        ("cases:\n- { name: a, event: stopp, expect: { allowed: true } }", "unknown event `stopp`"),
        (&*CASES.replace("[no-rm]", "[no-rmm]"), "no hook is called `no-rmm`"),
        (&*CASES.replace("{ deploy-log: {} }", "{ deploy: {} }"), "no hook is called `deploy`"),
        ("cases: [", "hooks.test.yaml:1"),
    ] {
        let sandbox = sandbox(cases);
        let done = test(&sandbox, &[]).exits(78);
        assert!(done.stderr.contains(problem), "{problem}\n{}", done.stderr);
        assert!(done.stderr.contains("hooks.test.yaml:"), "{}", done.stderr);
        assert_eq!(done.stdout, "");
    }
    let sandbox = sandbox(CASES);
    sandbox.write("hooks.yaml", "hooks: { pre_tool_usee: [] }");
    let done = test(&sandbox, &[]).exits(78);
    assert!(done.stderr.contains("unknown event `pre_tool_usee`"), "{}", done.stderr);
    std::fs::remove_file(sandbox.project().join("hooks.test.yaml")).unwrap();
    let done = test(&sandbox, &[]).exits(64);
    assert!(done.stderr.contains("no test cases were found here"), "{}", done.stderr);
}

#[test]
fn rules_are_known_and_files_may_name_their_configuration() {
    let sandbox = Sandbox::new();
    let hooks =
        "hooks:\n  pre_tool_use:\n    - hooks: [{ type: rule, deny: no shell, tools: [shell] }]\n";
    sandbox.write("policy/agent.yaml", hooks);
    let cases = "config: ../policy/agent.yaml\ncases:\n- name: no shell\n  event: pre_tool_use\n  input: { tool_name: shell }\n  expect: { decision: deny }\n";
    sandbox.write("tests/a.test.yaml", cases);
    let done = test(&sandbox, &["tests", "--min-coverage", "100"]).exits(0);
    assert!(done.stdout.contains("1 passed, 0 failed"), "{}", done.stdout);
}

#[test]
fn hooks_of_every_shipped_type_can_be_stubbed() {
    let sandbox = Sandbox::new();
    let hooks = [
        r#"{ type: http, name: web, with: { url: "https://guard.example/" } }"#,
        r#"{ type: mcp, name: tool, with: { url: "https://guard.example/mcp", tool: look } }"#,
        "{ type: builtin, name: paths, command: limit_calls, args: ['3'] }",
        "{ type: command, name: program, dialect: claude-code, command: exit 0 }",
    ];
    sandbox.write("hooks.yaml", &format!("pre_tool_use: [{{ hooks: [{}] }}]\n", hooks.join(", ")));
    sandbox.write(
        "hooks.test.yaml",
        r"cases:
  - name: each
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: ls } }
    stubs: { web: { decision: deny }, tool: {}, paths: {}, program: {} }
    expect: { decision: deny, ran: [web, tool, paths, program] }
",
    );
    let done = test(&sandbox, &[]).exits(0);
    assert!(done.stdout.contains("1 passed, 0 failed"), "{}", done.stdout);
}

#[test]
fn hooks_files_that_are_used_together_are_tested_together() {
    let sandbox = Sandbox::new();
    let hook = |name: &str, command: &str| {
        let hook =
            json!({ "type": "command", "name": name, "command": command, "on_error": "block" });
        json!({ "pre_tool_use": [{ "matcher": "shell", "hooks": [hook] }] }).to_string()
    };
    sandbox.write("ours.yaml", &hook("ours", "true"));
    sandbox.write("theirs.yaml", &hook("theirs", "exit 2"));
    let cases = "config: [../ours.yaml, ../theirs.yaml]
cases:
  - name: both count
    event: pre_tool_use
    input: { tool_name: shell }
    expect: { decision: deny, ran: [ours, theirs] }
";
    sandbox.write("tests/both.test.yaml", cases);
    let done = test(&sandbox, &["tests", "--min-coverage", "100"]).exits(0);
    let said = "tests/both.test.yaml for tests/../ours.yaml, tests/../theirs.yaml";
    assert!(done.stdout.contains(said), "{}", done.stdout);
    sandbox.write("tests/both.test.yaml", &cases.replace("theirs.yaml", "nowhere.yaml"));
    let done = test(&sandbox, &["tests"]).exits(78);
    assert!(done.stderr.contains("nowhere.yaml"), "{}", done.stderr);
}

#[test]
fn the_schema_takes_what_is_read_and_refuses_what_is_not() {
    let sandbox = Sandbox::new();
    let schema = sandbox.hookexec(["docs", "schema", "cases"]).run().exits(0).stdout;
    let schema = jsonschema::draft7::new(&serde_json::from_str(&schema).unwrap()).unwrap();
    let parse = |text: &str| -> Value { serde_saphyr::from_str(text).unwrap() };
    let page = include_str!("../../docs/testing.md");
    let block = page.split("```yaml\n").find(|block| block.starts_with("cases:")).unwrap();
    let _ = sandbox.hookexec(["init"]).run().exits(0);
    for text in [CASES, block.split("```").next().unwrap(), &sandbox.read("hooks.test.yaml")] {
        let errors: Vec<String> =
            schema.iter_errors(&parse(text)).map(|it| it.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{text}");
    }
    for case in [
        "{ name: a, event: stop, expect: {} }",
        "{ name: a, event: stop, expect: { allowed: 1 } }",
        "{ name: a, event: stop, expect: { mesage: x } }",
        "{ name: a, event: stop, stubs: { x: { failure: y, decision: deny } }, expect: { allowed: true } }",
        "{ event: stop, expect: { allowed: true } }",
    ] {
        assert!(!schema.is_valid(&parse(&format!("cases: [{case}]"))), "{case}");
    }
}

#[test]
fn a_failed_case_says_why_a_list_of_commands_had_no_opinion() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "hooks.yaml",
        "hooks: { pre_tool_use: [{ matcher: shell, hooks: [{ type: rule, name: safe, allow: true, \
         commands: [ls *] }] }] }",
    );
    let case = |expected: &str, stubs: &str| {
        let input = "{ tool_name: shell, tool_input: { cmd: ls > b } }";
        format!(
            "cases:\n  - {{ name: one, event: pre_tool_use, input: {input}, expect: {{ decision: \
             {expected} }}{stubs} }}\n"
        )
    };
    let why = "hook safe (hooks.yaml:1): no opinion: `ls` has a redirection to `b`";
    sandbox.write("hooks.test.yaml", &case("allow", ""));
    let done = test(&sandbox, &[]).exits(1);
    assert!(done.stdout.contains(why), "{}", done.stdout);
    sandbox.write("hooks.test.yaml", &case("allow", ", stubs: { safe: {} }"));
    let done = test(&sandbox, &[]).exits(1);
    assert!(!done.stdout.contains("no opinion:"), "{}", done.stdout);
    sandbox.write("hooks.test.yaml", &case("none", ""));
    let done = test(&sandbox, &[]).exits(0);
    assert!(!done.stdout.contains("no opinion:"), "{}", done.stdout);
}

#[test]
fn a_rule_that_fitted_no_case_is_a_gap() {
    let sandbox = Sandbox::new();
    let rule = "{ type: rule, name: no-rm, deny: no, commands: [rm] }";
    sandbox.write("hooks.yaml", &format!("hooks: {{ pre_tool_use: [{{ hooks: [{rule}] }}] }}"));
    let case = |name: &str, command: &str| {
        let input = format!("{{ tool_name: shell, tool_input: {{ cmd: {command} }} }}");
        format!(
            "  - {{ name: {name}, event: pre_tool_use, input: {input}, expect: {{ ran: [no-rm] }} }}\n"
        )
    };
    sandbox.write("hooks.test.yaml", &format!("cases:\n{}", case("one", "ls")));
    let done = test(&sandbox, &["--min-coverage", "100"]).exits(1);
    assert!(done.stdout.contains("never fitted: no-rm hooks.yaml:1"), "{}", done.stdout);
    let cases = format!("cases:\n{}{}", case("one", "ls"), case("two", "rm x"));
    sandbox.write("hooks.test.yaml", &cases);
    let _ = test(&sandbox, &["--min-coverage", "100"]).exits(0);
}
