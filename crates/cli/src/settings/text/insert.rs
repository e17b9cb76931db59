//! Putting a child into a container, laid out as the text around it is.

use super::Json;

/// How a text is laid out.
pub(super) struct Style<'t> {
    newline: &'static str,
    unit: &'t str,
}

impl<'t> Style<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indented = text.lines().find_map(|line| {
            let unit = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
            (!unit.is_empty() && unit.len() < line.len()).then_some(unit)
        });
        Self { newline, unit: indented.unwrap_or("  ") }
    }

    /// Inserts a child at the end of the container that spans `ends`.
    pub(super) fn insert(
        &self,
        text: &str,
        (start, end): (usize, usize),
        last: Option<usize>,
        key: Option<&str>,
        value: &Json,
    ) -> String {
        let inline = match last {
            Some(_) => !text[start..end].contains('\n'),
            None => {
                text.trim_start().starts_with('{')
                    && !text.trim().contains('\n')
                    && text.trim().len() > 2
            }
        };
        let indent = line_indent(text, start);
        let child = last.map_or_else(
            || format!("{indent}{}", self.unit),
            |last| self.sibling_indent(text, start, last, indent),
        );
        let body = self.rendered(key, value, &child, inline);
        let lead = if inline {
            if last.is_some() { " ".to_owned() } else { String::new() }
        } else {
            format!("{}{child}", self.newline)
        };
        let Some(last) = last else {
            // Right after the bracket; what was between the two stays behind it.
            let inside = &text[start + 1..end - 1];
            let tail = if inline || inside.contains('\n') {
                String::new()
            } else {
                format!("{}{indent}", self.newline)
            };
            return spliced(text, &[(start + 1, format!("{lead}{body}{tail}"))]);
        };
        if let Some(comma) = comma_after(text, last, end) {
            return spliced(text, &[(comma + 1, format!("{lead}{body},"))]);
        }
        // A comment on the last child's line stays with it.
        let place = if inline { last } else { end_of_comment(text, last) };
        spliced(text, &[(last, ",".to_owned()), (place, format!("{lead}{body}"))])
    }

    /// Returns the indentation of the children, from the first line that one of them begins.
    fn sibling_indent(&self, text: &str, start: usize, last: usize, indent: &str) -> String {
        let between = &text[start..last];
        let first = between.find('\n').map(|newline| start + newline + 1);
        let found = first.map(|line| line_indent(text, line));
        found.map_or_else(|| format!("{indent}{}", self.unit), str::to_owned)
    }

    fn rendered(&self, key: Option<&str>, value: &Json, indent: &str, inline: bool) -> String {
        let value = if inline { spaced(value) } else { self.pretty(value, indent) };
        key.map_or_else(|| value.clone(), |key| format!("{}: {value}", quoted(key)))
    }

    fn pretty(&self, value: &Json, indent: &str) -> String {
        let inner = format!("{indent}{}", self.unit);
        let nl = self.newline;
        let block = |open: char, lines: Vec<String>, close: char| {
            let lines = lines.join(&format!(",{nl}{inner}"));
            format!("{open}{nl}{inner}{lines}{nl}{indent}{close}")
        };
        match value {
            Json::List(items) => {
                block('[', items.iter().map(|item| self.pretty(item, &inner)).collect(), ']')
            }
            Json::Map(members) => {
                let line = |(key, value): &(&str, Json)| {
                    format!("{}: {}", quoted(key), self.pretty(value, &inner))
                };
                block('{', members.iter().map(line).collect(), '}')
            }
            plain => spaced(plain),
        }
    }
}

/// Writes a value on one line, with the blanks that people put there.
fn spaced(value: &Json) -> String {
    match value {
        Json::Text(text) => quoted(text),
        Json::Number(number) => number.to_string(),
        Json::Truth(truth) => truth.to_string(),
        Json::List(items) => {
            format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", "))
        }
        Json::Map(members) => {
            let member =
                |(key, value): &(&str, Json)| format!("{}: {}", quoted(key), spaced(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the blanks that the line of `offset` begins with.
pub(super) fn line_indent(text: &str, offset: usize) -> &str {
    let line = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let rest = &text[line..];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// Returns where the comma after `offset` stands, if the next thing that is no comment is one.
pub(super) fn comma_after(text: &str, offset: usize, end: usize) -> Option<usize> {
    let mut at = offset;
    while at < end {
        let rest = &text[at..end];
        if rest.starts_with(',') {
            return Some(at);
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |close| close + 2);
        } else if rest.starts_with(char::is_whitespace) {
            at += rest.chars().next().map_or(1, char::len_utf8);
        } else {
            return None;
        }
    }
    None
}

/// Returns the end of a `//` comment that follows `offset` on its line, else `offset`.
fn end_of_comment(text: &str, offset: usize) -> usize {
    let line = text[offset..].split(['\r', '\n']).next().unwrap_or_default();
    if line.trim_start().starts_with("//") { offset + line.len() } else { offset }
}

fn spliced(text: &str, insertions: &[(usize, String)]) -> String {
    let mut result = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for (at, addition) in insertions {
        result.push_str(&text[from..*at]);
        result.push_str(addition);
        from = *at;
    }
    result + &text[from..]
}
