//! A process hook's round trip, beside a bare ping-pong over pipes with the same child.

use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hookexec::Event;

use crate::measure::{Finding, ratio};
use crate::{Options, engine, support};

/// How many round trips make one sample.
const TRIPS: u32 = 100;

/// A hook that has no opinion: it reads a line as JSON and answers with its id.
const CHILD: &str = "import sys, json
for line in sys.stdin:
    request = json.loads(line)
    if 'id' in request:
        sys.stdout.write('{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"ok\":true}}\\n' % request['id'] if request['method'] == 'hook.hello' else '{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}\\n' % request['id'])
        sys.stdout.flush()
";

pub(crate) fn measure(options: &Options, findings: &mut Vec<Finding>) {
    let work = "process hook round trip / bare pipe ping-pong";
    options.add(findings, work, |samples| {
        let mut child = Command::new("python3")
            .args(["-c", CHILD])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is there");
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let input = support::input(100);
        let request = serde_json::json!({
            "jsonrpc": "2.0", "id": 1, "method": "hook.before_tool",
            "params": { "tool": input.tool(), "arguments": input.tool_input },
        });
        let line = format!("{request}\n");
        let mut answer = String::new();
        let baseline = || {
            let started = Instant::now();
            for _ in 0..TRIPS {
                stdin.write_all(line.as_bytes()).expect("the child reads");
                answer.clear();
                stdout.read_line(&mut answer).expect("the child answers");
                black_box(&answer);
            }
            started.elapsed() / TRIPS
        };

        let command = serde_json::json!(["python3", "-c", CHILD]);
        let executor = engine::executor(&format!(
            "processes: {{ echo: {{ command: {command} }} }}\nhooks: {{ pre_tool_use: {{ matcher: '*', hooks: {{ type: process, command: echo }} }} }}\n"
        ));
        let runtime = engine::runtime();
        let subject = || {
            runtime.block_on(async {
                let started = Instant::now();
                for _ in 0..TRIPS {
                    let verdict = executor.dispatch(Event::PreToolUse, black_box(&input)).await;
                    assert!(verdict.allowed, "{verdict:?}");
                }
                started.elapsed() / TRIPS
            })
        };
        let finding = ratio(work, Some(1.25), samples, baseline, subject);
        runtime.block_on(executor.shutdown(Duration::from_secs(5)));
        let _ = child.kill();
        let _ = child.wait();
        finding
    });
}
