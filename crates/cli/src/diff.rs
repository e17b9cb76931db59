//! Two texts compared line by line, for people.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::plain;
use crate::report::counted;

/// How many lines of one comparison are shown.
const MAX_LINES: usize = 60;
/// How many common lines are shown around a change.
const CONTEXT: usize = 2;
/// How long a comparison may take before it becomes a rough one.
const DIFF_TIME: Duration = Duration::from_millis(200);

/// Returns the lines that differ and those around them, each with its sign: `-` for a line of
/// `before`, `+` for a line of `after`, a space for a line of both.
pub(crate) fn changed_lines(before: &str, after: &str) -> Vec<(char, String)> {
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(before, after);
    let mut lines = Vec::new();
    let mut left = 0;
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        for line in hunk.iter_changes() {
            if lines.len() == MAX_LINES {
                left += 1;
                continue;
            }
            let sign = match line.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            lines.push((sign, plain::visible_line(line.value().trim_end_matches('\n'))));
        }
    }
    if left > 0 {
        lines.push((' ', format!("... and {} more", counted(left, "line"))));
    }
    lines
}
