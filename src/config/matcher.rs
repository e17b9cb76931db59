//! `matcher:`: which tools, and what people write there that can't match any.

use super::diagnostic::Diagnostic;
use super::node::{Node, Value};
use super::reader::Reader;
use crate::matcher::{Matcher, is_invisible};

const CURLY_QUOTES: [char; 8] = ['“', '”', '„', '‟', '‘', '’', '‚', '‛'];

impl Reader {
    /// Reads a matcher; `None` when it is broken, which is reported.
    pub(super) fn matcher(&mut self, node: &Node) -> Option<Matcher> {
        if let Value::List(items) = &node.value {
            let names: Vec<&str> = items.iter().filter_map(Node::as_text).collect();
            let hint = format!("join the names with `|`: `matcher: \"{}\"`", names.join("|"));
            self.error_with_hint(node, "`matcher` must be text, not a list", hint);
            return None;
        }
        let pattern = self.text(node, "`matcher`")?;
        if let Some(problem) = permission_rule(&pattern) {
            let is_error = problem.severity == super::Severity::Error;
            self.report(node, problem);
            if is_error {
                return None;
            }
        } else if let Some((cause, hint)) = dead(&pattern) {
            let problem = Diagnostic::error("`matcher` can't match the name of any tool");
            self.report(node, problem.label(cause).hint(hint));
            return None;
        }
        match Matcher::new(&pattern) {
            Ok(matcher) => Some(matcher),
            Err(error) => {
                let stars = pattern.split('|').any(|part| part == "*") || pattern.starts_with('*');
                let hint = if looks_around(&pattern) {
                    "name the tools that are meant, or exclude some with \
                     `when: { not: { field: tool_name, regex: '^(read|list)$' } }`"
                } else if stars {
                    "a matcher is a regular expression: write `.*` for anything, or `*` alone"
                } else {
                    "a matcher is a regular expression over the whole name of the tool"
                };
                let problem = Diagnostic::error("`matcher` is not a valid regular expression");
                self.report(node, problem.label(error.cause).hint(hint));
                None
            }
        }
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
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if tool.is_empty() || !tool.chars().all(is_name) || rule.contains('|') {
        return None;
    }
    if !rule.contains([':', ' ', '*', '/']) {
        let problem =
            Diagnostic::warning(format!("`matcher: {pattern}` does not match the tool `{tool}`"));
        let hint = "to look at a tool's arguments use \
                    `when: { field: tool_input.command, regex: ... }`";
        return Some(problem.label("a group of a regular expression").hint(hint));
    }
    let start = rule.trim_end_matches('*').trim_end_matches(':');
    let field = if tool == "Bash" { "command" } else { "file_path" };
    let hint = format!(
        "write `matcher: {tool}`, and on the same entry `when: {{ field: tool_input.{field}, regex: '^{}' }}`",
        regex::escape(start)
    );
    let problem = Diagnostic::error("`matcher` is a permission rule of Claude Code");
    Some(problem.label("a matcher is about the name of the tool alone").hint(hint))
}

/// Returns why a matcher is written so that no tool's name can match it, and what to do: a guard
/// that never runs looks exactly like one that allows.
fn dead(pattern: &str) -> Option<(&'static str, &'static str)> {
    if pattern.contains('\u{a0}') {
        return Some(("a no-break space (U+00A0)", "remove it"));
    }
    if pattern.contains(char::is_whitespace) {
        return Some(("a space or a newline", "join names with `|` and nothing else, in quotes"));
    }
    if pattern.contains(CURLY_QUOTES) {
        return Some(("a curly quote", "write straight quotes (`\"`) around the matcher, or none"));
    }
    if pattern.contains(is_invisible) {
        return Some(("an invisible character", "type the matcher again by hand"));
    }
    if pattern.contains(',') && !pattern.contains('{') {
        return Some(("a comma", "join names with `|`"));
    }
    if pattern.len() > 1 && pattern.starts_with('/') && pattern.ends_with('/') {
        return Some(("slashes around it", "write the regular expression without them"));
    }
    None
}
