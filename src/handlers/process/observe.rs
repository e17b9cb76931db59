//! What an observing process is told about an event: a notification in PicoClaw's words.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::{Value, json};

use super::wire::{self, Meta};
use crate::config::EventMethod;
use crate::event::Event;
use crate::wire::Input;

/// `hook.event`, as PicoClaw tells it up to v0.2.8.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Legacy<'a> {
    kind: &'a str,
    time: String,
    meta: Meta<'a>,
    payload: Value,
}

/// `hook.runtime_event`, as PicoClaw tells it from v0.2.9 on.
#[derive(Serialize)]
struct Runtime<'a> {
    id: String,
    kind: &'a str,
    time: String,
    source: Value,
    scope: Value,
    correlation: Value,
    severity: &'a str,
    payload: Value,
}

/// Returns the method and the params that tell of an event.
pub(super) fn notification(
    method: EventMethod,
    event: Event,
    input: &Input,
) -> (&'static str, Vec<u8>) {
    let kinds = wire::kinds();
    let known = kinds.get(&event);
    let time = timestamp(SystemTime::now());
    let payload = payload(event, input);
    let (name, params) = match method {
        EventMethod::Event => {
            let kind = known.map_or(event.name(), |(kind, _)| kind);
            let meta = Meta::new(input, event.name());
            ("hook.event", serde_json::to_vec(&Legacy { kind, time, meta, payload }))
        }
        EventMethod::RuntimeEvent => {
            let own = format!("agent.{event}");
            let kind = known.map_or(own.as_str(), |(_, kind)| kind);
            ("hook.runtime_event", serde_json::to_vec(&runtime(kind, time, event, input, payload)))
        }
    };
    // Strings, numbers, booleans and JSON values: nothing here can fail to serialise.
    (name, params.unwrap_or_default())
}

fn runtime<'a>(
    kind: &'a str,
    time: String,
    event: Event,
    input: &Input,
    payload: Value,
) -> Runtime<'a> {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let agent = input.agent_name.as_deref().unwrap_or_default();
    let severity = match event {
        Event::OnError => "error",
        Event::Notification => input
            .notification_level
            .as_deref()
            .map_or("info", |level| if level == "error" { "error" } else { "warn" }),
        _ => "info",
    };
    let mut scope = json!({ "agent_id": agent, "session_key": input.session_id });
    if let Some(turn) = &input.turn_id {
        scope["turn_id"] = turn.as_str().into();
    }
    Runtime {
        id: format!("evt-{}", LAST.fetch_add(1, Ordering::Relaxed) + 1),
        kind,
        time,
        source: json!({ "component": "agent", "name": agent }),
        scope,
        correlation: json!({}),
        severity,
        payload,
    }
}

/// Returns what PicoClaw tells of the event; of one that it does not know, the whole Input.
fn payload(event: Event, input: &Input) -> Value {
    match event {
        Event::PreToolUse => json!({ "Tool": input.tool(), "Arguments": input.tool_input }),
        Event::PostToolUse => json!({
            "Tool": input.tool(),
            "Arguments": input.tool_input,
            "Duration": input.tool_duration_ms.unwrap_or_default().saturating_mul(1_000_000),
            "IsError": input.tool_error.unwrap_or_default(),
            "Result": wire::tool_result(input),
        }),
        Event::BeforeLlmCall => json!({
            "Model": input.model_id.as_deref().unwrap_or_default(),
            "MessagesCount": input.messages.as_ref().map_or(0, Vec::len),
            "ToolsCount": input.tools.as_ref().map_or(0, Vec::len),
        }),
        Event::AfterLlmCall => json!({
            "Model": input.model_id.as_deref().unwrap_or_default(),
            "Response": wire::model_response(input),
        }),
        _ => serde_json::to_value(input).unwrap_or_default(),
    }
}

/// Returns the time as RFC 3339 writes it, in UTC.
fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        since.subsec_micros()
    )
}

/// Returns the date of a day after 1970-01-01, by the calendar's cycle of 400 years.
///
/// Counting from 1 March of the year 0 puts the leap day at the end of its year.
const fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let year = cycle * 400 + year;
    if month < 10 { (year, month + 3, day_of_month) } else { (year + 1, month - 9, day_of_month) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(method: EventMethod, event: Event, input: &Input) -> (&'static str, Value) {
        let (name, params) = notification(method, event, input);
        (name, serde_json::from_slice(&params).unwrap())
    }

    fn input() -> Input {
        let arguments = json!({ "text": "hello" });
        let mut input = Input::for_tool("echo_text", arguments.as_object().unwrap().clone());
        input.agent_name = Some("agent-1".into());
        input.turn_id = Some("turn-1".into());
        input.with_session("s")
    }

    #[test]
    fn the_older_method_names_kind_meta_and_payload() {
        let (method, params) = told(EventMethod::Event, Event::PreToolUse, &input());
        assert_eq!(method, "hook.event");
        assert_eq!(params["Kind"], "tool_exec_start");
        assert_eq!(params["Meta"]["AgentID"], "agent-1");
        assert_eq!(params["Meta"]["TurnID"], "turn-1");
        assert_eq!(
            params["Payload"],
            json!({ "Tool": "echo_text", "Arguments": { "text": "hello" } })
        );
    }

    #[test]
    fn the_newer_method_is_an_envelope() {
        let (method, params) = told(EventMethod::RuntimeEvent, Event::PreToolUse, &input());
        assert_eq!(method, "hook.runtime_event");
        assert_eq!(params["kind"], "agent.tool.exec_start");
        assert_eq!(params["source"], json!({ "component": "agent", "name": "agent-1" }));
        assert_eq!(params["scope"]["turn_id"], "turn-1");
        assert!(params["id"].as_str().unwrap().starts_with("evt-"));
    }

    #[test]
    fn an_event_of_ours_is_told_whole_under_its_own_name() {
        let (_, params) = told(EventMethod::Event, Event::SessionStart, &input());
        assert_eq!(params["Kind"], "session_start");
        assert_eq!(params["Payload"]["session_id"], "s");
        let (_, params) = told(EventMethod::RuntimeEvent, Event::SessionStart, &input());
        assert_eq!(params["kind"], "agent.session_start");
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (1_767_225_599, "2025-12-31T23:59:59.000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
