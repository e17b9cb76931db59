//! A process hook's round trip, beside a bare ping-pong over pipes with the same child.

use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hookexec::{Event, Executor, Input};
use tokio::runtime::Runtime;

use crate::measure::{Finding, ratio};
use crate::system::Pinned;
use crate::{Options, engine, support};

/// How many round trips make one sample.
const TRIPS: u32 = 100;

const CHILD: &str = include_str!("../support/echo.py");

pub(crate) fn measure(options: &Options, findings: &mut Vec<Finding>) {
    let work = "process hook round trip / bare pipe ping-pong";
    options.add(findings, work, |samples| {
        let _pinned = Pinned::new();
        let input = support::input(100);
        let runtime = engine::runtime();
        // The very bytes of a call go to and fro: how much there is to read is not the engine's affair.
        let line = recorded(&runtime, &input);
        let mut child = Command::new("python3")
            .args(["-c", CHILD])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is there");
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
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

        let executor = Arc::new(executor(&["python3", "-c", CHILD]));
        // In a task, as hosts do: what a runtime was started with is polled less directly.
        let subject = || {
            let (executor, input) = (Arc::clone(&executor), input.clone());
            let trips = runtime.spawn(async move {
                let started = Instant::now();
                for _ in 0..TRIPS {
                    let verdict = executor.dispatch(Event::PreToolUse, black_box(&input)).await;
                    assert!(verdict.allowed, "{verdict:?}");
                }
                started.elapsed() / TRIPS
            });
            runtime.block_on(trips).expect("nothing panics")
        };
        let finding = ratio(work, Some(1.25), samples, baseline, subject);
        runtime.block_on(executor.shutdown(Duration::from_secs(5)));
        let _ = child.kill();
        let _ = child.wait();
        finding
    });
}

/// Returns the line that a process is called with for `input`.
fn recorded(runtime: &Runtime, input: &Input) -> String {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let executor = executor(&["python3", "-c", CHILD, &file.path().to_string_lossy()]);
    let verdict = runtime.block_on(executor.dispatch(Event::PreToolUse, input));
    assert!(verdict.allowed, "{verdict:?}");
    runtime.block_on(executor.shutdown(Duration::from_secs(5)));
    let line = std::fs::read_to_string(file.path()).expect("the child wrote it");
    assert!(line.contains("hook.before_tool"), "{line}");
    line
}

fn executor(command: &[&str]) -> Executor {
    let command = serde_json::json!(command);
    engine::executor(&format!(
        "processes: {{ echo: {{ command: {command} }} }}\nhooks: {{ pre_tool_use: {{ matcher: '*', hooks: {{ type: process, command: echo }} }} }}\n"
    ))
}
