//! Durations and sizes as people write them.

use std::time::Duration;

use super::diagnostic::Diagnostic;
use super::node::{Node, Value};
use super::reader::Reader;
use super::section::Kind;

/// A size in bytes, of at most `MAX`: what is larger is a slip of the pen.
pub struct Size<const MAX: usize = { 1 << 30 }>(pub usize);

/// The size of an answer that is kept in memory.
pub type AnswerSize = Size<{ 16 << 20 }>;

const DURATION_HINT: &str =
    "write seconds (`5`, `0.5`) or a number with a unit: `500ms`, `30s`, `2m`, `1h`";
const SIZE_HINT: &str = "write bytes (`65536`) or a number with a unit: `64KiB`, `1MiB`";

impl Kind<'_> for Duration {
    const SCHEMA: &'static str = r##"{ "$ref": "#/definitions/duration" }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let (seconds, is_number) = match &node.value {
            Value::Number(number) => (number.as_f64(), true),
            Value::Text(text) => (parse_seconds(text), false),
            _ => (None, false),
        };
        let shown = reader.file.text.get(node.span.clone()).unwrap_or_default();
        // What is longer than a day, with a unit than a year, is a slip of the pen.
        let most = if is_number { 86_400.0 } else { 365.0 * 86_400.0 };
        let Some(seconds) = seconds.filter(|seconds| (0.001..=most).contains(seconds)) else {
            let message = format!("{what} is not a valid duration: `{shown}`");
            return reader.refuse_with_hint(node, message, DURATION_HINT);
        };
        // A number of seconds beyond this was probably meant in milliseconds.
        if seconds > 3_600.0 && is_number {
            let minutes = (seconds / 60.0).floor();
            let message = format!("{what} is {shown} seconds, which is {minutes} minutes");
            let hint = format!("for milliseconds write `{shown}ms`; if it is meant, `{minutes}m`");
            reader.report(node, Diagnostic::warning(message).hint(hint));
        }
        Some(Self::from_secs_f64(seconds))
    }
}

impl<const MAX: usize> Kind<'_> for Size<MAX> {
    const SCHEMA: &'static str = r##"{ "$ref": "#/definitions/size" }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let bytes = match &node.value {
            Value::Number(number) => number.as_u64(),
            Value::Text(text) => parse_bytes(text),
            _ => None,
        };
        if let Some(Ok(bytes @ 1..)) = bytes.map(usize::try_from)
            && bytes <= MAX
        {
            return Some(Self(bytes));
        }
        let (most, shown) = (MAX >> 20, reader.written(node));
        let message = format!("{what} is not a size up to `{most}MiB`: `{shown}`");
        reader.refuse_with_hint(node, message, SIZE_HINT)
    }
}

fn parse_seconds(text: &str) -> Option<f64> {
    let (number, unit) = split_unit(text)?;
    let factor = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

fn parse_bytes(text: &str) -> Option<u64> {
    let (number, unit) = split_unit(text)?;
    let factor: u64 = match unit {
        "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Splits `1.5 MiB` into number and unit.
fn split_unit(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let at = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    Some((text[..at].trim_end(), &text[at..]))
}
