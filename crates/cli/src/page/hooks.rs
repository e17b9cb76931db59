//! Each hook with its answers and its times.

use std::fmt::Write as _;

use crate::records::HookStatistics;
use hookexec::wire::Mode;

use super::super::decisions::Numbers;
use super::super::markup::escaped;

/// The columns of counts: what they are called, and why.
const COUNTS: [(&str, &str); 7] = [
    ("ran", "events"),
    ("deny", "denials"),
    ("ask", "questions"),
    ("allow", "permissions"),
    ("failed", "errors and failures"),
    ("went on", "failures after which the event went on"),
    ("would change", "verdicts that it would have made stricter, were it enforced"),
];

pub(super) fn section(page: &mut String, numbers: &Numbers) {
    page.push_str("<section>\n<h2>Hooks</h2>\n");
    if numbers.hooks.is_empty() {
        page.push_str("<p class=\"note\">No hook ran.</p>\n");
    } else {
        table(page, &numbers.hooks);
    }
    if !numbers.never_ran.is_empty() {
        page.push_str("<h3>Never ran</h3>\n<ul id=\"never\" class=\"never\">\n");
        for hook in &numbers.never_ran {
            let (name, source) = (escaped(&hook.name), escaped(&hook.source));
            let _ = writeln!(
                page,
                "<li><span class=\"said\">{name}</span> <small>{source}</small></li>"
            );
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</section>\n");
}

fn table(page: &mut String, hooks: &[HookStatistics]) {
    page.push_str("<table id=\"hooks\" class=\"cards\"><thead><tr><th scope=\"col\">hook</th>");
    for (label, why) in COUNTS {
        let _ = write!(page, "<th scope=\"col\" class=\"n\" title=\"{why}\">{label}</th>");
    }
    page.push_str(
        "<th scope=\"col\" class=\"n\" title=\"half of its runs took no longer\">p50 ms</th>\
         <th scope=\"col\" class=\"n\" title=\"99 of 100 runs took no longer\">p99 ms</th>\
         <td class=\"range\"></td>\
         </tr></thead><tbody>\n",
    );
    let least = hooks.iter().map(|hook| log(hook.p50_ms)).fold(f64::INFINITY, f64::min);
    let most = hooks.iter().map(|hook| log(hook.p99_ms)).fold(f64::NEG_INFINITY, f64::max);
    let scale = (most - least).max(0.01);
    let mut sums = [0; COUNTS.len()];
    for hook in hooks {
        let counts = counts(hook);
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        let mode = match hook.mode {
            Mode::Shadow => " <b class=\"mode\">shadow</b>",
            Mode::Warn => " <b class=\"mode\">warn</b>",
            Mode::Enforce => "",
        };
        let name = format!("<span class=\"said\">{}</span>{mode}", escaped(&hook.name));
        let source = escaped(&hook.source);
        let _ = write!(page, "<tr><th scope=\"row\">{name}<small>{source}</small></th>");
        cells(page, counts);
        for (label, time) in [("p50 ms", hook.p50_ms), ("p99 ms", hook.p99_ms)] {
            let time = milliseconds(time);
            let _ = write!(page, "<td class=\"n\" data-label=\"{label}\">{time}</td>");
        }
        let _ = writeln!(page, "{}</tr>", bar(hook, least, scale));
    }
    page.push_str("</tbody><tfoot><tr><th scope=\"row\">all</th>");
    cells(page, sums);
    let _ = writeln!(
        page,
        "<td></td><td></td><td class=\"range\"></td></tr></tfoot></table>\n\
         <p class=\"note\">Half of a hook's runs took at most p50, 99 of 100 at most p99.<span class=\"wide\"> The bars go from \
         the one to the other, on a logarithmic scale from {} to {} ms.</span></p>",
        milliseconds(10_f64.powf(least)),
        milliseconds(10_f64.powf(least + scale))
    );
}

fn cells(page: &mut String, counts: [usize; COUNTS.len()]) {
    for (count, (label, _)) in counts.into_iter().zip(COUNTS) {
        let class = match (count, label) {
            (0, _) => "n zero".to_owned(),
            (_, "deny" | "ask" | "allow") => format!("n {label}"),
            (_, "failed" | "went on") => "n open".to_owned(),
            _ => "n".to_owned(),
        };
        let _ = write!(page, "<td class=\"{class}\" data-label=\"{label}\">{count}</td>");
    }
}

fn counts(hook: &HookStatistics) -> [usize; COUNTS.len()] {
    let [deny, ask, allow] =
        ["deny", "ask", "allow"].map(|word| hook.decisions.get(word).copied().unwrap_or_default());
    [hook.ran, deny, ask, allow, hook.failed, hook.failed_open, hook.would_change]
}

/// Returns a time with two digits that say something.
pub(super) fn milliseconds(time: f64) -> String {
    match time {
        ..0.095 => format!("{time:.2}"),
        ..9.95 => format!("{time:.1}"),
        _ => format!("{time:.0}"),
    }
}

/// Returns the bar of a hook on a logarithmic scale that begins at `least` and has the width
/// `scale`.
fn bar(hook: &HookStatistics, least: f64, scale: f64) -> String {
    let [left, right] = [hook.p50_ms, hook.p99_ms].map(|time| (log(time) - least) / scale * 100.0);
    let width = (right - left).max(1.5);
    format!(
        "<td class=\"range\" aria-hidden=\"true\"><span class=\"bar\"><i style=\"left:{:.1}%;width:{width:.1}%\"></i></span></td>",
        left.min(100.0 - width)
    )
}

/// Returns the logarithm of a time; below a hundredth of a millisecond all are alike.
fn log(milliseconds: f64) -> f64 {
    milliseconds.max(0.01).log10()
}
