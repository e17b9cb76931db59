//! Sixteen agents at once against one server.

use std::io::{BufRead, Write};
use std::time::Instant;

use serde_json::{Value, json};

use crate::serve::process::{Serving, sandbox};

const AGENTS: usize = 16;
/// Events of each agent; every tenth starts a process, the others match no hook. `LOAD_EVENTS` sets
/// another number, for a longer look.
const EVENTS: usize = 50;

fn events() -> usize {
    std::env::var("LOAD_EVENTS").map_or(EVENTS, |count| count.parse().unwrap())
}

#[test]
fn sixteen_agents_get_the_right_answer_to_every_event() {
    let sandbox = sandbox();
    let serving = Serving::start(&sandbox);
    let mut times = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..AGENTS).map(|_| scope.spawn(|| agent(&serving))).collect();
        agents.into_iter().flat_map(|agent| agent.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(times.len(), AGENTS * events());
    times.sort();
    let (middle, late) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    eprintln!("{} events: p50 {middle:?}, p99 {late:?}", times.len());
}

/// Asks about one event after the other, and returns how long each took.
fn agent(serving: &Serving) -> Vec<std::time::Duration> {
    let mut connection = serving.connect();
    let ask = |id: usize| {
        let guarded = id.is_multiple_of(10);
        let tool = if guarded { "shell" } else { "read_file" };
        let command = if id.is_multiple_of(20) { "rm x" } else { "ls" };
        let input = json!({ "tool_name": tool, "tool_input": { "cmd": command } });
        let params = json!({ "event": "pre_tool_use", "input": input });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "dispatch", "params": params });
        let started = Instant::now();
        connection.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
        let mut line = String::new();
        connection.read_line(&mut line).unwrap();
        let time = started.elapsed();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        assert_eq!(answer["result"]["allowed"], !id.is_multiple_of(20), "{answer}");
        time
    };
    (0..events()).map(ask).collect()
}
