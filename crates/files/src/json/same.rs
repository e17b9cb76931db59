//! Whether two JSON values are the same, however their numbers are written.

use serde_json::{Number, Value};

/// Returns whether two values differ at most in how equal numbers are written, and in the order of
/// keys. Types count: `3` is not `"3"`, but it is `3.0`.
pub fn same_json(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (Value::Array(left), Value::Array(right)) => {
            for (left, right) in left.iter().zip(right) {
                if !same_json(left, right) {
                    return false;
                }
            }
            left.len() == right.len()
        }
        (Value::Object(left), Value::Object(right)) => {
            for (key, left) in left {
                match right.get(key) {
                    Some(right) if same_json(left, right) => {}
                    _ => return false,
                }
            }
            left.len() == right.len()
        }
        _ => left == right,
    }
}

/// Returns whether a reader of both numbers sees the same number. Most readers use floats, to which
/// `10.0000000000000000000000001` is `10`. Integers are compared digit by digit, because they may be
/// identifiers.
fn same_number(left: &Number, right: &Number) -> bool {
    if left == right {
        return true;
    }
    let (Some(float), Some(other)) = (left.as_f64(), right.as_f64()) else { return false };
    #[expect(clippy::float_cmp, reason = "the question is whether they are equal")]
    let is_equal = float == other;
    // Larger integers are not all distinct as floats.
    let is_exact = float.abs() < 9_007_199_254_740_992.0;
    is_equal && (is_exact || !(is_integer(left) && is_integer(right)))
}

fn is_integer(number: &Number) -> bool {
    !number.to_string().contains(['.', 'e', 'E'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_what_they_mean() {
        for (left, right, expected) in [
            ("1", "1.0", true),
            ("0", "-0.0", true),
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
            let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(same_json(&value(left), &value(right)), expected, "{left} {right}");
            assert_eq!(same_json(&value(right), &value(left)), expected, "{right} {left}");
        }
    }
}
