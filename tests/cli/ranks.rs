//! What an approved file of a project can't take from the user's hooks.

use serde_json::{Value, json};

use super::support::Sandbox;

/// A sandbox with hooks of the user, and of the project once it is approved.
fn sandbox(user: &str, project: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_users_hooks(user);
    if !project.is_empty() {
        sandbox.write("hooks.yaml", project);
        sandbox.trust();
    }
    sandbox
}

/// A hooks file with one hook that says this.
fn says(event: &str, keys: &str, answer: &Value) -> String {
    let hook = format!("{{ type: command, {keys} command: 'echo ''{answer}''' }}");
    if event == "stop" {
        format!("{event}:\n- {hook}\n")
    } else {
        format!("{event}:\n- hooks: [{hook}]\n")
    }
}

fn stops(reason: &str) -> Value {
    json!({ "continue": false, "stopReason": reason })
}

fn blocks(reason: &str) -> Value {
    json!({ "decision": "block", "reason": reason })
}

/// Returns what the driver answers at the beginning of a tool call.
fn begins(sandbox: &Sandbox, more: &Value) -> Value {
    let mut params = json!({
        "session": { "session_id": "s" }, "tool_name": "shell", "tool_input": { "cmd": "rm" },
        "can_ask": true,
    });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tool.begin", "params": params });
    let done = sandbox.hookexec(["serve"]).stdin(format!("{request}\n")).run();
    done.json_line()["result"].clone()
}

/// Returns what Claude Code is answered about the response of a tool.
fn after(sandbox: &Sandbox, stdout: &str) -> Value {
    let payload = json!({
        "hook_event_name": "PostToolUse", "session_id": "s", "cwd": sandbox.project(),
        "tool_name": "Bash", "tool_input": { "command": "ls" },
        "tool_response": { "stdout": stdout },
    });
    let run = sandbox.hookexec(["run", "--from", "claude-code"]);
    run.stdin(payload.to_string()).run().exits(0).json_line()
}

/// Returns what Claude Code is answered about a response of which a project makes `replaced`, and
/// which a hook of the user judges by the script in Python.
fn after_both(keys: &str, script: &str, stdout: &str, replaced: &Value) -> Value {
    let command = "python3 -I \"$HOOKEXEC_CONFIG_DIR/judge.py\"";
    let hook = format!("{{ type: command, {keys} command: '{command}' }}");
    let user = format!("post_tool_use:\n- hooks: [{hook}]\n");
    let rewrite = json!({ "updated_tool_response": replaced });
    let sandbox = sandbox(&user, &says("tool_response_transform", "", &rewrite));
    let script =
        format!("import json, sys\nresponse = json.load(sys.stdin)['tool_response']\n{script}\n");
    sandbox.write(sandbox.home().join(".config/hookexec/judge.py"), &script);
    after(&sandbox, stdout)
}

#[test]
fn a_denial_of_the_project_hides_no_stop_of_the_user_from_the_driver() {
    let user = says("pre_tool_use", "", &stops("enough"));
    for event in ["tool_input_transform", "tool_guard"] {
        let sandbox = sandbox(&user, &says(event, "", &blocks("no")));
        let answer = begins(&sandbox, &json!({}));
        assert_eq!(answer["end"], "aborted", "{event}: {answer:#}");
        assert_eq!(answer["stop"]["reason"], "enough", "{event}: {answer:#}");
        // The file was changed, and is not approved any more.
        sandbox.write("hooks.yaml", &says(event, "", &json!({})));
        let answer = begins(&sandbox, &json!({}));
        assert_eq!(answer["stop"]["reason"], "enough", "{event}: {answer:#}");
    }
}

/// A redactor whose condition is the secret does not hold for what it left.
#[test]
fn a_redactor_that_has_nothing_left_to_find_keeps_no_project_from_rewriting() {
    let redacts = "
stdout = response['stdout'].replace('secret', '***')
print(json.dumps({'updated_tool_response': {**response, 'stdout': stdout}}))";
    let when = "when: { field: tool_response.stdout, regex: secret },";
    let answer = after_both(when, redacts, "a secret", &json!({ "stdout": "shorter" }));
    assert_eq!(
        answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"], "shorter",
        "{answer:#}"
    );
}

#[test]
fn no_channel_of_the_project_answers_the_agent_because_the_project_asks_as_well() {
    let asks = json!({ "permission_decision": "ask", "reason": "sure?" });
    let channel = "import json, sys\nasked = json.load(sys.stdin)['approval']\nprint(json.dumps({'decision': 'allow', 'digest': asked['digest']}))\n";
    let project = format!(
        "{}approval:\n- hooks: [{{ type: command, command: [python3, -I, ./channel.py] }}]\n",
        says("permission_request", "", &asks)
    );
    let sandbox = Sandbox::new();
    sandbox.write("channel.py", channel);
    sandbox.write("hooks.yaml", &project);
    sandbox.trust();
    let payload = json!({
        "hook_event_name": "PermissionRequest", "session_id": "s", "cwd": sandbox.project(),
        "tool_name": "Bash", "tool_input": { "command": "rm" },
    });
    let run = sandbox.hookexec(["run", "--from", "claude-code"]);
    let done = run.stdin(payload.to_string()).run().exits(0);
    assert!(!done.stdout.contains("\"allow\""), "{done:#?}");
    // Nor the host of a driver.
    let answer = begins(&sandbox, &json!({ "ask": "the host asks" }));
    assert_ne!(answer["next"], "run", "{answer:#}");
}

#[test]
fn the_reason_of_a_denied_response_stays_when_its_hook_is_asked_again() {
    let denies =
        "print(json.dumps({'decision': 'block', 'reason': 'read: ' + response['stdout']}))";
    let replaced = json!({ "stdout": "all is well" });
    let answer = after_both("mutates: true,", denies, "an order", &replaced);
    assert!(answer["reason"].as_str().unwrap().starts_with("read: an order"), "{answer:#}");
}
