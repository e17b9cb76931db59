//! The plugins for OpenCode, OpenClaw and Pi, in a host that calls them as the real one does.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Sandbox, wait};

/// Every event around a tool has a hook, and `mcp__my-kit__do-it` is an MCP tool with dashes in its names.
const HOOKS: &str = r#"
tool_guard:
  - matcher: shell
    hooks:
      - type: command
        command: |
          case $(cat) in *forbidden*) echo 'forbidden by tool_guard' >&2; exit 2;; esac
tool_input_transform:
  - matcher: shell
    hooks:
      - type: command
        command: |
          case $(cat) in *unsafe*) echo '{"hookSpecificOutput": {"updatedInput": {"command": "safe"}}}';; esac
pre_tool_use:
  - matcher: mcp__my-kit__do-it
    hooks: { type: command, command: "echo 'no tools of that server' >&2; exit 2" }
  - matcher: shell
    hooks:
      - type: command
        command: |
          case $(cat) in *approve-me*|*refuse-me*) echo '{"decision": "ask", "reason": "is this meant?"}';; esac
permission_request:
  - matcher: shell
    hooks:
      - type: command
        command: |
          case $(cat) in *approve-me*) echo '{"decision": "allow"}';; esac
tool_response_transform:
  - matcher: shell|mcp
    hooks: { type: builtin, command: redact_secrets }
post_tool_use:
  - matcher: shell
    hooks:
      - type: command
        command: |
          case $(cat) in *objectionable*) echo '{"decision": "block", "reason": "look again"}';; esac
session_start: { type: command, command: "echo FROM-SESSION" }
user_prompt_submit:
  type: command
  command: |
    case $(cat) in *secret-plan*) echo 'not that prompt' >&2; exit 2;; esac
    echo FROM-PROMPT
"#;

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// Runs `script`, which prints one JSON value a line, and returns the values.
fn play(sandbox: &Sandbox, script: &str, program: &str) -> Vec<Value> {
    let mut command = Command::new("node");
    let child = sandbox
        .dress(&mut command)
        .args(["--input-type=module", "-e", script])
        .env("HOOKEXEC", program)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this test needs `node` on the PATH");
    let output = wait(child);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A sandbox whose user has the hooks, so that nothing needs approval.
fn sandbox(hooks: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_users_hooks(hooks);
    sandbox
}

fn path(file: &str) -> String {
    format!("{}/plugins/{file}", crate::support::ROOT)
}

const HOOKEXEC: &str = env!("CARGO_BIN_EXE_hookexec");

/// OpenCode: calls the plugin's functions, and says what would run and what the model would read.
fn opencode(sandbox: &Sandbox, script: &str, program: &str) -> Vec<Value> {
    let plugin = std::fs::read_to_string(path("opencode/hookexec.js")).unwrap();
    let plugin = sandbox.write("plugin.mjs", &plugin);
    let host = format!(
        r#"
import {{ Hookexec }} from {plugin:?}
const shown = []
const client = {{ tui: {{ showToast: async ({{ body }}) => shown.push(body.message) }} }}
const hooks = await Hookexec({{ client, directory: process.cwd() }})
const about = (tool) => ({{ tool, sessionID: "s", callID: "c" }})
const say = (value) => console.log(JSON.stringify(value))
const before = async (tool, args) => {{
  const output = {{ args }}
  try {{ await hooks["tool.execute.before"](about(tool), output) }} catch (error) {{ return say({{ thrown: error.message }}) }}
  say(args)
}}
const after = async (tool, output) => {{
  await hooks["tool.execute.after"]({{ ...about(tool), args: {{}} }}, output)
  say(output)
}}
const prompt = async (...texts) => {{
  const parts = texts.map((text) => ({{ type: "text", text }}))
  try {{ await hooks["chat.message"]({{ sessionID: "s" }}, {{ parts }}) }} catch (error) {{ return say({{ thrown: error.message }}) }}
  say(parts.map((part) => part.text))
}}
{script}
"#,
        plugin = plugin.to_str().unwrap()
    );
    play(sandbox, &host, program)
}

#[test]
fn the_plugin_for_opencode_goes_through_the_whole_sequence_around_a_tool() {
    let sandbox = sandbox(HOOKS);
    let script = format!(
        r#"
await before("my-kit_do-it", {{ text: "hello" }})
await before("bash", {{ command: "forbidden" }})
await before("bash", {{ command: "unsafe", description: "gone" }})
await before("bash", {{ command: "approve-me" }})
await before("bash", {{ command: "refuse-me" }})
await after("bash", {{ title: "", metadata: {{ output: "{SECRET}" }}, output: "a {SECRET} b" }})
await after("my-kit_do-it", {{ content: [{{ type: "text", text: "a {SECRET} b" }}] }})
await after("bash", {{ title: "", metadata: {{}}, output: "objectionable" }})
"#
    );
    let said = opencode(&sandbox, &script, HOOKEXEC);
    assert_eq!(said[0], json!({ "thrown": "no tools of that server" }));
    assert_eq!(said[1], json!({ "thrown": "forbidden by tool_guard" }));
    assert_eq!(said[2], json!({ "command": "safe" }));
    assert_eq!(said[3], json!({ "command": "approve-me" }));
    assert_eq!(said[4], json!({ "thrown": "is this meant?" }));
    for redacted in &said[5..7] {
        let text = redacted.to_string();
        assert!(!text.contains(SECRET) && text.contains("REDACTED"), "{text}");
    }
    assert!(said[6]["content"].is_array(), "{}", said[6]);
    assert_eq!(said[7]["output"], "objectionable\n\nlook again");
}

// OpenCode 1.18.33 and Kilo 7.7.7 give the exit code of a command in `metadata.exit` alone.
#[test]
fn the_plugin_for_opencode_says_that_a_command_failed() {
    let sandbox = sandbox(
        r#"post_tool_use:
  - matcher: shell
    hooks:
      - type: command
        command: |
          case $(cat) in *'"tool_error":true'*) echo '{"decision": "block", "reason": "it failed"}';; esac
"#,
    );
    let script = r#"
await after("bash", { metadata: { exit: 3 }, output: "a" })
await after("bash", { metadata: { exit: 0 }, output: "b" })
await after("bash", { metadata: {}, output: "c" })
"#;
    let said = opencode(&sandbox, script, HOOKEXEC);
    let outputs: Vec<&Value> = said.iter().map(|said| &said["output"]).collect();
    assert_eq!(outputs, ["a\n\nit failed", "b", "c"]);
}

