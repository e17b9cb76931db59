//! The tables of `docs/faults.md`, from what was seen.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hookexec::Decision;

use crate::expected::{Ends, Kind, Outcome};
use crate::fault::TYPES;
use crate::support::assert_generated;
use crate::{Row, Seen};

const PAGE: &str = "docs/faults.md";
const BEGIN: &str = "<!-- begin: fault matrix -->\n";
const END: &str = "<!-- end: fault matrix -->";

/// Compares the page with what was seen; `UPDATE=1` writes it.
pub(crate) fn check(rows: &[Row]) {
    let path = std::path::Path::new(crate::support::ROOT).join(PAGE);
    let text = std::fs::read_to_string(path).unwrap();
    let (head, rest) = text.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    assert_generated(PAGE, &format!("{head}{BEGIN}{}{END}{tail}", tables(rows)));
}

/// Returns the table of faults, and the table of what comes of each way to end.
fn tables(rows: &[Row]) -> String {
    let mut text = format!("| | {} |\n|---|{}\n", TYPES.join(" | "), "---|".repeat(TYPES.len()));
    let mut ways: BTreeMap<Ends, &Seen> = BTreeMap::new();
    let mut reasons: Vec<&str> = Vec::new();
    for fault in rows.chunks(TYPES.len()) {
        write!(text, "| {} |", fault[0].fault).unwrap();
        for row in fault {
            match &row.seen {
                Err(why) => {
                    let known = reasons.iter().position(|reason| reason == why);
                    let number = known.unwrap_or_else(|| {
                        reasons.push(why);
                        reasons.len() - 1
                    });
                    write!(text, " - ({}) |", number + 1).unwrap();
                }
                Ok((ends, seen)) => {
                    let first = ways.entry(*ends).or_insert(seen);
                    assert!(*first == seen, "{}, {}: one end, two outcomes", row.fault, row.kind);
                    write!(text, " {} |", way(*ends)).unwrap();
                }
            }
        }
        text += "\n";
    }
    text += "\n";
    for (number, reason) in (1..).zip(reasons) {
        writeln!(text, "{number}. {reason}").unwrap();
    }
    text += "\n| ends with | at | not set | `block` | `ask` | `warn` | `ignore` |\n";
    text += "|---|---|---|---|---|---|---|\n";
    // The other ends mean the same at every event, whatever `on_error` says.
    ways.retain(|ends, _| matches!(ends, Ends::Fails | Ends::Errs));
    for (ends, seen) in ways {
        for (kind, outcomes) in Kind::ALL.into_iter().zip(seen) {
            let words: Vec<&str> = outcomes.iter().map(|outcome| word(outcome.unwrap())).collect();
            writeln!(text, "| {} | `{}` | {} |", way(ends), kind.event(), words.join(" | "))
                .unwrap();
        }
    }
    text
}

const fn way(ends: Ends) -> &'static str {
    match ends {
        Ends::Silent => "no opinion",
        Ends::Allows => "an allow",
        Ends::Errs => "an error",
        Ends::Fails => "**no answer**",
        Ends::Refused => "a broken file",
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Refused => "refused",
        Outcome::Fine(None) => "no opinion",
        Outcome::Fine(Some(Decision::Allow)) => "allow",
        Outcome::Decided(Decision::Deny) | Outcome::Fine(Some(Decision::Deny)) => "**deny**",
        Outcome::Decided(_) | Outcome::Fine(Some(Decision::Ask)) => "**ask**",
        Outcome::Warned => "warned",
        Outcome::Noted => "noted",
    }
}
