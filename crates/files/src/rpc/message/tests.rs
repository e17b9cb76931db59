//! Tests of this module.

use super::*;

fn read(line: &str) -> Incoming {
    Incoming::read(line.as_bytes())
}

fn result(id: u64, text: &str) -> Incoming {
    Incoming::Result { id, text: text.to_owned() }
}

#[test]
fn our_messages_are_one_line_each() {
    assert_eq!(
        String::from_utf8(request(7, "hook.stop", br#"{"a":1}"#)).unwrap(),
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"hook.stop\",\"params\":{\"a\":1}}\n"
    );
    assert_eq!(
        String::from_utf8(notification("hook.event", b"{}")).unwrap(),
        "{\"jsonrpc\":\"2.0\",\"method\":\"hook.event\",\"params\":{}}\n"
    );
    let refused = String::from_utf8(refusal("\"x\"")).unwrap();
    assert!(refused.starts_with(r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"#));
    assert!(refused.ends_with("}\n") && refused.lines().count() == 1);
}

#[test]
fn what_javascript_takes_for_a_line_end_is_escaped() {
    let text = "a\u{2028}b\u{2029}c\u{2027}d\u{e2}";
    let line = request(1, "m", serde_json::to_string(text).unwrap().as_bytes());
    let line = String::from_utf8(line).unwrap();
    assert!(line.contains(r"a\u2028b\u2029c"), "{line}");
    let message: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(message["params"], text);
}

#[test]
fn a_reply_without_a_result_is_no_silence() {
    for rest in [
        r#""action":"deny_tool""#,
        r#""reslut":{}"#,
        r#""error":null"#,
        r#""result":null,"action":"deny_tool""#,
        r#""result":{},"err":"denied""#,
        r#""result":{ },"action":"deny_tool""#,
        r#""result":{"action":""},"action":"deny_tool","x":1"#,
        r#""result":{"action":"continue"},"decision":"deny""#,
        r#""result":{"action":"continue"},"at":"12:00""#,
    ] {
        let reply = read(&format!(r#"{{"jsonrpc":"2.0","id":2,{rest}}}"#));
        assert!(matches!(reply, Incoming::Unreadable { id: 2, .. }), "{reply:?}");
    }
}

#[test]
fn a_reply_may_lack_what_is_not_needed_and_repeat_the_call() {
    assert_eq!(read(r#"{"jsonrpc":"2.0","id":2,"result":{"a":1.0}}"#), result(2, r#"{"a":1.0}"#));
    assert_eq!(read(r#"{"id":2,"result":null}"#), result(2, "null"));
    let echo = r#"{"id":2,"method":"hook.before_tool","params":{"a":"\ud83d"},"result":{}}"#;
    assert_eq!(read(echo), result(2, "{}"));
}

#[test]
fn an_error_wins_over_a_result() {
    let line = r#"{"id":2,"result":{"approved":true},"error":{"code":-5,"message":"no"}}"#;
    let error = RpcError { code: -5, message: "no".into() };
    assert_eq!(error.to_string(), "error -5: no");
    assert_eq!(read(line), Incoming::Error { id: 2, error });
    let Incoming::Error { error, .. } = read(r#"{"id":2,"error":{}}"#) else { panic!() };
    assert_eq!(error.to_string(), "error 0");
    let boom = read(r#"{"id":2,"error":"boom"}"#);
    assert!(matches!(boom, Incoming::Unreadable { id: 2, .. }), "{boom:?}");
}

#[test]
fn a_call_is_not_taken_for_an_answer() {
    assert_eq!(
        read(r#"{"jsonrpc":"2.0","id":2,"method":"host.tools","params":{}}"#),
        Incoming::Request { id: "2".into(), method: "host.tools".into() }
    );
    assert_eq!(
        read(r#"{"jsonrpc":"2.0","method":"log"}"#),
        Incoming::Notification { method: "log".into() }
    );
}

#[test]
fn noise_is_no_answer_whatever_id_it_carries() {
    for line in [
        "starting up",
        r#""2""#,
        "[]",
        r#"[{"jsonrpc":"2.0","id":2,"result":{}}]"#,
        r#"{"id":2,"level":"info","message":"ready"}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}"#,
        r#"{"id":{},"result":{}}"#,
        r#"{"id":-2,"result":{}}"#,
        r#"{"id":2.5,"result":{}}"#,
        r#"{"id":"2","result":{}}"#,
        r#"{"id":2.0,"result":{}}"#,
        r#"{"id":2,"level":"info","message":"#,
        r#"{"id":2,"method":"host.tools","params":"#,
    ] {
        assert!(matches!(read(line), Incoming::Noise { .. }), "{line} {:?}", read(line));
    }
}

#[test]
fn a_broken_reply_still_tells_whose_it_is() {
    for (line, problem) in [
        (r#"{"id":2,"result":{"approved":true},"result":{}}"#, "duplicate field `result`"),
        (r#"{"id":2,"result":{"approved":tru}}"#, "expected"),
        (r#"{"id":2,"result":{}} {"id":3,"result":{}}"#, "trailing"),
        (r#"{"id":2,"result":"#, "EOF"),
    ] {
        let Incoming::Unreadable { id: 2, problem: found } = read(line) else {
            panic!("{line} {:?}", read(line));
        };
        assert!(found.contains(problem), "{line} {found}");
    }
    let latin = b"{\"id\":2,\"result\":{\"reason\":\"caf\xe9\"}}";
    let problem = "it is not UTF-8".to_owned();
    assert_eq!(Incoming::read(latin), Incoming::Unreadable { id: 2, problem });
    // A lone surrogate is left to whoever reads the result.
    assert_eq!(read(r#"{"id":2,"result":"\ud83d"}"#), result(2, r#""\ud83d""#));
}

#[test]
fn the_beginning_of_an_endless_line_tells_whose_it_is() {
    let start = br#"{"jsonrpc":"2.0","id":9,"result":{"x":"aaaaaaa"#;
    let problem = "it is longer than 10 bytes (`max_line`)".to_owned();
    assert_eq!(Incoming::oversized(start, 10), Incoming::Unreadable { id: 9, problem });
    assert!(matches!(Incoming::oversized(b"xxxx", 10), Incoming::Noise { .. }));
}
