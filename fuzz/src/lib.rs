//! What must hold whatever bytes come in: one function a surface, each with an answer of its own to
//! compare with.
//!
//! The fuzz targets in `fuzz/` call these with what a fuzzer makes up; the tests in `tests/seeds` call them
//! with the seeds of those targets and with random changes to them.
#![expect(clippy::expect_used, reason = "what does not hold has to be noticed")]

use std::cell::LazyCell;
use std::sync::Arc;

use hookexec::config::Condition;
use hookexec::config::{Command, Hook};
use hookexec::describe::Memo;
use hookexec::matcher::Matcher;
use hookexec::wire::parse_strict;
use hookexec::{
    BoxFuture, Call, Config, Event, Executor, Exited, Handler, HandlerError, HandlerFactory,
    HandlerResult, Input, Registry, Verdict,
};
use hookexec_agents::Agent;
use hookexec_files::rpc::{Incoming, Line, LineDecoder};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A hooks file: it is read, or refused with words; and how its lines end changes nothing.
pub fn config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Config::from_yaml(text, "hooks.yaml") {
        Ok(config) => {
            let lines = text.split(['\n', '\r']).count();
            for hook in &config.hooks {
                let line = hook.location.line();
                assert!((1..=lines).contains(&line), "{line}");
            }
            if !text.contains('\r') {
                let returned = Config::from_yaml(&text.replace('\n', "\r\n"), "hooks.yaml");
                assert_eq!(returned.map(|other| other.hooks.len()).ok(), Some(config.hooks.len()));
            }
            // Whatever it says of the hooks, it says it without a panic.
            let _ = Executor::builder(config).working_dir("/").build();
        }
        Err(problems) => {
            assert!(!problems.render(true).is_empty());
            assert!(serde_json::to_string(&problems).is_ok());
        }
    }
}

/// A hook's standard output, after a byte that chooses its exit code: a denial is never lost, and
/// what can't be an answer never allows.
pub fn hook_stdout(bytes: &[u8]) {
    const CODES: [i32; 8] = [0, 0, 0, 1, 2, 3, 126, 137];
    let Some((choice, stdout)) = bytes.split_first() else { return };
    let code = CODES[usize::from(*choice) % CODES.len()];

    let verdict = answer(Event::PreToolUse, code, stdout);
    assert_eq!(verdict, answer(Event::PreToolUse, code, stdout), "the same answer, read twice");
    assert!(serde_json::to_value(&verdict).is_ok());
    if [2, 126, 137].contains(&code) || denies(stdout) {
        assert!(!verdict.allowed, "{verdict:?}");
    }
    let alone = [stdout, b"\n{\"decision\":\"deny\",\"reason\":\"no\"}\n"].concat();
    if code != 1 && code != 3 && parse_strict(&String::from_utf8_lossy(stdout)).is_err() {
        let noisy = answer(Event::PreToolUse, code, &alone);
        assert!(!noisy.allowed, "{noisy:?}");
    }
    let _ = answer(Event::UserPromptSubmit, code, stdout);
    let _ = answer(Event::PostToolUse, code, stdout);
}

/// What a process hook writes, after a byte that says where the stream is cut: cutting changes
/// nothing, and a reply reaches the call that it names.
pub fn json_rpc_lines(bytes: &[u8]) {
    const MAX: usize = 256;
    let Some((cut, stream)) = bytes.split_first() else { return };
    let (first, second) = stream.split_at(usize::from(*cut).min(stream.len()));
    let whole = messages(MAX, &[stream]);
    assert_eq!(whole, messages(MAX, &[first, second]));
    for (line, message) in whole {
        let Some(line) = line.and_then(|line| parse_strict(&line).ok()) else { continue };
        let Some(id) = line.get("id").and_then(Value::as_u64) else { continue };
        let reply = ["jsonrpc", "result", "error"].iter().any(|key| line.get(key).is_some());
        // Keys count in any case.
        let mut keys = line.as_object().into_iter().flat_map(|object| object.keys());
        if reply && !keys.any(|key| key.eq_ignore_ascii_case("method")) {
            assert!(
                matches!(&message, Incoming::Result { id: found, .. }
                    | Incoming::Error { id: found, .. }
                    | Incoming::Unreadable { id: found, .. } if *found == id),
                "{line} became {message:?}"
            );
        }
    }
}

/// A condition, a zero byte, and the arguments of a tool: it holds as it explains itself, and `not`
/// is its opposite.
pub fn condition(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (written, arguments) = text.split_once('\0').unwrap_or((text, "{}"));
    let arguments = serde_json::from_str(arguments).unwrap_or_default();
    let input = Input::for_tool("shell", arguments);
    let Some(plain) = when(written) else { return };
    let holds = plain.holds(&input, &Memo::default());
    assert_eq!(plain.explain(&input, &Memo::default()).holds, holds);
    for (form, expected) in [("not", !holds), ("all", holds), ("any", holds)] {
        let inner = if form == "not" { written.to_owned() } else { format!("[{written}]") };
        // Wrapped once more it may be nested too deeply.
        if let Some(wrapped) = when(&format!("{{ {form}: {inner} }}")) {
            assert_eq!(wrapped.holds(&input, &Memo::default()), expected, "{form}: {written}");
        }
    }
}

