//! `hookexec run --connect`: the same answers from a server, and from none.

use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};

use hookexec::wire::parse_strict;
use serde_json::json;

use crate::serve::process::{Serving, sandbox};
use crate::support::{Done, Sandbox};

fn run(sandbox: &Sandbox, arguments: &[&str], command: &str) -> Done {
    let input = serde_json::json!({ "tool_name": "shell", "tool_input": { "cmd": command } });
    sandbox.hookexec([&["run", "pre_tool_use"], arguments].concat()).stdin(input.to_string()).run()
}

/// Returns a verdict less the times in it.
fn timeless(done: &Done) -> serde_json::Value {
    let mut verdict = done.json_line();
    for hook in verdict["hooks"].as_array_mut().unwrap() {
        hook.as_object_mut().unwrap().remove("duration_ms");
    }
    verdict
}

#[test]
fn the_server_answers_as_the_command_itself_does() {
    let sandbox = sandbox();
    let serving = Serving::start(&sandbox);
    let socket = serving.socket.to_str().unwrap();
    for (command, code) in [("rm x", 2), ("ls", 0)] {
        let alone = run(&sandbox, &[], command).exits(code);
        let asked = run(&sandbox, &["--connect", socket], command).exits(code);
        assert_eq!(timeless(&alone), timeless(&asked));
        assert_eq!(asked.stderr, "");
    }
    // A file that changed after its approval fails there as it does here.
    sandbox.write("hooks.yaml", "pre_tool_use: [");
    let asked = run(&sandbox, &["--connect", socket], "rm x").exits(2);
    let alone = run(&sandbox, &[], "rm x").exits(2);
    assert_eq!(timeless(&alone), timeless(&asked));
    assert!(asked.stdout.contains("changed after its approval"), "{asked:?}");
    // It was the server: a run on its own says so on stderr, too.
    assert!(asked.stderr.is_empty() && alone.stderr.contains("trust add"), "{asked:?} {alone:?}");
    // A link in its place is not followed.
    let other = sandbox.write("other.yaml", "hooks: {}\n");
    std::fs::remove_file(sandbox.project().join("hooks.yaml")).unwrap();
    std::os::unix::fs::symlink(other, sandbox.project().join("hooks.yaml")).unwrap();
    let asked = run(&sandbox, &["--connect", socket], "rm x").exits(2);
    assert!(asked.stdout.contains("is a symbolic link"), "{asked:?}");
}

#[test]
fn a_key_that_is_spelt_like_a_private_name_of_the_json_library_comes_through() {
    let said = |name: &str, connected: bool| {
        let answer = json!({"updated_input": {"cmd": "box"}, "decision": "ask",
            "metadata": {"d": {name: "{}"}}, "terminalSequence": [{name: "1"}]});
        let hook = json!({"type": "command", "command": ["printf", "%s", answer.to_string()]});
        let sandbox = Sandbox::new();
        let hooks = json!({"pre_tool_use": [{"hooks": [hook]}]});
        sandbox.write("hooks.yaml", &hooks.to_string());
        sandbox.trust();
        let serving = Serving::start(&sandbox);
        let mut arguments = vec!["run", "pre_tool_use"];
        if connected {
            arguments.extend(["--connect", serving.socket.to_str().unwrap()]);
        }
        let run = sandbox.hookexec(arguments);
        let input = json!({"tool_name": "shell", "tool_input": {"cmd": "x", "d": [{name: "{}"}]}});
        let done = run.stdin(input.to_string()).run().exits(3);
        assert_eq!(done.stderr, "", "{done:#?}");
        let mut verdict = parse_strict(&done.stdout).unwrap();
        for key in ["hooks", "approval"] {
            // The digest of the call covers the directory and the name.
            assert!(verdict.as_object_mut().unwrap().remove(key).is_some(), "{key}");
        }
        verdict.to_string().replace(name, "NAME")
    };
    let expected = said("$serde_json::private::Other", false);
    assert!(
        expected.contains(r#""updated_input":{"cmd":"box","d":[{"NAME":"{}"}]}"#),
        "{expected}"
    );
    for name in ["$serde_json::private::Number", "$serde_json::private::RawValue"] {
        assert_eq!([said(name, false), said(name, true)], [expected.clone(), expected.clone()]);
    }
}

#[test]
fn without_a_server_the_hooks_run_all_the_same_and_it_is_said() {
    let sandbox = sandbox();
    let nowhere = sandbox.home().join("nobody");
    for (command, code) in [("rm x", 2), ("ls", 0)] {
        let done = run(&sandbox, &["--connect", nowhere.to_str().unwrap()], command).exits(code);
        assert_eq!(timeless(&done), timeless(&run(&sandbox, &[], command).exits(code)));
        assert!(done.stderr.contains("is not there"), "{}", done.stderr);
    }
    // Wrong input is wrong input wherever the hooks run.
    let done = sandbox
        .hookexec(["run", "pre_tool_use", "--connect", nowhere.to_str().unwrap()])
        .stdin("[]")
        .run()
        .exits(65);
    assert_eq!(done.stdout, "");
}

#[test]
fn a_server_of_another_project_is_not_believed() {
    let (theirs, own) = (Sandbox::new(), sandbox());
    let serving = Serving::start(&theirs);
    let done = run(&own, &["--connect", serving.socket.to_str().unwrap()], "rm x").exits(2);
    assert!(done.stderr.contains("-32001"), "{}", done.stderr);
}

#[test]
fn a_server_that_talks_nonsense_or_hangs_up_decides_nothing() {
    let sandbox = sandbox();
    for said in [
        "",
        "nonsense\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"allowed\":true}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"event\":\"stop\",\"decision\":null,\"allowed\":true,\"hooks\":[]}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"overloaded\"}}\n",
        // On another event, contradicting itself either way, and without a decision.
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"event\":\"stop\",\"decision\":\"allow\",\"allowed\":true,\"hooks\":[]}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"event\":\"pre_tool_use\",\"decision\":\"deny\",\"allowed\":true,\"hooks\":[]}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"event\":\"pre_tool_use\",\"decision\":\"allow\",\"allowed\":false,\"hooks\":[]}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"event\":\"pre_tool_use\",\"allowed\":true,\"hooks\":[]}}\n",
    ] {
        let socket = sandbox.home().join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let talker = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.write_all(said.as_bytes());
        });
        let done = run(&sandbox, &["--connect", socket.to_str().unwrap()], "rm x").exits(2);
        assert!(done.stderr.contains("the hooks run without it"), "{said}: {}", done.stderr);
        assert_eq!(done.json_line()["message"], "no rm");
        talker.join().unwrap();
        std::fs::remove_file(&socket).unwrap();
    }
}

