//! Reads the fields of a struct that hold any JSON, each value as it is written.
//!
//! `serde_json::Value` reads an object differently if its first key is one of the library's private
//! names: `$serde_json::private::Number` as a number, `$serde_json::private::RawValue` as the JSON in
//! its text. A model, or a server of tools, can write such a key. Every type that crosses a boundary
//! reads its values with these functions, and every text is read by
//! [`parse_strict`](super::parse_strict).

use serde::Deserializer;
use serde::de::Error as _;
use serde_json::Value;

use super::JsonObject;
use super::field::{Field, Present as _, must_be};
use hookexec_files::json::deserialize_exact;

/// Reads an object.
pub(crate) fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<JsonObject, D::Error> {
    JsonObject::of(deserialize_exact(deserializer)?)
        .map_err(|other| D::Error::custom(must_be(JsonObject::EXPECTED, &other)))
}

/// Reads a field; `null` counts as absent.
pub(crate) fn field<'de, D: Deserializer<'de>, F: Field>(deserializer: D) -> Result<F, D::Error> {
    match deserialize_exact(deserializer)? {
        Value::Null => Ok(F::default()),
        value => F::read(value).map_err(D::Error::custom),
    }
}

/// Reads a field that holds a value for each key.
pub(crate) fn map<'de, D, M>(deserializer: D) -> Result<M, D::Error>
where
    D: Deserializer<'de>,
    M: FromIterator<(String, Value)>,
{
    object(deserializer).map(|object| object.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use crate::event::Event;
    use crate::wire::{Input, RequestChange, ToolResult, Verdict};

    use super::*;

    /// Reads `value` from its text and from a value of JSON, and returns what is read.
    fn again<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> T {
        let text = serde_json::to_string(value).unwrap();
        let read: T = serde_json::from_str(&text).unwrap();
        assert_eq!(read, serde_json::from_value(serde_json::to_value(value).unwrap()).unwrap());
        assert_eq!(read, T::deserialize(&serde_json::to_value(value).unwrap()).unwrap());
        read
    }

    #[test]
    fn a_value_with_a_private_name_of_the_parser_is_read_as_it_is_written() {
        for name in ["$serde_json::private::Number", "$serde_json::private::RawValue"] {
            for inner in [json!("1"), json!("{\"a\":1}"), json!("rm"), json!(1), json!({})] {
                let written = json!({ name: inner, "more": [{ name: inner }], "n": 1 });
                let object = written.as_object().unwrap();
                let list = vec![written.clone()];
                let map: BTreeMap<String, Value> = [("k".to_owned(), written.clone())].into();

                let mut input = Input::for_tool("shell", object.clone());
                input.tool_response = Some(written.clone());
                input.native = Some(written.clone());
                input.messages = Some(list.clone());
                input.extra.extend(object.clone());
                assert_eq!(again(&input), input);

                let result = ToolResult { extra: object.clone(), ..ToolResult::text("t") };
                assert_eq!(again(&result), result);

                let request = RequestChange {
                    tools: Some(list.clone()),
                    options: Some(object.clone()),
                    ..RequestChange::default()
                };
                assert_eq!(again(&request), request);

                let mut verdict = Verdict::no_opinion(Event::PreToolUse);
                verdict.updated_input = Some(object.clone());
                verdict.updated_messages = Some(list);
                verdict.updated_request = Some(request);
                verdict.updated_response = Some(written.clone());
                verdict.updated_tool_response = Some(written.clone());
                verdict.respond = Some(result);
                verdict.metadata = map.clone();
                verdict.claude_code = map;
                assert_eq!(again(&verdict), verdict);
            }
        }
    }
}
