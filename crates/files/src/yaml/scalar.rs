//! The meaning of a scalar without quotes.

use std::borrow::Cow;

use serde_json::Number;

use super::super::node::Value;

/// Returns the value of a scalar without quotes.
///
/// A number is what JSON takes for one, also with a `+` or without the 0 before the point, and what
/// begins with `0x` or `0o`. What readers of YAML disagree on (`0777`, `1_000`, `yes`) is text.
pub(super) fn plain(content: Cow<'_, str>) -> Value<'_> {
    if content.is_empty() || content == "~" || content.eq_ignore_ascii_case("null") {
        return Value::Null;
    }
    for flag in [true, false] {
        if content.eq_ignore_ascii_case(if flag { "true" } else { "false" }) {
            return Value::Bool(flag);
        }
    }
    match number(&content) {
        Some(number) => Value::Number(number),
        None => Value::Text(content),
    }
}

fn number(content: &str) -> Option<Number> {
    let unsigned = content.strip_prefix(['+', '-']).unwrap_or(content);
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = content.strip_prefix(prefix)
            && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        {
            return u64::from_str_radix(digits, radix).ok().map(Number::from);
        }
    }
    if !unsigned
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
    {
        return None;
    }
    let sign = if content.starts_with('-') { "-" } else { "" };
    let zero = if unsigned.starts_with('.') { "0" } else { "" };
    if unsigned.len() == content.len() && zero.is_empty() {
        return content.parse().ok();
    }
    format!("{sign}{zero}{unsigned}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plain_scalar_is() {
        for (text, json) in [
            ("", "null"),
            ("~", "null"),
            ("Null", "null"),
            ("TRUE", "true"),
            ("false", "false"),
            ("0", "0"),
            ("42", "42"),
            ("-3", "-3"),
            ("+3", "3"),
            ("1.5", "1.5"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("1e3", "1e3"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("0x1F", "31"),
            ("0o17", "15"),
        ] {
            let value = match plain(text.into()) {
                Value::Null => "null".to_owned(),
                Value::Bool(flag) => flag.to_string(),
                Value::Number(number) => number.to_string(),
                value => panic!("{text}: {value:?}"),
            };
            // A float may be written in another way.
            let [value, json] = [&*value, json].map(str::to_lowercase);
            assert!(value == json || value == json.replace('e', "e+"), "{text}: {value}");
        }
        for text in [
            "yes", "off", "0777", "007", "1_000", "0b1", "0X1F", "0x", "0x+1", "-0x1", "1.", "+",
            "-", ".", "..", "+-1", "--1", ".inf", "-.NaN", "inf", "5s", "1:30", "1e", "0o9", "ten",
        ] {
            assert!(matches!(plain(text.into()), Value::Text(_)), "{text}");
        }
    }
}
