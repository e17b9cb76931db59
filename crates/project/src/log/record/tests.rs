//! Every record of a decision: its texts, its length and its secrets.

use serde_json::json;

use super::*;

#[test]
fn every_record_begins_alike_and_holds_no_secret() {
    let mut input = Input::for_tool("shell", JsonObject::new()).with_session("s");
    let token = format!("ghp_{}", "a1B2".repeat(9));
    input.prompt = Some(format!("use {token}"));
    let verdict = Verdict::denied(Event::PreToolUse, format!("no {token}"));
    let record = Record::new("T".into(), &input, &verdict, 1.5);
    let line = record
        .with_input(&input, verdict.updated_input.clone(), &Redactor::default())
        .line(&Redactor::default())
        .unwrap();
    let line = String::from_utf8(line).unwrap();
    assert!(line.starts_with(BEGINNING) && line.ends_with("}\n"), "{line}");
    assert!(!line.contains(&token), "{line}");
    let read: Record = serde_json::from_str(&line).unwrap();
    assert!(read.input_redacted && !read.input_cut);
    assert_eq!(read.decision, Some(Decision::Deny));
}

#[test]
fn a_value_with_a_private_name_of_the_parser_is_read_as_it_is_written() {
    for name in ["$serde_json::private::Number", "$serde_json::private::RawValue"] {
        for inner in [json!("1"), json!("{\"a\":1}"), json!(1), json!({})] {
            let written = json!({ name: inner, "more": [{ name: inner }], "n": 1 });
            let object = written.as_object().unwrap();
            let input = Input::for_tool("shell", object.clone());
            let record = Record::new("T".into(), &input, &Verdict::denied(Event::Stop, ""), 1.0);
            let record = record.with_input(&input, Some(object.clone()), &Redactor::default());
            assert_eq!(record.updated_input.as_ref(), Some(object));
            let text = serde_json::to_string(&record).unwrap();
            assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
            let value = serde_json::to_value(&record).unwrap();
            assert_eq!(serde_json::from_value::<Record>(value).unwrap(), record);
        }
    }
}

/// Returns the record of a verdict as it is read again, which is short enough.
#[track_caller]
fn written(input: &Input, verdict: &Verdict) -> Record {
    let redactor = Redactor::default();
    let record = Record::new("T".into(), input, verdict, 0.0);
    let record = record.with_input(input, verdict.updated_input.clone(), &redactor);
    let line = record.line(&redactor).unwrap();
    assert!(line.len() <= LONGEST, "{}", line.len());
    serde_json::from_slice(&line).unwrap()
}

/// Returns the report of a hook that failed.
fn failed(name: impl Into<String>, reason: impl Into<String>) -> HookReport {
    let report = json!({
        "name": name.into(), "type": "command", "source": "hooks.yaml", "status": "failed",
        "reason": reason.into(), "duration_ms": 0.0,
    });
    serde_json::from_value(report).unwrap()
}

/// The longest text of a record, in bytes as it is written.
const LONGEST_TEXT: usize = 4096;

#[test]
fn each_long_text_is_cut_by_itself() {
    let mut input = Input::default();
    input.prompt = Some("short".into());
    let mut verdict = Verdict::denied(Event::Stop, "m".repeat(LONGEST));
    verdict.hooks.push(failed("a", "because ".repeat(LONGEST_TEXT)));
    verdict.hooks.push(failed("b", "short"));
    let read = written(&input, &verdict);
    let message = read.message.as_deref().unwrap();
    assert!(message.starts_with("mmm") && message.ends_with("more bytes)"), "{message}");
    assert!(message.len() < LONGEST_TEXT + 50, "{}", message.len());
    let reason = read.hooks[0].reason.as_deref().unwrap();
    assert!(reason.starts_with("because") && reason.ends_with("more bytes)"), "{reason}");
    assert_eq!(read.hooks[1].reason.as_deref(), Some("short"));
    assert!(read.input.is_some() && !read.input_cut && !read.hooks_cut);
    input.messages = Some(vec!["x".into(); 3]);
    assert!(written(&input, &verdict).input_cut, "only their number is kept");
}

#[test]
fn a_record_that_is_too_long_has_no_inputs_and_then_the_first_hooks() {
    let many = (0..40).map(|key| (key.to_string(), "y".repeat(3000).into()));
    let input = Input::for_tool("shell", many.collect());
    let mut verdict = Verdict::denied(Event::PreToolUse, "no");
    let read = written(&input, &verdict);
    assert!(read.input_cut && read.input.is_none() && !read.hooks_cut);
    for number in 0..200 {
        verdict.failed_open.push(number.to_string());
        verdict.hooks.push(failed(number.to_string(), "r".repeat(3000)));
    }
    let read = written(&Input::default(), &verdict);
    assert!(read.hooks_cut, "{}", read.hooks.len());
    assert_eq!((read.hooks.len(), read.hooks[0].name.as_str()), (12, "0"));
    let names: Vec<_> = read.hooks.iter().map(|report| report.name.clone()).collect();
    assert_eq!(read.failed_open, names);
}

#[test]
fn a_record_is_short_enough_whatever_its_texts_are() {
    for letter in ["s", "\u{1}", "\u{1f600}", "\"", "\u{fffd}"] {
        let long = letter.repeat(LONGEST / letter.len());
        let mut input = Input::for_tool(long.clone(), JsonObject::new()).with_session(&long);
        input.agent_name = Some(long.clone());
        let mut verdict = Verdict::denied(Event::Stop, long.clone());
        for _ in 0..20 {
            verdict.hooks.push(failed(long.clone(), long.clone()));
            verdict.failed_open.push(long.clone());
        }
        let read = written(&input, &verdict);
        assert!(read.hooks_cut && !read.hooks.is_empty(), "{letter:?}");
        assert_eq!(read.hooks.len(), read.failed_open.len(), "{letter:?}");
    }
}

#[test]
fn a_text_of_many_megabytes_is_left_out_as_a_whole() {
    let key =
        format!("-----BEGIN PRIVATE KEY-----{}-----END PRIVATE KEY-----", "k".repeat(LONGEST));
    let verdict = Verdict::denied(Event::Stop, format!("{key} ghp_{}", "a1B2".repeat(9)));
    let record = Record::new("T".into(), &Input::default(), &verdict, 0.0);
    assert!(record.message.as_deref().is_some_and(|it| it.ends_with("left out]")));
    let line = String::from_utf8(record.line(&Redactor::default()).unwrap()).unwrap();
    assert!(!line.contains("ghp_"), "{line}");
}

#[test]
fn a_secret_is_taken_out_before_a_text_is_cut() {
    let before = "p".repeat(LONGEST_TEXT - 28);
    let reason = format!("{before} ghp_{} {}", "a1B2".repeat(9), "q".repeat(LONGEST_TEXT));
    let verdict = Verdict::denied(Event::Stop, reason);
    let record = Record::new("T".into(), &Input::default(), &verdict, 0.0);
    let line = String::from_utf8(record.line(&Redactor::default()).unwrap()).unwrap();
    assert!(
        line.contains("pppp") && line.contains("more bytes)") && !line.contains("ghp_"),
        "{line}"
    );
}
