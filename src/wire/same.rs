//! Whether two JSON values are the same, by whatever makes two numbers the same.

use serde_json::{Number, Value};

/// Returns whether two values differ at most in how `numbers` that are the same are written, and in
/// the order of keys.
pub(crate) fn same_json(
    left: &Value,
    right: &Value,
    numbers: fn(&Number, &Number) -> bool,
) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => numbers(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same_json(left, right, numbers))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| {
                    right.get(key).is_some_and(|right| same_json(left, right, numbers))
                })
        }
        _ => left == right,
    }
}
