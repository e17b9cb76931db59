//! Keeps what a child left alone as it was written.
//!
//! A child that echoes what it was sent has changed nothing, also when its language writes `1.0` as
//! `1`, or a number of 23 digits as a float.

use serde_json::Value;

use crate::wire::same_json;

/// Returns `new` with everything that means the same as in `old` as it was written there.
pub(super) fn keep(old: &Value, new: Value) -> Value {
    match (old, new) {
        (old, new) if same_json(old, &new) => old.clone(),
        (Value::Object(old), Value::Object(new)) => new
            .into_iter()
            .map(|(key, value)| {
                let value = match old.get(&key) {
                    Some(old) => keep(old, value),
                    None => value,
                };
                (key, value)
            })
            .collect(),
        (Value::Array(old), Value::Array(new)) => new
            .into_iter()
            .enumerate()
            .map(|(index, value)| match old.get(index) {
                Some(old) => keep(old, value),
                None => value,
            })
            .collect(),
        (_, new) => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_was_left_alone_stays_as_it_was_written() {
        let old = value(r#"{"id":12345678901234567890123,"list":[1.50,{"x":1.0}],"cmd":"ls"}"#);
        let new = value(r#"{"id":1.2345678901234568e+22,"list":[1.5,{"x":1},7],"cmd":"ls -l"}"#);
        assert_eq!(
            keep(&old, new).to_string(),
            r#"{"cmd":"ls -l","id":12345678901234567890123,"list":[1.50,{"x":1.0},7]}"#
        );
    }
}
