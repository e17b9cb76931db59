//! The hooks files of a project and their approvals, for people.

use std::fmt::Write as _;

use hookexec_calls::shell::quoted;
use hookexec_project::trust::{Review, Status};
use hookexec_workbench::records::shown;

use crate::plain;

/// Returns the path of a file from the current directory.
pub(super) fn path(row: &Review) -> String {
    plain::line(shown(&row.path.to_string_lossy()))
}

/// Returns the first line about a file.
pub(super) fn title(row: &Review) -> String {
    let status = match &row.file {
        None => "this approved file is gone".to_owned(),
        Some(file) => file.problem().unwrap_or_else(|| "approved".to_owned()),
    };
    format!("{}: {}\n", path(row), plain::line(&status))
}

/// Returns a line on what a user does about a file that is gone.
pub(super) fn way_back(row: &Review) -> String {
    let path = path(row);
    let remove = format!("run `hookexec trust remove {}` in a terminal", quoted(&path));
    format!("restore {path}, or {remove}\n")
}

/// Returns all about a file.
pub(super) fn whole(row: &Review) -> String {
    let mut text = title(row);
    for line in row.text.lines() {
        let line = format!("  | {}", plain::visible_line(line));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for (title, names) in [
        ("covered", &row.covered),
        ("changed", &row.changed),
        ("gone", &row.gone),
        ("missing (if one appears, the file waits)", &row.missing),
        ("not approved", &row.not_approved),
        ("not covered", &row.not_covered),
    ] {
        if !names.is_empty() {
            let _ = writeln!(text, "  {title}: {}", plain::line(&names.join(", ")));
        }
    }
    for problem in &row.problems {
        let _ = writeln!(text, "  problem: {}", plain::line(&problem.with_hint()));
    }
    text + row.diff.as_deref().unwrap_or_default()
}

/// Returns what a person does about the files, and what an approval does not cover.
pub(super) fn remedies(rows: &[Review]) -> String {
    let mut text = limits(rows);
    let mut is_open = false;
    for row in rows {
        match row.file {
            Some(_) => is_open |= row.status != Status::Approved,
            None => text.push_str(&way_back(row)),
        }
    }
    if is_open {
        if rows.iter().any(|row| row.status == Status::Changed) {
            text += "undo changes that are not wanted and restore what is gone\n";
        }
        text += "if all is as it should be, run `hookexec trust add` in a terminal; `hookexec check` shows \
                 whether it can be loaded\n";
    }
    text
}

/// Returns what an approval does not cover, in words.
pub(super) fn limits(rows: &[Review]) -> String {
    let mut text = String::new();
    if rows.iter().any(|row| !row.covered.is_empty() || !row.changed.is_empty()) {
        text +=
            "Files that these scripts read or load are covered only if `scripts:` lists them.\n";
    }
    if rows.iter().any(|row| !row.not_covered.is_empty()) {
        text += "What is not covered may change without a new approval.\n";
    }
    text
}
