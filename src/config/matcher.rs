//! `matcher:`: which tools, and the patterns of people that can't match any.

use hookexec_files::diagnostic::Diagnostic;
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;

use crate::matcher::Matcher;
use crate::text::is_invisible;

const CURLY_QUOTES: [char; 8] = ['“', '”', '„', '‟', '‘', '’', '‚', '‛'];

impl Kind<'_> for Matcher {
    const SCHEMA: &'static str = r#"{ "type": "string" }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        if let Value::List(items) = &node.value {
            let names: Vec<&str> = items.iter().filter_map(Node::as_text).collect();
            let hint = format!("join the names with `|`: `matcher: \"{}\"`", names.join("|"));
            return reader.refuse_with_hint(node, format!("{what} must be text, not a list"), hint);
        }
        let owned: String;
        let pattern = match node.as_text() {
            Some(text) if !text.contains('\0') => text,
            _ => {
                owned = reader.value(node, what)?;
                &owned
            }
        };
        if let Some(problem) = permission_rule(pattern) {
            let is_error = problem.is_error();
            reader.report(node, problem);
            if is_error {
                return None;
            }
        } else if let Some((cause, hint)) = dead(pattern) {
            let message = format!("{what} can't match the name of any tool: {cause}");
            return reader.refuse_with_hint(node, message, hint);
        }
        match Self::new(pattern) {
            Ok(matcher) => Some(matcher),
            Err(error) => {
                let cause = error.cause;
                let message = format!("{what} is not a valid regular expression: {cause}");
                reader.refuse_with_hint(node, message, regex_hint(pattern))
            }
        }
    }
}

/// Returns what to do about a pattern that is not a valid regular expression.
fn regex_hint(pattern: &str) -> &'static str {
    if looks_around(pattern) {
        "name the tools that are meant, or exclude some with \
         `when: { not: { field: tool_name, regex: '^(read|list)$' } }`"
    } else if pattern.starts_with('*') || pattern.split('|').any(|part| part == "*") {
        "a matcher is a regular expression: write `.*` for anything, or `*` alone"
    } else {
        "a matcher is a regular expression over the whole name of the tool"
    }
}

/// Returns whether `pattern` uses look-ahead or look-behind, which most other engines have.
pub(super) fn looks_around(pattern: &str) -> bool {
    ["(?!", "(?=", "(?<!", "(?<="].iter().any(|part| pattern.contains(part))
}

/// Returns the problem of a pattern that looks like a rule of Claude Code's permissions, such as
/// `Bash(git push:*)`.
fn permission_rule(pattern: &str) -> Option<Diagnostic> {
    let (tool, rest) = pattern.split_once('(')?;
    let rule = rest.strip_suffix(')')?;
    let is_name = tool.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if tool.is_empty() || !is_name || rule.contains('|') {
        return None;
    }
    if !rule.contains([':', ' ', '*', '/']) {
        let problem =
            Diagnostic::warning(format!("`matcher: {pattern}` does not match the tool `{tool}`"));
        let hint = "to look at a tool's arguments use \
                    `when: { field: tool_input.command, regex: ... }`";
        return Some(problem.hint(hint));
    }
    let start = rule.trim_end_matches('*').trim_end_matches(':');
    let field = if tool == "Bash" { "command" } else { "file_path" };
    let hint = format!(
        "write `matcher: {tool}`, and on the same entry \
         `when: {{ field: tool_input.{field}, regex: '^{}' }}`",
        regex::escape(start)
    );
    let problem = "`matcher` is a permission rule of Claude Code, and not the name of a tool";
    Some(Diagnostic::error(problem).hint(hint))
}

/// Returns why a matcher is written so that no tool's name can match it, and what to do: a guard
/// that never runs looks exactly like one that allows.
fn dead(pattern: &str) -> Option<(&'static str, &'static str)> {
    // As nearly all are written: nothing below is in it.
    if pattern.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b',' | b'/')) {
        return None;
    }
    let in_slashes = pattern.len() > 1 && pattern.starts_with('/') && pattern.ends_with('/');
    if pattern.contains('\u{a0}') {
        Some(("a no-break space (U+00A0)", "remove it"))
    } else if pattern.contains(char::is_whitespace) {
        Some(("a space or a newline", "join names with `|` and nothing else, in quotes"))
    } else if pattern.contains(CURLY_QUOTES) {
        Some(("a curly quote", "write straight quotes (`\"`) around the matcher, or none"))
    } else if pattern.contains(is_invisible) {
        Some(("an invisible character", "type the matcher again by hand"))
    } else if pattern.contains(',') && !pattern.contains('{') {
        Some(("a comma", "join names with `|`"))
    } else if in_slashes {
        Some(("slashes around it", "write the regular expression without them"))
    } else {
        None
    }
}
