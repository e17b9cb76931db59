//! A process hook in Rust: it limits how many tools a turn may call, which only a process that stays
//! running can know.
//!
//! ```sh
//! cargo build --example process_hook
//! hookexec run pre_tool_use --config examples/processes/limit.yaml < examples/inputs/ls.json
//! ```
//!
//! The protocol is described in `docs/serve.md`. It needs nothing of this crate.

use std::collections::HashMap;
use std::io::{self, BufRead as _, Write as _};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let limit = std::env::args().nth(1).and_then(|limit| limit.parse().ok()).unwrap_or(50);
    let mut guard = Limit { limit, calls: HashMap::new() };
    let mut stdout = io::stdout().lock();
    // The end of stdin is the end of the host, and of this process.
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        // Without an id it is news, to which nothing is answered.
        let Some(id) = message.get("id") else { continue };
        let method = message["method"].as_str().unwrap_or_default();
        let answer = match guard.answer(method, &message["params"]) {
            Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            None => json!({
                "jsonrpc": "2.0", "id": id,
                "error": { "code": -32601, "message": format!("unknown method {method}") },
            }),
        };
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}

/// Counts the calls of the turn that each session is in.
struct Limit {
    limit: u32,
    calls: HashMap<String, (String, u32)>,
}

impl Limit {
    fn answer(&mut self, method: &str, params: &Value) -> Option<Value> {
        match method {
            "hook.hello" => Some(json!({ "ok": true, "name": "limit" })),
            "hook.before_tool" => Some(self.before_tool(&params["meta"])),
            // An event of hookexec's own: params are its input, the result is one of its answers.
            "hook.session_end" => {
                self.calls.remove(params["session_id"].as_str().unwrap_or_default());
                Some(json!({}))
            }
            _ => None,
        }
    }

    fn before_tool(&mut self, meta: &Value) -> Value {
        let text = |key: &str| meta[key].as_str().unwrap_or_default().to_owned();
        let (turn, calls) = self.calls.entry(text("SessionKey")).or_default();
        if *turn != text("TurnID") {
            (*turn, *calls) = (text("TurnID"), 0);
        }
        *calls += 1;
        if *calls <= self.limit {
            return json!({ "action": "continue" });
        }
        let reason = format!("more than {} tool calls in one turn", self.limit);
        json!({ "action": "abort_turn", "reason": reason })
    }
}
