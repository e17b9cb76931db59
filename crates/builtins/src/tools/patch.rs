//! Patches: which files they name, and what a patch in the format of `apply_patch` does to each.

use hookexec_files::text::LINE_ENDS;

/// The edits of one file in a patch.
#[derive(Debug, Default, PartialEq)]
pub struct Edit {
    /// The fate of the file.
    pub kind: Kind,
    /// Its path, as the patch has it.
    pub path: String,
    /// The lines that were there, as far as the patch shows them.
    pub old: String,
    /// The lines that are there then.
    pub new: String,
}

/// The fate of a file.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub enum Kind {
    /// It is written anew.
    Add,
    /// It is changed.
    #[default]
    Update,
    /// It is deleted.
    Delete,
}

/// The lines of an `apply_patch` patch that name a file.
const HEADS: [(&str, Kind); 4] = [
    ("*** Add File:", Kind::Add),
    ("*** Update File:", Kind::Update),
    ("*** Delete File:", Kind::Delete),
    // The line before names the file that is moved; this is where it is written.
    ("*** Move to:", Kind::Add),
];

/// The lines of other patches that name a file: unified and context diffs, git, Subversion.
const OTHER_HEADS: [&str; 8] =
    ["+++ ", "--- ", "*** ", "rename from ", "rename to ", "copy from ", "copy to ", "Index: "];

/// Returns every file that a patch of any format names, whatever its reader takes for the end of a
/// line.
pub fn files(text: &str) -> Vec<String> {
    let mut files = Vec::new();
    let readings = text.lines().flat_map(|line| {
        let parts = line.split(LINE_ENDS).filter(move |part| part.len() < line.len());
        std::iter::once(line).chain(parts)
    });
    for line in readings.map(str::trim) {
        let apply_patch = HEADS.iter().find_map(|(head, _)| line.strip_prefix(head));
        if let Some(file) = apply_patch {
            files.push(file.trim().to_owned());
        } else if let Some(both) = line.strip_prefix("diff --git ") {
            // Both names are equal here; a renamed file has heads of its own.
            if let Some((old, new)) = both.split_at_checked(both.len() / 2) {
                add_name(old, &mut files);
                add_name(new, &mut files);
            }
        } else if let Some(name) = OTHER_HEADS.iter().find_map(|head| line.strip_prefix(head)) {
            add_name(name, &mut files);
        }
    }
    files
}

/// Adds the file of a diff's head, with and without the `a/` or `b/` before it.
fn add_name(name: &str, files: &mut Vec<String>) {
    // A time stamp may follow behind a tab.
    let name = name.split('\t').next().unwrap_or_default().trim().trim_matches('"');
    let bare = ["a/", "b/"].iter().find_map(|side| name.strip_prefix(side));
    files.extend(bare.map(str::to_owned));
    files.push(name.to_owned());
}

/// Reads a patch in the format of `apply_patch`; no edits when the text is something else, and `None`
/// when two programs may read it differently. An indented head can be a line of the file, too, and so
/// can a head behind a character that only some programs take for the end of a line, as Python's
/// `splitlines` does.
pub fn edits(text: &str) -> Option<Vec<Edit>> {
    let is_head = |line: &str| HEADS.iter().any(|(head, _)| line.trim_start().starts_with(head));
    let mut edits: Vec<Edit> = Vec::new();
    for line in text.lines() {
        if line.split(LINE_ENDS).skip(1).any(is_head) {
            return None;
        }
        let head =
            HEADS.iter().find_map(|(head, kind)| Some((line.trim().strip_prefix(head)?, *kind)));
        if let Some((path, kind)) = head {
            if line.starts_with(char::is_whitespace) && !edits.is_empty() {
                return None;
            }
            edits.push(Edit { kind, path: path.trim().to_owned(), ..Edit::default() });
            continue;
        }
        let Some(edit) = edits.last_mut() else { continue };
        let mut add = |to_old: bool, to_new: bool, text: &str| {
            for (wanted, side) in [(to_old, &mut edit.old), (to_new, &mut edit.new)] {
                if wanted {
                    side.push_str(text);
                    side.push('\n');
                }
            }
        };
        match line.split_at_checked(1) {
            Some(("+", text)) => add(false, true, text),
            Some(("-", text)) => add(true, false, text),
            Some((" ", text)) => add(true, true, text),
            _ => {}
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
