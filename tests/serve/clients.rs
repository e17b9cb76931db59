//! The example clients say what `hookexec run` says, and deny when there is nobody to ask.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::process::{Serving, sandbox};
use crate::support::{Sandbox, wait};

const CLIENTS: [[&str; 2]; 2] =
    [["python3", "examples/clients/hookexec.py"], ["node", "examples/clients/hookexec.mjs"]];

/// Runs a program in the sandbox with `stdin` and returns its exit code and its stdout.
fn run(sandbox: &Sandbox, program: &str, arguments: &[&str], stdin: &str) -> (i32, String) {
    crate::support::needs(program);
    let input = sandbox.write("input.json", stdin);
    let mut command = Command::new(program);
    let child = sandbox
        .dress(&mut command)
        .args(arguments)
        .stdin(std::fs::File::open(input).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = wait(child);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn path(file: &str) -> String {
    format!("{}/{file}", crate::support::ROOT)
}

#[test]
fn both_clients_get_the_verdict() {
    let sandbox = sandbox();
    let serving = Serving::start(&sandbox);
    let socket = serving.socket.to_str().unwrap();
    for [program, file] in CLIENTS {
        for (command, code) in [("rm x", 2), ("ls", 0)] {
            let input = format!(r#"{{"tool_name":"shell","tool_input":{{"cmd":"{command}"}}}}"#);
            let arguments = [&path(file), socket, "pre_tool_use"];
            let (exit, stdout) = run(&sandbox, program, &arguments, &input);
            assert_eq!(exit, code, "{program}: {stdout}");
            let verdict: Value = serde_json::from_str(&stdout).unwrap();
            assert_eq!(verdict["hooks"][0]["name"], "guard", "{program}: {stdout}");
        }
        // An input that can't be read is an error, which stands for a denial.
        let (exit, stdout) =
            run(&sandbox, program, &[&path(file), socket, "pre_tool_use"], r#"{"cwd":5}"#);
        assert_eq!(exit, 2, "{program}: {stdout}");
        assert!(stdout.contains("can't be read"), "{program}: {stdout}");
    }
}

#[test]
fn both_clients_deny_when_there_is_no_server() {
    let sandbox = Sandbox::new();
    for [program, file] in CLIENTS {
        let (exit, stdout) = run(&sandbox, program, &[&path(file), "nobody", "pre_tool_use"], "{}");
        let verdict: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((exit, &verdict["allowed"]), (2, &Value::Bool(false)), "{program}: {stdout}");
    }
}

#[test]
fn both_clients_can_hear_of_each_hook_and_send_many_requests() {
    let sandbox = sandbox();
    let serving = Serving::start(&sandbox);
    let socket = serving.socket.to_str().unwrap();
    let directory = path("examples/clients");
    let python = format!(
        r#"
import sys; sys.path.insert(0, {directory:?}); sys.dont_write_bytecode = True
from hookexec import Hooks
with Hooks({socket:?}) as hooks:
    for n in range(3):
        heard = []
        verdict = hooks.dispatch("pre_tool_use", {{"tool_name": "shell"}}, on_hook=lambda m, p: heard.append(m))
        print(verdict["allowed"], *heard)
    print(len(hooks.call("list")["result"]["hooks"]))
"#
    );
    let node = format!(
        r#"
import {{ Hooks }} from "{directory}/hookexec.mjs";
const hooks = await Hooks.connect({socket:?});
const one = async () => {{
  const heard = [];
  const verdict = await hooks.dispatch("pre_tool_use", {{ tool_name: "shell" }}, {{ onHook: (m) => heard.push(m) }});
  console.log(verdict.allowed ? "True" : "False", ...heard);
}};
await Promise.all([one(), one(), one()]);
console.log((await hooks.call("list")).result.hooks.length);
hooks.close();
"#
    );
    let expected = format!("{}1\n", "True hook.started hook.finished\n".repeat(3));
    assert_eq!(run(&sandbox, "python3", &["-c", &python], ""), (0, expected.clone()));
    let node = ["--input-type=module", "-e", &node];
    assert_eq!(run(&sandbox, "node", &node, ""), (0, expected));
}

/// What a server may send instead of a verdict, and where it leads.
#[test]
fn both_clients_fail_closed_whatever_the_server_sends() {
    let verdict = r#"{"event":"user_prompt_submit","decision":null,"allowed":true,"hooks":[]}"#;
    let told = format!(
        r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"m","data":{{"verdict":{verdict}}}}}}}"#
    );
    let cases = [
        ("", "pre_tool_use", 2),
        ("not json\n", "pre_tool_use", 2),
        ("[]\n", "user_prompt_submit", 2),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "tool_response_transform", 2),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"allowed":"yes"}}"#, "pre_tool_use", 2),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"busy"}}"#, "post_tool_use", 2),
        // What the server says of its hooks counts.
        (told.as_str(), "user_prompt_submit", 0),
    ];
    let sandbox = Sandbox::new();
    for (index, (reply, event, code)) in cases.iter().enumerate() {
        for [program, file] in CLIENTS {
            let socket = sandbox.project().join(format!("s{index}{program}"));
            let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
            let reply = format!("{}\n", reply.trim_end());
            let server = std::thread::spawn(move || {
                use std::io::{BufRead as _, BufReader, Write as _};
                let (mut stream, _) = listener.accept().unwrap();
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).unwrap();
                if reply.trim().is_empty() {
                    return;
                }
                let _ = stream.write_all(reply.as_bytes());
            });
            let arguments = [&path(file), socket.to_str().unwrap(), *event];
            let (exit, stdout) = run(&sandbox, program, &arguments, "{}");
            server.join().unwrap();
            let case = format!("{program} {event} {reply_of}: {stdout}", reply_of = cases[index].0);
            assert_eq!(exit, *code, "{case}");
            let verdict: Value = serde_json::from_str(&stdout).unwrap();
            assert_eq!(verdict["allowed"], *code == 0, "{case}");
            let withholds = ["post_tool_use", "tool_response_transform"].contains(event);
            assert_eq!(verdict["updated_tool_response"].is_string(), withholds, "{case}");
        }
    }
}
