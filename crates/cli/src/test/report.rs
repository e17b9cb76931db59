//! Results of test cases, for people and for machines that run tests.

use std::fmt::Write as _;

use crate::testing::{CaseReport, CoverageReport, Gap, GapKind, NoOpinion};

use super::{ConfigCoverage, Results};
use crate::markup::escaped;
use crate::report::{BAD, DIM, DOUBTFUL, GOOD};

/// Returns the results as text: a line a case, what differs, and what no case reached.
pub(crate) fn text(results: &Results) -> String {
    let mut text = String::new();
    for file in &results.files {
        let _ = writeln!(text, "{} {DIM}for {}{DIM:#}", file.path.display(), file.config);
        for case in &file.cases {
            let (style, word) = if case.passed { (GOOD, "ok") } else { (BAD, "FAILED") };
            let (name, time) = (&case.name, case.duration_ms);
            let _ = writeln!(text, "  {style}{word:6}{style:#}  {name} {DIM}{time:.1} ms{DIM:#}");
            if !case.passed {
                let _ = writeln!(text, "          {}", case.source);
                for line in differences(case).lines() {
                    let _ = writeln!(text, "          {line}");
                }
            }
        }
    }
    let (passed, failed) = (results.passed, results.failed);
    let style = if failed == 0 { GOOD } else { BAD };
    let _ = writeln!(text, "{style}{passed} passed, {failed} failed{style:#}");
    for coverage in &results.coverage {
        text.push_str(&coverage_text(coverage, results.min_coverage));
    }
    text
}

fn coverage_text(coverage: &ConfigCoverage, wanted: Option<u8>) -> String {
    let report = &coverage.report;
    let CoverageReport { covered, total, percent, .. } = report;
    let (config, whole) = (&coverage.config, rounded_down(*percent));
    let mut text = format!("\ncoverage of {config}: {whole} % ({covered} of {total})");
    if let Some(wanted) = wanted.filter(|wanted| report.percent < f64::from(*wanted)) {
        let _ = write!(text, ", {BAD}less than the {wanted} % demanded{BAD:#}");
    }
    text.push('\n');
    for gap in &report.gaps {
        let (path, line) = (gap.path.display(), gap.line);
        let _ = writeln!(text, "  {DOUBTFUL}{}{DOUBTFUL:#} {DIM}{path}:{line}{DIM:#}", said(gap));
    }
    text
}

/// Returns whole percents; 99.9 is not 100.
fn rounded_down(percent: f64) -> String {
    format!("{:.0}", percent.floor())
}

fn said(gap: &Gap) -> String {
    let condition = gap.condition.as_deref().unwrap_or_default();
    match gap.kind {
        GapKind::HookNeverRan => format!("never ran: {}", gap.name),
        GapKind::MatcherNeverMatched => format!("never matched: matcher `{}`", gap.name),
        GapKind::ConditionNeverHeld => format!("never true: {condition} of {}", gap.name),
        GapKind::ConditionAlwaysHeld => format!("never false: {condition} of {}", gap.name),
    }
}

/// Returns what differs, and the errors and silences of hooks, which often say why.
fn differences(case: &CaseReport) -> String {
    let mut lines: Vec<String> = case.differences.iter().map(ToString::to_string).collect();
    for NoOpinion { hook, source, why } in &case.no_opinions {
        lines.push(format!("hook {hook} ({source}): no opinion: {why}"));
    }
    for hook in &case.verdict.hooks {
        if let Some(error) = &hook.error {
            lines.push(format!("hook {} ({}): {error}", hook.name, hook.source));
        }
    }
    lines.join("\n")
}

/// Returns the results as `JUnit` XML.
pub(crate) fn junit(results: &Results) -> String {
    let (tests, failed) = (results.passed + results.failed, results.failed);
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{tests}\" failures=\"{failed}\">\n"
    );
    for file in &results.files {
        let name = escaped(&file.path.to_string_lossy());
        let failed = file.cases.iter().filter(|case| !case.passed).count();
        let seconds: f64 = file.cases.iter().map(|case| case.duration_ms / 1e3).sum();
        let counts = format!("tests=\"{}\" failures=\"{failed}\"", file.cases.len());
        let _ = writeln!(text, "  <testsuite name=\"{name}\" {counts} time=\"{seconds:.3}\">");
        for case in &file.cases {
            let (own, seconds) = (escaped(&case.name), case.duration_ms / 1e3);
            let named = format!("name=\"{own}\" classname=\"{name}\"");
            let _ = write!(text, "    <testcase {named} time=\"{seconds:.3}\"");
            if case.passed {
                text.push_str("/>\n");
            } else {
                let what: Vec<&str> =
                    case.differences.iter().map(|difference| difference.what).collect();
                let what = escaped(&what.join(", "));
                let (source, how) = (escaped(&case.source), escaped(&differences(case)));
                let _ =
                    writeln!(text, ">\n      <failure message=\"{what} not as expected\">{source}");
                let _ = writeln!(text, "{how}</failure>\n    </testcase>");
            }
        }
        text.push_str("  </testsuite>\n");
    }
    text + "</testsuites>\n"
}

/// Returns the results as workflow commands: errors for failed cases, warnings (errors when too
/// much is missing) for what was not reached.
pub(crate) fn github(results: &Results) -> String {
    let mut text = String::new();
    for file in &results.files {
        for case in file.cases.iter().filter(|case| !case.passed) {
            let line = case.source.rsplit_once(':').map_or("1", |(_, line)| line);
            let path = property(&file.path.to_string_lossy());
            let (title, how) = (property(&case.name), message(&differences(case)));
            let _ = writeln!(text, "::error file={path},line={line},title={title}::{how}");
        }
    }
    let level = if results.enough_coverage { "notice" } else { "error" };
    for coverage in &results.coverage {
        for gap in &coverage.report.gaps {
            let (path, line) = (property(&gap.path.to_string_lossy()), gap.line);
            let what = message(&said(gap));
            let _ = writeln!(text, "::{level} file={path},line={line},title=not tested::{what}");
        }
    }
    let _ = writeln!(text, "{} passed, {} failed", results.passed, results.failed);
    for coverage in &results.coverage {
        let (config, percent) = (&coverage.config, rounded_down(coverage.report.percent));
        let _ = writeln!(text, "coverage of {config}: {percent} %");
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