#[test]
fn a_server_that_drips_or_lets_nobody_in_is_not_waited_for() {
    let sandbox = sandbox();
    let socket = sandbox.home().join("drips");
    let listener = UnixListener::bind(&socket).unwrap();
    let dripping = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // Each byte is a sign of life, and the line never ends.
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    });
    let done = run(&sandbox, &["--connect", socket.to_str().unwrap()], "rm x").exits(2);
    assert!(done.stderr.contains("does not answer: timed out"), "{}", done.stderr);
    dripping.join().unwrap();

    let socket = sandbox.home().join("full");
    let listener = UnixListener::bind(&socket).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let _first_in_the_queue = UnixStream::connect(&socket).unwrap();
    let done = run(&sandbox, &["--connect", socket.to_str().unwrap()], "rm x").exits(2);
    assert!(done.stderr.contains("does not answer: timed out"), "{}", done.stderr);
    assert_eq!(done.json_line()["message"], "no rm");
}

#[test]
fn files_that_are_named_are_not_a_servers_business() {
    let sandbox = sandbox();
    sandbox.write("other.yaml", "{}");
    let both = run(&sandbox, &["--connect", "/x", "--config", "other.yaml"], "ls").exits(64);
    assert!(both.stderr.contains("--connect"), "{}", both.stderr);
}

#[test]
fn a_limit_counts_the_runs_of_the_server_and_those_beside_it() {
    let sandbox = Sandbox::new();
    let block = r#"'echo "{\"decision\":\"block\",\"reason\":\"more\"}"'"#;
    let calls = "{ hooks: { type: builtin, command: limit_calls, args: ['2'] } }";
    let stop = format!("{{ type: command, command: {block}, limit: 3 }}");
    sandbox.write("hooks.yaml", &format!("stop: {stop}\npre_tool_use: [ {calls} ]\n"));
    sandbox.trust();
    let serving = Serving::start(&sandbox);
    let socket = serving.socket.to_str().unwrap();
    let code = |event: &str, connected: bool, session: &str| {
        let input = json!({ "session_id": session, "tool_name": "shell", "tool_input": {} });
        let connect: &[&str] = if connected { &["--connect", socket] } else { &[] };
        let done = sandbox.hookexec([&["run", event], connect].concat());
        let done = done.stdin(input.to_string()).run();
        assert!(!connected || !done.stderr.contains("connect"), "{done:?}");
        done.code().unwrap()
    };
    let calls = [true, false, true, false].map(|connected| code("pre_tool_use", connected, "s"));
    assert_eq!(calls, [0, 0, 2, 2]);
    let stops = [true, false, true, true, false].map(|connected| code("stop", connected, "s"));
    assert_eq!(stops, [2, 2, 2, 0, 0]);
    assert_eq!(code("pre_tool_use", true, "other"), 0);
}