#[test]
fn the_plugin_for_opencode_brings_context_and_says_why_a_prompt_is_refused() {
    let sandbox = sandbox(HOOKS);
    let script = r#"
hooks.event({ event: { type: "session.created", properties: { sessionID: "s" } } })
await prompt("one", "two")
await prompt("and now my secret-plan", "three")
say(shown)
"#;
    let said = opencode(&sandbox, script, HOOKEXEC);
    assert_eq!(said[0], json!(["one", "two\n\nFROM-SESSION\nFROM-PROMPT"]));
    assert_eq!(said[1], json!({ "thrown": "not that prompt" }));
    assert_eq!(said[2], json!(["not that prompt"]));
}

#[test]
fn the_plugin_for_opencode_lets_nothing_through_without_an_answer() {
    let sandbox = sandbox(HOOKS);
    let broken = sandbox.script("broken", "#!/bin/sh\ncat > /dev/null\nkill -9 $$\n");
    let babble = sandbox.script("babble", "#!/bin/sh\ncat > /dev/null\necho '{\"args\"'\n");
    let script = r#"
await before("bash", { command: "date" })
await prompt("hello")
await after("bash", { title: "", metadata: { output: "s3cr3t" }, output: "s3cr3t", attachments: ["s3cr3t"] })
await after("my-kit_do-it", { content: [{ type: "text", text: "s3cr3t" }] })
"#;
    for program in ["/nowhere/hookexec", broken.to_str().unwrap(), babble.to_str().unwrap()] {
        let said = opencode(&sandbox, script, program);
        for thrown in &said[..2] {
            assert!(thrown["thrown"].as_str().unwrap().starts_with("hookexec: "), "{thrown}");
        }
        for withheld in &said[2..] {
            let text = withheld.to_string();
            assert!(!text.contains("s3cr3t") && text.contains("withheld"), "{program}: {text}");
        }
    }
}