/// A matcher, a zero byte, and the name of a tool: it matches as the whole regular expression does.
pub fn matcher(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (pattern, name) = text.split_once('\0').unwrap_or((text, "shell"));
    let Ok(matcher) = Matcher::new(pattern) else { return };
    let expected = match pattern {
        "" | "*" => true,
        // A space: a comment of `(?x)` would swallow what follows on its line.
        pattern => match regex::bytes::RegexBuilder::new(&format!("^(?:{pattern})$"))
            .dot_matches_new_line(true)
            .size_limit(64 << 20)
            .build()
        {
            Ok(regex) => regex.is_match(name.as_bytes()),
            Err(_) => return,
        },
    };
    let found = matcher.matches(name);
    // In the names of MCP tools `-`, `.` and `_` count as the same, so more may match.
    let may_match_more = name.starts_with("mcp__");
    assert!(found == expected || found && may_match_more, "{pattern:?} over {name:?}");
}

/// What an agent sends, after a byte that names the agent and one that names its event: it is read,
/// or refused with a denial wherever its agent lets a hook deny.
pub fn payload(bytes: &[u8]) {
    let [agent, event, payload @ ..] = bytes else { return };
    let agents: Vec<Agent> = Agent::all().collect();
    let agent = agents[usize::from(*agent) % agents.len()];
    let native = &agent.events()[usize::from(*event) % agent.events().len()];
    match hookexec_agents::read(agent, Some(native.name), payload, |_| None) {
        Ok(call) => {
            let text = serde_json::to_string(&call.input).expect("what was read can be written");
            let _ = serde_json::from_str::<Input>(&text).expect("and read again");
        }
        Err(error) => assert!(!error.cause.is_empty()),
    }
}

/// Returns the verdict on an event whose one hook ended with `code` after it wrote `stdout`.
fn answer(event: Event, code: i32, stdout: &[u8]) -> Verdict {
    thread_local! {
        static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
            Builder::new_current_thread().enable_all().build().expect("a runtime")
        });
    }
    let ended = HandlerResult::from(Exited::new(code, stdout.to_vec(), Vec::new()));
    let mut registry = Registry::empty();
    registry.register("ended", HandlerFactory::new(move |_, _| Ok(Arc::new(Ended(ended.clone())))));
    let hooks = vec![Hook::new(event, "ended", Command::Text("guard".into()))];
    let mut config = Config::default();
    config.hooks = hooks;
    let executor = Executor::builder(config).registry(registry).working_dir("/").build();
    let executor = executor.expect("one hook builds");
    let input = Input::for_tool("shell", serde_json::Map::new());
    let mut verdict = RUNTIME.with(|runtime| runtime.block_on(executor.dispatch(event, &input)));
    for report in &mut verdict.hooks {
        report.duration_ms = 0.0;
    }
    verdict
}

/// A program that has run.
struct Ended(HandlerResult);

impl Handler for Ended {
    fn run<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}

/// Returns whether bytes are one JSON object that denies, by the two commonest spellings.
fn denies(stdout: &[u8]) -> bool {
    let Ok(answer) = serde_json::from_slice::<Value>(stdout) else { return false };
    let decision = answer.get("decision").and_then(Value::as_str);
    let permission = answer.pointer("/hookSpecificOutput/permissionDecision");
    matches!(decision, Some("deny" | "block")) || permission == Some(&json!("deny"))
}

/// Returns every message of a stream that comes in pieces, with its line when that is whole.
fn messages(max: usize, pieces: &[&[u8]]) -> Vec<(Option<String>, Incoming)> {
    let mut decoder = LineDecoder::new(max);
    let mut messages = Vec::new();
    let mut take = |line: Line<'_>| {
        messages.push(match line {
            Line::Text(line) => (String::from_utf8(line.to_vec()).ok(), Incoming::read(line)),
            Line::Oversized(start) => (None, Incoming::oversized(start, max)),
        });
    };
    for piece in pieces {
        decoder.feed(piece, &mut take);
    }
    decoder.finish(&mut take);
    messages
}

fn when(written: &str) -> Option<Arc<Condition>> {
    let text = format!("stop: {{ type: command, command: x, when: {written} }}");
    let config = Config::from_yaml(&text, "hooks.yaml").ok()?;
    let [hook] = config.hooks.as_slice() else { return None };
    hook.when.clone()
}
