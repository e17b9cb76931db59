//! Patches in the format of `apply_patch`.

use crate::wire::LINE_ENDS;

/// What a patch does to one file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Edit {
    pub(super) kind: Kind,
    pub(super) path: String,
    /// The lines that were there, as far as the patch shows them.
    pub(super) old: String,
    /// The lines that are there then.
    pub(super) new: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Add,
    #[default]
    Update,
    Delete,
}

/// Reads a patch in the format of `apply_patch`; no edits when the text is something else, and `None`
/// when one program may read it otherwise than another: an indented head is a line of the file, too, and
/// so is one behind what only some take for the end of a line, as Python's `splitlines` does.
pub(super) fn edits(text: &str) -> Option<Vec<Edit>> {
    const HEADS: [(&str, Kind); 4] = [
        ("*** Add File:", Kind::Add),
        ("*** Update File:", Kind::Update),
        ("*** Delete File:", Kind::Delete),
        // The file that is moved is named before; where it goes, it is written.
        ("*** Move to:", Kind::Add),
    ];
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
    fn a_head_behind_the_end_of_a_line_for_some_is_read_by_nobody() {
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