/// OpenClaw: registers the plugin and calls its handlers.
fn openclaw(sandbox: &Sandbox, script: &str, program: &str) -> Vec<Value> {
    let host = format!(
        r#"
import plugin from {plugin:?}
const handlers = {{}}, warned = []
plugin.register({{ on: (name, handler) => {{ handlers[name] = handler }}, logger: {{ warn: (text) => warned.push(text) }} }})
const ctx = {{ sessionKey: "agent:main", sessionId: "s" }}
const run = {{ ...ctx, workspaceDir: process.cwd() }}
const say = (value) => console.log(JSON.stringify(value ?? null, (key, value) => value === undefined ? "(undefined)" : value))
const before = async (toolName, params) => say(await handlers.before_tool_call({{ toolName, params, toolCallId: "c" }}, ctx))
const after = async (toolName, text) => {{
  const result = {{ content: [{{ type: "text", text }}] }}
  say(await handlers.after_tool_call({{ toolName, params: {{}}, toolCallId: "c", result, durationMs: 1.5 }}, ctx))
}}
const build = async (prompt) => say(await handlers.before_prompt_build({{ prompt }}, run))
const gate = async (prompt) => say(await handlers.before_agent_run({{ prompt }}, run))
{script}
"#,
        plugin = path("openclaw/index.js")
    );
    play(sandbox, &host, program)
}

#[test]
fn the_plugin_for_openclaw_goes_through_the_whole_sequence_around_a_tool() {
    let sandbox = sandbox(HOOKS);
    let script = format!(
        r#"
await build("hello")
await gate("hello")
await before("my-kit__do-it", {{ text: "hello" }})
await before("exec", {{ command: "forbidden" }})
await before("exec", {{ command: "unsafe", description: "gone" }})
await before("exec", {{ command: "approve-me" }})
await before("exec", {{ command: "refuse-me" }})
await after("exec", "objectionable {SECRET}")
say(warned)
await build("and on")
await gate("my secret-plan")
"#
    );
    let said = openclaw(&sandbox, &script, HOOKEXEC);
    assert_eq!(said[0], json!({ "prependContext": "FROM-SESSION\nFROM-PROMPT" }));
    assert_eq!(said[1], Value::Null);
    assert_eq!(said[2], json!({ "block": true, "blockReason": "no tools of that server" }));
    assert_eq!(said[3], json!({ "block": true, "blockReason": "forbidden by tool_guard" }));
    assert_eq!(said[4]["params"], json!({ "command": "safe", "description": "(undefined)" }));
    assert_eq!(said[5], Value::Null);
    assert_eq!(said[6]["requireApproval"]["description"], "is this meant?");
    assert_eq!(said[7], Value::Null);
    let warned = said[8].to_string();
    assert!(warned.contains("cannot replace the tool's response"), "{warned}");
    assert_eq!(said[9], json!({ "prependContext": "look again\nFROM-PROMPT" }));
    assert_eq!(said[10], Value::Null, "the verdict on the prompt that was built counts");
}

