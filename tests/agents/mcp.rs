//! Guards of MCP tools: one matcher, whatever the agent makes of the name.

use serde_json::{Value, json};

use crate::support::Sandbox;

/// The tool `do-it` of the server `my-kit`, as each agent names it.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    let call = |event: &str, tool: &str| {
        json!({ "hook_event_name": event, "session_id": "s", "cwd": "/p", "tool_name": tool,
            "tool_input": { "text": "x" } })
    };
    vec![
        ("claude-code", "PreToolUse", call("PreToolUse", "mcp__my-kit__do-it")),
        ("codex", "PreToolUse", call("PreToolUse", "mcp__my_kit__do_it")),
        ("gemini", "BeforeTool", call("BeforeTool", "mcp_my-kit_do-it")),
        ("qwen", "PreToolUse", call("PreToolUse", "mcp__my-kit__do-it")),
        (
            "copilot",
            "preToolUse",
            json!({ "cwd": "/p", "toolName": "my-kit-do-it", "toolArgs": { "text": "x" } }),
        ),
        ("droid", "PreToolUse", call("PreToolUse", "my-kit___do-it")),
        ("kiro", "PreToolUse", call("PreToolUse", "@my-kit/do-it")),
        ("kimi", "PreToolUse", call("PreToolUse", "mcp__my-kit__do-it")),
        ("vibe", "pre_tool", call("pre_tool", "mcp_my_kit.do_it")),
        ("kilo", "tool.execute.before", call("tool.execute.before", "my-kit_do-it")),
        ("opencode", "tool.execute.before", call("tool.execute.before", "my-kit_do-it")),
        ("openclaw", "before_tool_call", call("before_tool_call", "my-kit__do-it")),
    ]
}

#[test]
fn one_matcher_denies_the_tool_of_an_mcp_server_under_every_agent() {
    let sandbox = Sandbox::new();
    for (hook, denied) in [
        (json!([{ "matcher": "mcp__my-kit__do-it", "hooks": [no("")] }]), true),
        (json!([{ "matcher": "mcp__my_kit__do_it", "hooks": [no("")] }]), true),
        (json!([{ "matcher": "mcp__my-kit__.*", "hooks": [no("")] }]), true),
        (json!([{ "matcher": "mcp", "hooks": [no("")] }]), true),
        (json!([{ "matcher": "mcp__my-kit__do-it", "hooks": [no("claude-code")] }]), true),
        (json!([{ "matcher": "mcp__other__.*", "hooks": [no("")] }]), false),
        (json!([rule("mcp__my-kit__do-it")]), true),
        (json!([rule("mcp__my-kit__do")]), false),
    ] {
        sandbox.write("hooks.yaml", &json!({ "pre_tool_use": hook }).to_string());
        for (agent, event, payload) in calls() {
            let args = ["run", "--config", "hooks.yaml", "--from", agent, "--event", event];
            let done = sandbox.hookexec(args).stdin(payload.to_string()).run();
            let said = format!("{}{}", done.stdout, done.stderr);
            let reason = ["not by this tool", "not by this rule"];
            let found = reason.iter().any(|reason| said.contains(reason));
            assert_eq!(found, denied, "{agent} {hook}: {done:#?}");
        }
    }
}

fn no(dialect: &str) -> Value {
    let mut hook = json!({ "type": "command", "command": "echo not by this tool >&2; exit 2" });
    if !dialect.is_empty() {
        hook["dialect"] = dialect.into();
    }
    hook
}

fn rule(tool: &str) -> Value {
    json!({ "hooks": [{ "type": "rule", "deny": "not by this rule", "tools": [tool] }] })
}
