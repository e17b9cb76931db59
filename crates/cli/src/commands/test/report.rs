//! Results of test cases, for people and for machines that run tests.

use std::fmt::Write as _;

use anstream::adapter::strip_str;
use hookexec_workbench::testing::{CaseReport, Coverage, Gap, GapKind, Results};

use crate::console::report::push_diff;
use crate::console::report::{BAD, DIM, DOUBTFUL, GOOD};

/// Returns the results as text: a line a case, what differs, and what no case reached.
pub(crate) fn text(results: &Results) -> String {
    let mut text = String::new();
    for file in &results.files {
        let _ = writeln!(text, "{} {DIM}for {}{DIM:#}", file.path.display(), file.config);
        for case in &file.cases {
            let (style, word) = if case.passed { (GOOD, "ok") } else { (BAD, "FAILED") };
            let (name, time) = (&case.name, case.duration_ms);
            let _ = writeln!(text, "  {style}{word:6}{style:#}  {name} {DIM}{time:.1} ms{DIM:#}");
            if case.passed {
                continue;
            }
            let _ = writeln!(text, "          {}", case.source);
            for line in failure(case).lines() {
                let _ = writeln!(text, "          {line}");
            }
        }
    }
    let (passed, failed) = (results.passed, results.failed);
    let style = if failed == 0 { GOOD } else { BAD };
    let _ = writeln!(text, "{style}{passed} passed, {failed} failed{style:#}");
    for coverage in &results.coverage {
        push_coverage(&mut text, coverage, results.min_coverage);
    }
    text
}

fn push_coverage(text: &mut String, coverage: &Coverage, wanted: Option<u8>) {
    let Coverage { config, covered, total, percent, gaps } = coverage;
    let whole = percent.floor();
    let _ = write!(text, "\ncoverage of {config}: {whole:.0} % ({covered} of {total})");
    if let Some(wanted) = wanted.filter(|wanted| *percent < f64::from(*wanted)) {
        let _ = write!(text, ", {BAD}less than the {wanted} % demanded{BAD:#}");
    }
    text.push('\n');
    for gap in gaps {
        let (path, line) = (gap.path.display(), gap.line);
        let missing = gap_text(gap);
        let _ = writeln!(text, "  {DOUBTFUL}{missing}{DOUBTFUL:#} {DIM}{path}:{line}{DIM:#}");
    }
}

fn gap_text(gap: &Gap) -> String {
    let condition = gap.condition.as_deref().unwrap_or_default();
    match (gap.kind, &gap.matcher) {
        (GapKind::HookNeverRan, Some(matcher)) => {
            format!("never ran: {} (matcher `{matcher}`)", gap.name)
        }
        (GapKind::HookNeverRan, None) => format!("never ran: {}", gap.name),
        (GapKind::RuleNeverFitted, _) => format!("never fitted: {}", gap.name),
        (GapKind::ConditionNeverHeld, _) => format!("never true: {condition} of {}", gap.name),
        (GapKind::ConditionAlwaysHeld, _) => format!("never false: {condition} of {}", gap.name),
    }
}

/// Returns what differs from what was expected, and what hooks say about it.
fn failure(case: &CaseReport) -> String {
    let mut text = String::new();
    for difference in &case.differences {
        let _ = writeln!(text, "{} (`-` expected, `+` found):", difference.what);
        push_diff(&mut text, "  ", &difference.expected, &difference.found);
    }
    for note in &case.notes {
        let _ = writeln!(text, "{note}");
    }
    text.trim_end().to_owned()
}

/// Returns the results as workflow commands: errors for failed cases, notices (errors when too
/// much is missing) for what was not reached.
pub(crate) fn github(results: &Results) -> String {
    let mut text = String::new();
    for file in &results.files {
        for case in file.cases.iter().filter(|case| !case.passed) {
            let (path, line) = (property(&file.path.to_string_lossy()), case.line);
            let how = message(&strip_str(&failure(case)).to_string());
            let title = property(&case.name);
            let _ = writeln!(text, "::error file={path},line={line},title={title}::{how}");
        }
    }
    let level = if results.enough_coverage { "notice" } else { "error" };
    for gap in results.coverage.iter().flat_map(|coverage| &coverage.gaps) {
        let (path, line) = (property(&gap.path.to_string_lossy()), gap.line);
        let what = message(&gap_text(gap));
        let _ = writeln!(text, "::{level} file={path},line={line},title=not tested::{what}");
    }
    let _ = writeln!(text, "{} passed, {} failed", results.passed, results.failed);
    for Coverage { config, percent, .. } in &results.coverage {
        let _ = writeln!(text, "coverage of {config}: {:.0} %", percent.floor());
    }
    text
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_break_a_format_is_escaped() {
        assert_eq!(message("50 %\nand: more"), "50 %25%0Aand: more");
        assert_eq!(property("a: b, c"), "a%3A b%2C c");
    }
}
