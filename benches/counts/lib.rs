//! What `counts.py` counts of the library: `counts WORK TIMES` does one piece of work so often.
//!
//! Two runs differ only in `TIMES`, so what differs in their counts is the work alone.
#![expect(clippy::unwrap_used, reason = "a benchmark that can't run has nothing to say")]

#[path = "../support/mod.rs"]
mod support;

use std::hint::black_box;
use std::path::Path;

use hookexec::executor::DispatchOptions;
use hookexec::{Builtin, Config, Event, Executor, Input, Output};
use serde_json::{Value, json};

/// A process hook without an opinion.
const ECHO: &str = include_str!("../support/echo.py");

/// Does what the arguments say.
///
/// # Panics
/// If it can't.
pub fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["files", directory] => write_files(Path::new(directory)),
        [work, times] => do_work(work, times.parse().unwrap()),
        _ => panic!("usage: counts files DIRECTORY, or counts WORK TIMES; `just counts` runs this"),
    }
}

/// Writes the hooks files and inputs that the command is counted with.
fn write_files(directory: &Path) {
    for count in [1, 100, 1000] {
        write(directory, &format!("{count}.yaml"), &support::hooks_file(count));
    }
    let command = "pre_tool_use:\n  - hooks: [{ type: command, command: \"cat >/dev/null\" }]\n";
    write(directory, "command.yaml", command);
    write(directory, "small.json", &input_text(2 << 10));
    write(directory, "large.json", &input_text(12_000_000));
}

fn write(directory: &Path, name: &str, text: &str) {
    std::fs::write(directory.join(name), text).unwrap();
}

fn do_work(work: &str, times: usize) {
    match work {
        "no-match" => dispatch(&support::hooks_file(100), times),
        "builtin" => dispatch(&support::builtins_file(1), times),
        "process" => {
            let command = json!(["python3", "-c", ECHO]);
            let hook = "{ type: process, command: echo }";
            let processes = format!("processes: {{ echo: {{ command: {command} }} }}");
            let file = format!("{processes}\npre_tool_use: [{{ hooks: [{hook}] }}]\n");
            dispatch(&file, times);
        }
        "moment" => moment(times),
        "read-small" => read::<Input>(2 << 10, times),
        "read-large" => read::<Input>(12_000_000, times),
        "json-small" => read::<Value>(2 << 10, times),
        "json-large" => read::<Value>(12_000_000, times),
        _ => panic!("there is no work `{work}`"),
    }
}

/// Dispatches one event so often, in a task, as hosts do.
fn dispatch(file: &str, times: usize) {
    let config = Config::from_yaml(file, "hooks.yaml").unwrap();
    let executor = Executor::builder(config).registry(support::registry()).build().unwrap();
    let input = support::input(100);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let dispatches = runtime.spawn(async move {
        // The first starts what is started once.
        for _ in 0..=times {
            let verdict = executor.dispatch(Event::PreToolUse, black_box(&input)).await;
            assert!(verdict.allowed && verdict.failed_open.is_empty(), "{verdict:?}");
        }
        // The process ends, and its hooks with it.
        std::mem::forget(executor);
    });
    runtime.block_on(dispatches).unwrap();
}

/// Runs the moment before a tool call so often: a rewriter and three guards, at three events.
fn moment(times: usize) {
    const HOOKS: &str = "
hooks:
  tool_input_transform: [{ hooks: [{ type: builtin, command: mark }] }]
  tool_guard: [{ hooks: [{ type: builtin, command: look }] }]
  pre_tool_use:
    - hooks: [{ type: builtin, command: look, name: a }, { type: builtin, command: look, name: b }]
";
    let mut registry = support::registry();
    let nothing = |_: &Input, _: &[String]| Ok::<_, String>(None::<Output>);
    let mark = |_: &Input, _: &[String]| {
        let mark = [("mark".to_owned(), Value::Bool(true))].into_iter().collect();
        Ok::<_, String>(Some(Output::patch_input(mark)))
    };
    registry.register_builtin("look", Builtin::inline(nothing));
    registry.register_builtin("mark", Builtin::inline(mark));
    let config = Config::from_yaml(HOOKS, "hooks.yaml").unwrap();
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let input = support::input(100);
    let events = [Event::ToolInputTransform, Event::ToolGuard, Event::PreToolUse];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let work = runtime.spawn(async move {
        for _ in 0..=times {
            let running =
                executor.run_moment(&events, black_box(&input), DispatchOptions::default());
            let verdict = running.await.verdict;
            assert!(verdict.updated_input.is_some() && verdict.failed_open.is_empty());
        }
    });
    runtime.block_on(work).unwrap();
}

/// Reads one input so often.
fn read<T: serde::de::DeserializeOwned>(size: usize, times: usize) {
    let text = input_text(size);
    for _ in 0..times {
        drop(black_box(serde_json::from_str::<T>(black_box(&text)).unwrap()));
    }
}

/// Returns an input of about `size` bytes: many edits of source code, with line breaks and quotes.
fn input_text(size: usize) -> String {
    let line = "    let name = format!(\"{first} {last}\");\n";
    let edit = json!({ "path": "src/main.rs", "old": line.repeat(4), "new": line.repeat(5) });
    let edits = vec![&edit; size / edit.to_string().len()];
    let mut input = serde_json::to_value(support::input(10)).unwrap();
    input["tool_input"]["edits"] = json!(edits);
    input.to_string()
}