/// OpenClaw loads the module more than once and calls its own copy for each kind of hook.
#[test]
fn the_plugin_for_openclaw_tells_the_model_beside_the_response_once() {
    let sandbox = sandbox("{}");
    let fired = sandbox.write("fired", "");
    sandbox.write_users_hooks(&format!(
        r#"
post_tool_use:
  - matcher: shell
    hooks:
      - type: command
        command: |
          echo fired >> {fired:?}
          jq -r '"failed: \(.tool_error), \(.reason), in \(.cwd)"'
"#
    ));
    let script = format!(
        r#"
const other = (await import({:?} + "?copy")).default
let middleware, options
other.register({{ on: () => {{}}, registerAgentToolResultMiddleware: (...given) => {{ [middleware, options] = given }} }})
say(options)
await build("hello")
const judge = async (text, details, isError = false) => {{
  const result = {{ content: [{{ type: "text", text }}], details }}
  await handlers.before_tool_call({{ toolName: "exec", params: {{}}, toolCallId: "c" }}, ctx)
  say(await middleware({{ toolName: "exec", args: {{}}, toolCallId: "c", cwd: "/nowhere", isError, result }}, ctx))
  await after("exec", text)
}}
await judge("fine", {{ status: "completed", exitCode: 0 }})
await judge("no such file", {{ status: "failed", exitCode: 2 }})
await judge("thrown", undefined, true)
await judge("stopped", {{ error: "out of time" }})
await build("and on")
const warnings = (plugins) => {{
  const shown = [], registered = []
  const registerAgentToolResultMiddleware = () => registered.push(true)
  plugin.register({{ on: () => {{}}, registerAgentToolResultMiddleware, config: {{ plugins }}, logger: {{ warn: (text) => shown.push(text) }} }})
  say([registered.length, shown])
}}
const hooks = {{ allowConversationAccess: true }}
warnings({{ entries: {{ hookexec: {{ enabled: true, hooks }} }} }})
warnings({{ entries: {{ hookexec: {{ hooks }} }}, allow: ["hookexec"] }})
warnings({{ entries: {{ hookexec: {{ hooks }} }} }})
"#,
        path("openclaw/index.js")
    );
    let said = openclaw(&sandbox, &script, HOOKEXEC);
    let manifest = std::fs::read_to_string(path("openclaw/openclaw.plugin.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(said[0]["runtimes"], manifest["contracts"]["agentToolResultMiddleware"]);
    assert_eq!(said[1], Value::Null);
    for (at, response, why) in [
        (2, "fine", "failed: false, null"),
        (4, "no such file", "failed: true, no such file"),
        (6, "thrown", "failed: true, thrown"),
        (8, "stopped", "failed: true, out of time"),
    ] {
        let content = &said[at]["result"]["content"];
        assert_eq!(content[0]["text"], response);
        let told = content[1]["text"].as_str().unwrap();
        assert!(told.starts_with(why) && !told.contains("/nowhere"), "{told}");
        assert_eq!(said[at + 1], Value::Null);
    }
    assert_eq!(std::fs::read_to_string(fired).unwrap().lines().count(), 4);
    assert_eq!(said[10], Value::Null, "nothing is left for the next prompt");
    assert_eq!(said[11..13], [json!([1, []]), json!([1, []])]);
    let unnamed = said[13].to_string();
    assert!(unnamed.starts_with("[0,") && unnamed.contains("hookexec.enabled true"), "{unnamed}");
}

#[test]
fn the_plugin_for_openclaw_blocks_without_an_answer() {
    let sandbox = sandbox(HOOKS);
    let broken = sandbox.script("broken", "#!/bin/sh\ncat > /dev/null\nkill -9 $$\n");
    let script = r#"
await before("exec", { command: "date" })
await gate("hello")
"#;
    for program in ["/nowhere/hookexec", broken.to_str().unwrap()] {
        let said = openclaw(&sandbox, script, program);
        assert_eq!((&said[0]["block"], &said[1]["outcome"]), (&json!(true), &json!("block")));
    }
}

/// Pi: registers the extension and calls its handlers.
fn pi(sandbox: &Sandbox, script: &str, program: &str) -> Vec<Value> {
    let plugin = std::fs::read_to_string(path("pi/hookexec.ts")).unwrap();
    let plugin = sandbox.write("plugin.mjs", &plugin);
    let host = format!(
        r#"
import register from {plugin:?}
const handlers = {{}}, shown = []
register({{ on: (name, handler) => {{ handlers[name] = handler }} }})
let answer = false
const ui = {{ notify: (text) => shown.push(text), confirm: async () => answer }}
const ctx = {{ cwd: process.cwd(), hasUI: true, ui, sessionManager: {{ getSessionId: () => "s" }} }}
const say = (value) => console.log(JSON.stringify(value ?? null))
const before = async (toolName, input, context = ctx) => {{
  say((await handlers.tool_call({{ toolName, toolCallId: "c", input }}, context)) ?? input)
}}
const after = async (toolName, text) => {{
  const content = [{{ type: "text", text }}]
  say(await handlers.tool_result({{ toolName, toolCallId: "c", input: {{}}, content, isError: false }}, ctx))
}}
const prompt = async (text) => say(await handlers.input({{ text }}, ctx))
{script}
"#,
        plugin = plugin.to_str().unwrap()
    );
    play(sandbox, &host, program)
}

#[test]
fn the_extension_for_pi_goes_through_the_whole_sequence() {
    let sandbox = sandbox(HOOKS);
    let script = format!(
        r#"
await handlers.session_start({{ reason: "startup" }}, ctx)
await prompt("hello")
say(await handlers.before_agent_start())
await before("bash", {{ command: "forbidden" }})
await before("bash", {{ command: "unsafe", timeout: 5 }})
await before("bash", {{ command: "approve-me" }})
await before("bash", {{ command: "refuse-me" }})
answer = true
await before("bash", {{ command: "refuse-me" }})
await before("bash", {{ command: "refuse-me" }}, {{ cwd: ctx.cwd }})
await after("bash", "a {SECRET} b")
await after("bash", "objectionable")
await after("bash", "fine")
await prompt("my secret-plan")
say(shown)
"#
    );
    let said = pi(&sandbox, &script, HOOKEXEC);
    assert_eq!(said[0], json!({ "action": "continue" }));
    assert_eq!(said[1]["message"]["content"], "FROM-SESSION\nFROM-PROMPT");
    assert_eq!(said[2], json!({ "block": true, "reason": "forbidden by tool_guard" }));
    assert_eq!(said[3], json!({ "command": "safe" }));
    assert_eq!(said[4], json!({ "command": "approve-me" }));
    assert_eq!(said[5], json!({ "block": true, "reason": "is this meant?" }));
    assert_eq!(said[6], json!({ "command": "refuse-me" }), "the user agreed");
    assert_eq!(said[7], json!({ "block": true, "reason": "is this meant?" }), "nobody to ask");
    let text = said[8].to_string();
    assert!(!text.contains(SECRET) && text.contains("REDACTED"), "{text}");
    assert_eq!(said[9]["content"][1]["text"], "look again");
    assert_eq!(said[10], Value::Null);
    assert_eq!(said[11], json!({ "action": "handled" }));
    assert_eq!(said[12], json!(["not that prompt"]));
}

#[test]
fn the_extension_for_pi_lets_nothing_through_without_an_answer() {
    let sandbox = sandbox(HOOKS);
    let broken = sandbox.script("broken", "#!/bin/sh\ncat > /dev/null\nkill -9 $$\n");
    let script = r#"
await before("bash", { command: "date" })
await prompt("hello")
await after("bash", "s3cr3t")
"#;
    for program in ["/nowhere/hookexec", broken.to_str().unwrap()] {
        let said = pi(&sandbox, script, program);
        assert_eq!((&said[0]["block"], &said[1]["action"]), (&json!(true), &json!("handled")));
        let text = said[2].to_string();
        assert!(!text.contains("s3cr3t") && text.contains("withheld"), "{program}: {text}");
    }
}

#[test]
fn an_agent_with_a_plugin_is_seen_by_doctor() {
    let sandbox = sandbox(HOOKS);
    let done = sandbox.hookexec(["install", "openclaw"]).run();
    assert_ne!(done.code(), Some(0));
    let place = "copy its plugin from `plugins/openclaw`";
    assert!(done.stderr.contains(place), "{}", done.stderr);
    let help = sandbox.hookexec(["install", "--help"]).run().exits(0).stdout;
    assert!(help.contains("opencode") && !help.contains("openclaw"), "{help}");
    let never = sandbox.hookexec(["doctor", "openclaw"]).run().exits(1);
    assert!(
        never.stdout.contains("not installed: `hookexec docs agents` says how"),
        "{}",
        never.stdout
    );
    let never = sandbox.hookexec(["doctor", "opencode"]).run().exits(1);
    assert!(
        never.stdout.contains("not installed: `hookexec install opencode`"),
        "{}",
        never.stdout
    );
    let _ = sandbox.hookexec(["install", "opencode"]).run().exits(0);
    let _ = opencode(&sandbox, r#"await before("bash", { command: "date" })"#, HOOKEXEC);
    let seen = sandbox.hookexec(["doctor", "opencode"]).run().exits(0);
    assert!(seen.stdout.contains("its plugin: last seen "), "{}", seen.stdout);
}
