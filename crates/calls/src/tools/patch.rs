//! Patches: which files they name, and what a patch in the format of `apply_patch` does to each.

use hookexec::describe::Touched;
use hookexec_files::text::LINE_ENDS;

/// The edits of one file in a patch.
#[derive(Debug, PartialEq)]
pub struct Edit {
    /// The fate of the file: it is written anew, changed or deleted.
    pub touched: Touched,
    /// Its path, as the patch has it.
    pub path: String,
    /// The lines that were there, as far as the patch shows them.
    pub old: String,
    /// The lines that are there then.
    pub new: String,
}

/// The lines of an `apply_patch` patch that name a file.
const HEADS: [(&str, Touched); 4] = [
    ("*** Add File:", Touched::Write),
    ("*** Update File:", Touched::Edit),
    ("*** Delete File:", Touched::Delete),
    // The line before names the file that is moved; this is where it is written.
    ("*** Move to:", Touched::Write),
];

/// The lines of other patches that name a file: unified and context diffs, git, Subversion.
const OTHER_HEADS: [&str; 8] =
    ["+++ ", "--- ", "*** ", "rename from ", "rename to ", "copy from ", "copy to ", "Index: "];

/// Returns every file that a patch of any format names, whatever its reader takes for the end of a
/// line.
pub fn files(text: &str) -> Vec<String> {
    let mut files = Vec::new();
    for whole in text.lines() {
        add_file(whole.trim(), &mut files);
        for line in whole.split(LINE_ENDS) {
            if line.len() < whole.len() {
                add_file(line.trim(), &mut files);
            }
        }
    }
    files
}

/// Adds the file that a line names.
fn add_file(line: &str, files: &mut Vec<String>) {
    if let Some((_, file)) = head(line) {
        files.push(file.to_owned());
        return;
    }
    if let Some(both) = line.strip_prefix("diff --git ") {
        // Both names are equal here; a renamed file has heads of its own.
        if let Some((old, new)) = both.split_at_checked(both.len() / 2) {
            add_name(old, files);
            add_name(new, files);
        }
        return;
    }
    for head in OTHER_HEADS {
        if let Some(name) = line.strip_prefix(head) {
            return add_name(name, files);
        }
    }
}

/// Returns the fate and the name of the file that a line of an `apply_patch` patch names.
fn head(line: &str) -> Option<(Touched, &str)> {
    for (head, touched) in HEADS {
        if let Some(path) = line.trim().strip_prefix(head) {
            return Some((touched, path.trim()));
        }
    }
    None
}

/// Adds the file of a diff's head, with and without the `a/` or `b/` before it.
fn add_name(name: &str, files: &mut Vec<String>) {
    // A time stamp may follow behind a tab.
    let name = name.split('\t').next().unwrap_or_default().trim().trim_matches('"');
    if let Some(bare) = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")) {
        files.push(bare.to_owned());
    }
    files.push(name.to_owned());
}

/// Reads a patch in the format of `apply_patch`; no edits when the text is something else, and `None`
/// when two programs may read it differently. An indented head can be a line of the file, too, and so
/// can a head behind a character that only some programs take for the end of a line, as Python's
/// `splitlines` does.
pub fn edits(text: &str) -> Option<Vec<Edit>> {
    let mut edits: Vec<Edit> = Vec::new();
    for line in text.lines() {
        if line.split(LINE_ENDS).skip(1).any(|part| head(part).is_some()) {
            return None;
        }
        if let Some((touched, path)) = head(line) {
            if line.starts_with(char::is_whitespace) && !edits.is_empty() {
                return None;
            }
            let (path, old, new) = (path.to_owned(), String::new(), String::new());
            edits.push(Edit { touched, path, old, new });
            continue;
        }
        let Some(edit) = edits.last_mut() else { continue };
        let Some((sign, text)) = line.split_at_checked(1) else { continue };
        if matches!(sign, "-" | " ") {
            edit.old.extend([text, "\n"]);
        }
        if matches!(sign, "+" | " ") {
            edit.new.extend([text, "\n"]);
        }
    }
    Some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_of_any_format_names_its_file() {
        for (line, file) in [
            ("*** Update File: .env", ".env"),
            ("*** Move to:.env", ".env"),
            ("+++ b/.env", ".env"),
            ("--- .env\t2026-01-01 00:00:00", ".env"),
            ("+++ \"b/.env\"", ".env"),
            ("Index: .env", ".env"),
            ("*** .env\t2026-01-01", ".env"),
            ("diff --git a/.env b/.env", ".env"),
            ("rename to .env", ".env"),
            ("  +++ .env\r", ".env"),
            ("+x\u{c}*** Delete File: .env", ".env"),
        ] {
            let found = files(&format!("intro\n{line}\n@@"));
            assert!(found.iter().any(|found| found == file), "{line}: {found:?}");
        }
        assert!(files("cat .env\n+ .env\n-.env\n .env").is_empty());
    }

    #[test]
    fn a_head_that_only_some_programs_see_makes_the_patch_ambiguous() {
        for end in LINE_ENDS.into_iter().filter(|end| *end != '\n') {
            let text = format!("*** Update File: a\n+y{end}*** Delete File: b\n");
            assert_eq!(edits(&text), None, "{end:?}");
            let text = format!("*** Update File: a{end}*** Delete File: b\n");
            assert_eq!(edits(&text), None, "{end:?}");
            let text = format!("*** Update File: a\r\n+y{end}z\r\n");
            assert_eq!(edits(&text).map(|edits| edits.len()), Some(1), "{end:?}");
        }
    }
}
