//! Two texts compared line by line, for people.

use std::fmt::Write as _;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::console::report::{BAD, DIM, GOOD, counted};
use crate::plain::visible_line;

/// Adds the lines that differ and those around them, each behind `indent` and its sign: `-` for a
/// line of `before`, `+` for a line of `after`, a space for a line of both.
pub(crate) fn push_diff(text: &mut String, indent: &str, before: &str, after: &str) {
    // How long a comparison may take before it becomes a rough one.
    let diff = TextDiff::configure().timeout(Duration::from_millis(200)).diff_lines(before, after);
    let (mut shown, mut left) = (0, 0);
    // How many common lines are shown around a change.
    for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
        for line in hunk.iter_changes() {
            // How many lines of one comparison are shown.
            if shown == 60 {
                left += 1;
                continue;
            }
            shown += 1;
            let style = match line.tag() {
                ChangeTag::Delete => BAD,
                ChangeTag::Insert => GOOD,
                ChangeTag::Equal => DIM,
            };
            let (sign, line) = (line.tag(), visible_line(line.value().trim_end_matches('\n')));
            let _ = writeln!(text, "{indent}{style}{sign} {line}{style:#}");
        }
    }
    if left > 0 {
        let _ = writeln!(text, "{indent}  ... and {} more", counted(left, "line"));
    }
}
