//! `limit_large_tool_results`: keeps a large tool response out of the model's context.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::spill::Spill;
use super::{BuiltinError, Surroundings, Work, arguments};
use hookexec::{Event, Output};
use hookexec_calls::only_reads;
use hookexec_files::text;

pub(super) fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    let (options, others) = arguments::options(args, &["max-bytes", "max-lines", "keep"])?;
    let most_bytes = options.number("max-bytes", 1024)?.unwrap_or(50 * 1024);
    let most_lines = options.number("max-lines", 10)?.unwrap_or(2000);
    let keeps_head = options.word("keep", &[("head", true), ("tail", false)])?;
    if let [other, ..] = &*others {
        return Err(format!("it takes options only, found `{other}`").into());
    }
    let temp_dir = surroundings.temp_dir().to_owned();
    Ok(Arc::new(move |input| {
        let spill = Spill::of_session(&temp_dir, &input.session_id);
        if input.hook_event_name == Some(Event::SessionEnd) {
            spill.delete(&input.session_id)?;
            return Ok(None);
        }
        let Some(mut response) = input.tool_response.clone() else { return Ok(None) };
        let mut cutter = Cutter {
            most_bytes,
            most_lines,
            keeps_head: keeps_head.unwrap_or_else(|| only_reads(input)),
            spill: &spill,
            tool: input.tool(),
            cut: 0,
            problem: None,
        };
        cutter.value(&mut response);
        if cutter.cut == 0 {
            return Ok(None);
        }
        let output = Output::tool_response(response);
        Ok(Some(match cutter.problem {
            Some(problem) => output.with_system_message(format!(
                "a large response of `{}` was cut and could not be kept in a file: {problem}",
                input.tool()
            )),
            None => output,
        }))
    }))
}

/// Cuts the texts of one response.
struct Cutter<'a> {
    most_bytes: usize,
    most_lines: usize,
    keeps_head: bool,
    spill: &'a Spill,
    tool: &'a str,
    cut: usize,
    problem: Option<String>,
}

impl Cutter<'_> {
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(whole) => {
                if let Some(short) = self.text(whole) {
                    *whole = short;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            // A part of an image is not an image.
            Value::Object(object) if is_media(object) => {}
            Value::Object(object) => object.values_mut().for_each(|value| self.value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, whole: &str) -> Option<String> {
        let lines = whole.lines().count();
        if whole.len() <= self.most_bytes && lines <= self.most_lines {
            return None;
        }
        self.cut += 1;
        let mut notice = format!("the whole is {} bytes in {lines} lines", whole.len());
        match self.spill.keep(self.tool, whole) {
            Ok(path) => {
                let _ = write!(notice, " and lies in {}", path.display());
            }
            Err(error) => self.problem = Some(error.to_string()),
        }
        // Beside the notice of the cut some room is kept free.
        let bytes = self.most_bytes.saturating_sub(notice.len() + 32);
        let lines = self.most_lines - 3;
        Some(if self.keeps_head {
            format!("{}\n\n[cut here: {notice}]", first_lines(text::head(whole, bytes), lines))
        } else {
            format!(
                "[cut: {notice}; its end is]\n\n{}",
                last_lines(text::tail(whole, bytes), lines)
            )
        })
    }
}

fn is_media(object: &hookexec::wire::JsonObject) -> bool {
    let kind = object.get("type").and_then(Value::as_str);
    matches!(kind, Some("image" | "audio" | "video" | "document"))
        || object.contains_key("blob")
        || object.contains_key("data")
            && (object.contains_key("mimeType") || object.contains_key("media_type"))
}

fn first_lines(text: &str, count: usize) -> &str {
    match text.match_indices('\n').nth(count - 1) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

fn last_lines(text: &str, count: usize) -> &str {
    let body = text.strip_suffix('\n').unwrap_or(text);
    match body.rmatch_indices('\n').nth(count - 1) {
        Some((end, _)) => &text[end + 1..],
        None => text,
    }
}
