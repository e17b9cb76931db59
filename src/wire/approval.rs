//! The question to a person about a tool call, and its answer.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Decision, Input, JsonObject, field};
use crate::event::Event;
use crate::files::digest;
use hookexec_files::json::canonical;

/// A question to a person, as hooks of `approval` read it in `input.approval`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
#[serde(default)]
#[non_exhaustive]
pub struct ApprovalQuestion {
    /// The question's own id, which is random.
    pub id: String,
    /// The digest of exactly what will run. An allow repeats it.
    pub digest: String,
    /// When the answer comes too late: RFC 3339, in UTC.
    pub expires: String,
    /// The hook that asks, and why.
    pub reasons: Vec<ApprovalReason>,
    /// The arguments as the model wrote them, if hooks have changed them since.
    #[serde(deserialize_with = "field::exact", skip_serializing_if = "Option::is_none")]
    pub original_input: Option<JsonObject>,
}

sparse! {
    /// Why a person is asked.
    #[derive(Eq)]
    #[serde(default)]
    pub struct ApprovalReason {
        /// Its reason.
        pub reason: String,
        ..
        /// The hook that asks; none if the host asks by itself.
        pub hook: Option<String>,
        /// The hook's event.
        pub event: Option<Event>,
    }
}

sparse! {
    /// The answer to a question, in the verdict.
    #[derive(Eq)]
    #[serde(default)]
    pub struct ApprovalReport {
        /// The digest of exactly what a person is asked about.
        pub digest: String,
        ..
        /// The question's id, once a hook of `approval` was asked.
        pub id: Option<String>,
        /// The answer; none if there is none.
        pub decision: Option<Decision>,
        /// Who answered, as the channel says.
        pub by: Option<String>,
        /// The name of the hook that carried the answer.
        pub channel: Option<String>,
        /// When it was answered: RFC 3339, in UTC.
        pub answered: Option<String>,
    }
}

/// Returns the digest of exactly what will run: `sha256:` and the SHA-256 of the call's `cwd`,
/// `tool_input` and `tool_name`, written as canonical JSON (RFC 8785), in hexadecimal.
///
/// It has RFC 8785's order of the keys, the escapes, and no blanks. A number keeps the digits
/// that it was written with. In Python, for arguments without fractions:
///
/// ```python
/// call = {key: event[key] for key in ("cwd", "tool_input", "tool_name")}
/// text = json.dumps(call, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
/// digest = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
/// ```
///
/// ```
/// use hookexec::{Input, wire::call_digest};
///
/// let mut input = Input::call("shell").arg("cmd", "git push").arg("background", false);
/// input.cwd = "/srv/app".into();
/// // {"cwd":"/srv/app","tool_input":{"background":false,"cmd":"git push"},"tool_name":"shell"}
/// let digest = "sha256:7976513627fc2f598cc5a3a4e6a4ddd52c38e86f0f5bcfa92a132c4383624bb8";
/// assert_eq!(call_digest(&input), digest);
/// ```
pub fn call_digest(input: &Input) -> String {
    let arguments = input.tool_input.clone().map_or(Value::Null, Value::Object);
    let call = json!({ "cwd": input.cwd, "tool_input": arguments, "tool_name": input.tool() });
    format!("sha256:{}", digest(canonical(&call).as_bytes()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn digest_of(arguments: &str) -> String {
        let mut input = Input::for_tool("shell", serde_json::from_str(arguments).unwrap());
        input.cwd = "/srv/app".into();
        call_digest(&input)
    }

    #[test]
    fn the_order_of_keys_and_blanks_change_nothing_and_all_else_does() {
        let digest = digest_of(r#"{"cmd":"ls","env":{"a":1,"b":[true,null]}}"#);
        assert_eq!(digest, digest_of(r#"{"env":{"b":[ true, null ],"a":1}, "cmd": "l\u0073"}"#));
        for other in [
            r#"{"cmd":"ls","env":{"a":1,"b":[null,true]}}"#,
            r#"{"cmd":"ls","env":{"a":1.0,"b":[true,null]}}"#,
            r#"{"cmd":"ls ","env":{"a":1,"b":[true,null]}}"#,
            r#"{"cmd":"ls","env":{"a":"1","b":[true,null]}}"#,
            r#"{"cmd":"ls","env":{"a":1,"b":[true,null]},"x":{}}"#,
        ] {
            assert_ne!(digest, digest_of(other), "{other}");
        }
        let mut input = Input::for_tool("shell", JsonObject::new());
        let mut digests = vec![call_digest(&input)];
        input.cwd = "/".into();
        digests.push(call_digest(&input));
        input.tool_name = Some("shell2".into());
        digests.push(call_digest(&input));
        digests.dedup();
        assert_eq!(digests.len(), 3);
    }

    #[test]
    #[cfg_attr(windows, ignore = "Python is not called `python3` there")]
    fn python_computes_the_same_digest() {
        let program = "import hashlib, json, sys
event = json.load(sys.stdin)
call = {key: event[key] for key in ('cwd', 'tool_input', 'tool_name')}
text = json.dumps(call, sort_keys=True, separators=(',', ':'), ensure_ascii=False)
print('sha256:' + hashlib.sha256(text.encode()).hexdigest())";
        let arguments = json!({
            "z": "a\"\\/\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}\u{2028}é😀", "é": [[], {}, -7, 1u64 << 60],
            "a": { "b": false, "B": null, "": "" },
        });
        let mut input = Input::for_tool("write", arguments.as_object().unwrap().clone());
        input.cwd = "/tmp/x y".into();
        let python = duct::cmd!("python3", "-c", program);
        let text = serde_json::to_string(&input).unwrap();
        assert_eq!(python.stdin_bytes(text).read().unwrap(), call_digest(&input));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<Option<bool>>().prop_map(|value| json!(value)),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                proptest::collection::btree_map(".{0,3}", inner, 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_canonical_text_is_the_same_value(value in value()) {
            let text = canonical(&value);
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
    }
}
