//! Decisions over time: a bar for each stretch of it, and the same as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hookexec::Decision;

use super::{DECISIONS, at, rank};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How long a bar may stand for.
const STEPS: [(i64, &[i64]); 4] =
    [(1, &[1, 5, 15]), (MINUTE, &[1, 5, 15, 30]), (HOUR, &[1, 2, 3, 6, 12]), (DAY, &[1, 7, 28])];
/// The most and the fewest bars that share the width.
const BARS: (i64, i64) = (84, 12);

/// How many events of each decision fall into one stretch.
type Bar = [u32; 4];

pub(super) fn section(page: &mut String, times: &[(i64, Option<Decision>)]) {
    let seconds = || times.iter().map(|(time, _)| *time);
    let (Some(first), Some(last)) = (seconds().min(), seconds().max()) else { return };
    let fits = |step: &i64| last.div_euclid(*step) - first.div_euclid(*step) < BARS.0;
    // A longer log gets longer bars.
    let mut steps = STEPS.iter().flat_map(|(unit, counts)| counts.iter().map(move |it| it * unit));
    let step = steps.find(fits).unwrap_or(((last - first) / BARS.0 / DAY + 1) * DAY);
    let start = first.div_euclid(step) * step;
    let count = ((last - start) / step + 1).max(BARS.1);
    let mut bars: BTreeMap<i64, Bar> = BTreeMap::new();
    for (time, decision) in times {
        bars.entry((time - start) / step).or_default()[rank(*decision)] += 1;
    }
    let highest = bars.values().map(|bar| bar.iter().sum()).max().unwrap_or(1);
    let top = round(highest);

    let dot = |(word, label)| format!("<span class=\"dot {word}\">{label}</span>");
    let legend = DECISIONS.map(dot).join(" ");
    let half = if top.is_multiple_of(2) { (top / 2).to_string() } else { String::new() };
    let (each, width) = (duration(step), count * 10);
    let _ = writeln!(
        page,
        "<section>\n<h2>Over time</h2>\n<p class=\"legend\">{legend}</p>\n<div class=\"chart\">\n\
         <div class=\"scale\"><span>{top}</span><span>{half}</span><span>0</span></div>\n\
         <svg role=\"img\" aria-label=\"events by decision, each bar {each}\" \
         viewBox=\"0 0 {width} 100\" preserveAspectRatio=\"none\">"
    );
    for (place, bar) in &bars {
        draw(page, *place, bar, top, &format!("{} UTC", at(start + place * step, "%-d %b %H:%M")));
    }
    page.push_str("</svg>\n<div class=\"days\">");
    for (index, place) in [0, count / 4, count / 2, count * 3 / 4, count - 1].iter().enumerate() {
        let format = if step < DAY { "%-d %b %H:%M" } else { "%-d %b %Y" };
        let class = if index % 2 == 1 { " class=\"wide\"" } else { "" };
        let _ = write!(page, "<span{class}>{}</span>", at(start + place * step, format));
    }
    let note = format!("Each bar is {each}; times are UTC.");
    let _ = writeln!(page, "</div>\n</div>\n<p class=\"note\">{note}</p>");
    table(page, times);
    page.push_str("</section>\n");
}

fn draw(page: &mut String, place: i64, bar: &Bar, top: u32, when: &str) {
    let told: Vec<String> = bar
        .iter()
        .zip(DECISIONS)
        .filter(|(count, _)| **count > 0)
        .map(|(count, (_, label))| format!("{count} {label}"))
        .collect();
    let _ = write!(page, "<g><title>{when}: {}</title>", told.join(", "));
    let mut y = 100.0;
    for (count, (word, _)) in bar.iter().zip(DECISIONS).filter(|(count, _)| **count > 0) {
        let height = f64::from(*count) * 100.0 / f64::from(top);
        y -= height;
        let (x, size) = (place * 10 + 1, format!("width=\"8\" height=\"{height:.2}\""));
        let _ = write!(page, "<rect class=\"{word}\" x=\"{x}\" y=\"{y:.2}\" {size}/>");
    }
    // A small bar can be pointed at, too.
    let x = place * 10;
    let _ =
        writeln!(page, "<rect class=\"reach\" x=\"{x}\" y=\"0\" width=\"10\" height=\"100\"/></g>");
}

/// Writes the same numbers as a table, a row for each day.
fn table(page: &mut String, times: &[(i64, Option<Decision>)]) {
    let mut days: BTreeMap<i64, Bar> = BTreeMap::new();
    for (time, decision) in times {
        days.entry(time.div_euclid(DAY)).or_default()[rank(*decision)] += 1;
    }
    page.push_str("<details class=\"more\"><summary>By day, as a table</summary>\n<table id=\"days\"><thead><tr><th scope=\"col\">day</th>");
    for (_, label) in DECISIONS {
        let _ = write!(page, "<th scope=\"col\" class=\"n\">{label}</th>");
    }
    page.push_str("</tr></thead><tbody>\n");
    for (day, bar) in &days {
        let _ = write!(page, "<tr><th scope=\"row\">{}</th>", at(day * DAY, "%a %-d %b %Y"));
        for (count, (_, label)) in bar.iter().zip(DECISIONS) {
            let _ = write!(page, "<td class=\"n\" data-label=\"{label}\">{count}</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></details>\n");
}

/// Returns the next number that reads well on a scale.
fn round(highest: u32) -> u32 {
    let units = (0..=9).map(|power| 10_u32.pow(power));
    let mut numbers = units.flat_map(|unit| [1, 2, 4, 6, 8].map(|it| unit.saturating_mul(it)));
    numbers.find(|number| *number >= highest).unwrap_or(highest)
}

fn duration(seconds: i64) -> String {
    let (count, unit) = match seconds {
        DAY.. => (seconds / DAY, "day"),
        HOUR.. => (seconds / HOUR, "hour"),
        MINUTE.. => (seconds / MINUTE, "minute"),
        _ => (seconds, "second"),
    };
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_above_the_highest_bar() {
        for (highest, top) in [(1, 1), (2, 2), (3, 4), (7, 8), (10, 10), (11, 20), (227, 400)] {
            assert_eq!(round(highest), top, "{highest}");
        }
        assert_eq!(
            [duration(1), duration(2 * HOUR), duration(DAY)],
            ["1 second", "2 hours", "1 day"]
        );
    }

    #[test]
    fn any_stretch_of_time_becomes_a_page() {
        for times in [vec![0], vec![0, 1], vec![5, 90 * DAY], vec![-7, 40_000 * DAY]] {
            let times: Vec<_> = times.into_iter().map(|time| (time, None)).collect();
            let mut page = String::new();
            section(&mut page, &times);
            let bars = page.matches("<g>").count();
            assert!(bars == times.len() || bars == 1, "{page}");
            assert!(page.contains("</section>"), "{page}");
        }
    }
}
