//! Whether two JSON values mean the same, however they were written.
//!
//! A child that echoes what it was sent has changed nothing, also when its language writes `1.0` as
//! `1`, or a number of 23 digits as a float.

use serde_json::{Number, Value};

use crate::wire::same_json;

/// Returns whether two values mean the same.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    same_json(left, right, same_number)
}

/// Returns `new` with everything that means the same as in `old` as it was written there.
pub(super) fn keep(old: &Value, new: Value) -> Value {
    match (old, new) {
        (old, new) if same(old, &new) => old.clone(),
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

fn same_number(left: &Number, right: &Number) -> bool {
    let (left, right) = (left.to_string(), right.to_string());
    if left == right {
        return true;
    }
    let whole = |text: &str| !text.contains(['.', 'e', 'E']);
    // Two whole numbers that differ are different, even where a float could not tell.
    if whole(&left) && whole(&right) {
        return false;
    }
    matches!((left.parse::<f64>(), right.parse::<f64>()), (Ok(left), Ok(right)) if left.is_finite() && left.total_cmp(&right).is_eq())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_are_compared_by_what_they_mean() {
        for (left, right, expected) in [
            ("1", "1.0", true),
            ("1e2", "100", true),
            ("12345678901234567890123", "1.2345678901234568e+22", true),
            ("9007199254740993", "9007199254740992", false),
            ("0.1", "0.10000000000000001", true),
            ("1", "2", false),
            ("1e999", "2e999", false),
            ("1", "\"1\"", false),
            (r#"{"a":[1],"b":null}"#, r#"{"b":null,"a":[1.0]}"#, true),
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#, false),
            ("[1,2]", "[2,1]", false),
        ] {
            assert_eq!(same(&value(left), &value(right)), expected, "{left} {right}");
            assert_eq!(same(&value(right), &value(left)), expected, "{right} {left}");
        }
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
