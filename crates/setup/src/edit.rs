//! Changes to the text of a hooks file, in place: the rest of it stays as it is written, with its
//! comments.
//!
//! Each change is made to the tree of the file as well. The new text counts only if it has that tree.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use hookexec::config::{Diagnostic, SourceFile};
use hookexec_files::node::{Node, Value};
use hookexec_files::text::{indentation, line_number, line_start};
use hookexec_files::yaml::parse;

/// Why the text can't be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It is not YAML.
    #[error("{0}")]
    Yaml(Diagnostic),
    /// A key can have only one value.
    #[error("`{0}` has another value in line {1}")]
    Differs(String, usize),
    /// It has a form that this does not write.
    #[error("the change can't be made in the form that the file has")]
    Form,
}

/// A piece of a text, and what takes its place: whole lines, or a part of one.
type Edit = (Range<usize>, String);

/// Returns `text` with all of `addition` in it: its hooks behind those of the same event, its other
/// keys behind those of the file. The comment at the head of `addition` comes with its first lines.
///
/// # Errors
/// A text is not YAML, a key has two values, or the file has a form that this does not write.
pub fn add(text: &str, addition: &str) -> Result<String, EditError> {
    let (file, added) = (source(text), source(addition));
    let (mut root, added_root) = (tree(&file)?, tree(&added)?);
    let head = addition.lines().take_while(|line| line.starts_with('#')).collect();
    let mut writer = Writer { text, addition, head, edits: Vec::new() };
    writer.add_entries(&mut root, &added_root, true)?;
    changed(text, writer.edits, &root)
}

/// Returns `text` without the hook that begins at `start`, and without what holds nothing then.
///
/// # Errors
/// The text is not YAML, has nothing else, or has a form that this does not write.
pub fn remove(text: &str, start: usize) -> Result<String, EditError> {
    let file = source(text);
    let mut root = tree(&file)?;
    let edit = match cut(text, &mut root, start)? {
        Some(edit) => edit,
        None => without_hooks(text, &mut root)?,
    };
    changed(text, vec![edit], &root)
}

fn source(text: &str) -> Arc<SourceFile> {
    Arc::new(SourceFile::new("", text))
}

fn tree(file: &Arc<SourceFile>) -> Result<Node<'_>, EditError> {
    parse(file, |_| false).map_err(EditError::Yaml)
}

/// Makes the changes, if the text has the tree `expected` then.
fn changed(text: &str, mut edits: Vec<Edit>, expected: &Node<'_>) -> Result<String, EditError> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    edits.sort_by_key(|(range, _)| range.start);
    let (mut new, mut done) = (String::new(), 0);
    for (range, edit) in edits {
        new += text.get(done..range.start).ok_or(EditError::Form)?;
        if edit.ends_with('\n') && !new.is_empty() && !new.ends_with('\n') {
            new += newline;
        }
        new += &edit.replace('\n', newline);
        done = range.end;
    }
    new += text.get(done..).ok_or(EditError::Form)?;
    match tree(&source(&new)) {
        Ok(tree) if tree == *expected => Ok(new),
        _ => Err(EditError::Form),
    }
}

struct Writer<'t> {
    text: &'t str,
    addition: &'t str,
    /// The comment at the head of `addition`, until it is written.
    head: Vec<&'t str>,
    edits: Vec<Edit>,
}

impl Writer<'_> {
    /// Adds the entries of a mapping: of the file, or of its `hooks`.
    fn add_entries<'n>(
        &mut self,
        target: &mut Node<'n>,
        added: &Node<'n>,
        is_root: bool,
    ) -> Result<(), EditError> {
        let span = target.span.clone();
        let (Value::Map(entries), Value::Map(new)) = (&mut target.value, &added.value) else {
            return Err(EditError::Form);
        };
        let column = entries.first().map_or(0, |(key, _)| column_of(self.text, key.span.start));
        let mut missing = Vec::new();
        for (key, value) in new {
            let name = key.as_text().unwrap_or_default();
            let known = entries.iter_mut().find(|(known, _)| *known == *key);
            let Some((known_key, known)) = known else {
                missing.push((key, value));
                continue;
            };
            if is_root && name != "hooks" {
                if *known != *value {
                    let line = line_number(self.text, known_key.span.start);
                    return Err(EditError::Differs(name.to_owned(), line));
                }
            } else if ["{}", "[]"].contains(&&self.text[known.span.clone()]) {
                self.edits.push((known_key.span.end..known.span.end, ":".to_owned()));
                let column = column_of(self.text, known_key.span.start) + 2;
                self.insert_lines(known.span.end, value.span.clone(), column);
                *known = value.clone();
            } else if is_root {
                self.add_entries(known, value, false)?;
            } else {
                self.add_items(known, value)?;
            }
        }
        for (key, value) in missing {
            self.insert_lines(span.end, key.span.start..value.span.end, column);
            entries.push((key.clone(), value.clone()));
        }
        Ok(())
    }

    /// Adds the items of a list: the hooks of an event.
    fn add_items<'n>(&mut self, target: &mut Node<'n>, added: &Node<'n>) -> Result<(), EditError> {
        let (Value::List(items), Value::List(new)) = (&mut target.value, &added.value) else {
            return Err(EditError::Form);
        };
        // The span of a list need not begin at its first dash.
        let first = items.first().ok_or(EditError::Form)?.span.start;
        let dash = self.text[..first].rfind('-').ok_or(EditError::Form)?;
        let column = column_of(self.text, dash);
        self.insert_lines(target.span.end, added.span.clone(), column);
        items.extend(new.iter().cloned());
        Ok(())
    }

    /// Writes lines of the addition behind the line in which `end` is.
    fn insert_lines(&mut self, end: usize, lines: Range<usize>, column: usize) {
        let old_column = column_of(self.addition, lines.start);
        let lines = &self.addition[lines.start - old_column..lines.end];
        let mut text = String::new();
        for line in std::mem::take(&mut self.head) {
            let _ = writeln!(text, "{:column$}{line}", "");
        }
        for line in lines.trim_end().lines() {
            let line = line.get(old_column..).unwrap_or_default();
            let column = if line.is_empty() { 0 } else { column };
            let _ = writeln!(text, "{:column$}{line}", "");
        }
        let mut at = line_end(self.text, end);
        // A hook that is commented out belongs to the entry before.
        while let Some(next) = self.text[at..].lines().next()
            && indentation(next) > column
            && next.trim_start().starts_with('#')
        {
            at = line_end(self.text, at + next.len());
        }
        self.edits.push((at..at, text));
    }
}

/// Takes the hook that begins at `start` out of `node`, and tells the edit; `None` if nothing of the
/// node is left.
fn cut(text: &str, node: &mut Node<'_>, start: usize) -> Result<Option<Edit>, EditError> {
    let is_flow = text[node.span.start..].starts_with(['{', '[']);
    let mut children = Vec::new();
    match &mut node.value {
        Value::Map(_) if node.span.start == start => return Ok(None),
        Value::Map(entries) => {
            for (key, value) in entries {
                let is_hooks = key.as_text() == Some("hooks");
                children.push((key.span.start..value.span.end, is_hooks, value));
            }
        }
        Value::List(items) => {
            for item in items {
                children.push((item.span.clone(), false, item));
            }
        }
        _ => {}
    }
    let index = children.iter().position(|(.., child)| child.span.contains(&start));
    let index = index.ok_or(EditError::Form)?;
    let (_, is_hooks, child) = &mut children[index];
    if let Some(edit) = cut(text, child, start)? {
        return Ok(Some(edit));
    }
    // An entry without hooks goes as a whole.
    if *is_hooks || children.len() == 1 {
        return Ok(None);
    }
    if is_flow {
        return Err(EditError::Form);
    }
    let place = children[index].0.clone();
    let range =
        start_with_comments(text, place.start)..line_end(text, content_end(text, place.end));
    match &mut node.value {
        Value::Map(entries) => drop(entries.remove(index)),
        Value::List(items) => drop(items.remove(index)),
        _ => {}
    }
    Ok(Some((range, String::new())))
}

/// Takes the value of `hooks` out of a file, which keeps the key.
fn without_hooks(text: &str, root: &mut Node<'_>) -> Result<Edit, EditError> {
    let Value::Map(entries) = &mut root.value else { return Err(EditError::Form) };
    let hooks = entries.iter_mut().find(|(key, _)| key.as_text() == Some("hooks"));
    let (key, value) = hooks.ok_or(EditError::Form)?;
    value.value = Value::Map(Vec::new());
    let mut end = content_end(text, value.span.end);
    if text[key.span.end..end].contains('\n') {
        // The comment behind the hook goes with it.
        end = text[..line_end(text, end)].trim_end().len();
    }
    Ok((key.span.end..end, ": {}".to_owned()))
}

/// Returns where the line of `at` begins, or the comment above it that is indented alike.
fn start_with_comments(text: &str, at: usize) -> usize {
    let mut start = line_start(text, at);
    let indent = indentation(&text[start..]);
    while let Some(before) = text[..start].strip_suffix('\n') {
        let above = line_start(before, before.len());
        let line = &text[above..];
        if indentation(line) != indent || !line[indent..].starts_with('#') {
            break;
        }
        start = above;
    }
    start
}

/// Returns where a value ends. The place of a text in lines reaches over the comments behind it.
fn content_end(text: &str, mut end: usize) -> usize {
    loop {
        let before = text[..end].trim_end();
        let start = line_start(before, before.len());
        if !before[start..].trim_start().starts_with('#') {
            return before.len();
        }
        end = start;
    }
}

/// Returns where the line ends that the value before `end` ends in.
fn line_end(text: &str, end: usize) -> usize {
    let end = text[..end].trim_end().len();
    text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1)
}

fn column_of(text: &str, at: usize) -> usize {
    at - line_start(text, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDITION: &str = "\
# Two hooks.
audit: { path: a }
hooks:
  stop:
    - name: new
      command: |
        a
          b

        c
  pre_tool_use:
    - { name: other, list: [1,
        2] }
";

    #[test]
    fn what_is_added_in_any_form_can_be_taken_out_again() {
        for text in [
            "hooks:\n  stop:\n    - name: a   # mine\n  # end\n",
            "hooks:\r\n    stop:\r\n    - name: a\r\n",
            "hooks:\n  stop:\n    - name: a",
            "hooks: {}  # none",
            "audit: { path: a }\nhooks:\n  pre_tool_use:\n  -\n    name: c",
            "stop:\n- name: é",
            "# Mine.\ndefaults: { timeout: 1 }",
        ] {
            let new = add(text, ADDITION).unwrap_or_else(|error| panic!("{text}: {error}"));
            for part in text.split('#').skip(1) {
                assert!(new.contains(part.lines().next().unwrap()), "{new}");
            }
            let ends = new.matches('\n').count();
            assert!([0, ends].contains(&new.matches("\r\n").count()), "{new:?}");
            let back = without(&without(&new, "new"), "other");
            let before = add(text, "audit: { path: a }\nhooks: {}").unwrap();
            let (back, before) = (source(&back), source(&before));
            assert_eq!(tree(&back).unwrap(), tree(&before).unwrap(), "{back:?}");
        }
    }

    fn without(text: &str, name: &str) -> String {
        let at = text.find(&format!("name: {name}"));
        let name = at.unwrap_or_else(|| panic!("{name} in {text}"));
        let start = text[..name].trim_end().strip_suffix('{').map_or(name, str::len);
        remove(text, start).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn lines_are_written_as_the_rest_of_the_file() {
        let text = "hooks:\n    stop:\n    - name: a # mine\n    - name: b\n\n# end";
        let new = add(
            text,
            "# New.\nhooks:\n  stop:\n    - x: |\n        1\n\n         2\n  wait: [1]\n",
        );
        let expected = "hooks:\n    stop:\n    - name: a # mine\n    - name: b\n    # New.\n    \
                        - x: |\n        1\n\n         2\n    wait: [1]\n\n# end";
        assert_eq!(new.unwrap(), expected);
        let text = "# All.\nhooks:\n  # S\n  stop:\n    # A\n\n    # B\n    - { name: b }\n    # C\n    - name: c\n  wait: []\n";
        let first = remove(text, text.find("{ name").unwrap()).unwrap();
        assert_eq!(first, text.replace("    # B\n    - { name: b }\n", ""));
        let second = remove(&first, first.find("name: c").unwrap()).unwrap();
        assert_eq!(second, "# All.\nhooks:\n  wait: []\n");
    }

    #[test]
    fn a_text_is_changed_as_it_is_meant_or_not_at_all() {
        for text in [
            "audit: { path: b }",
            "hooks: { stop: { name: a } }",
            "hooks: { wait: [{ name: a }] }",
            "hooks:\n  stop: [{ name: a }]",
            "{\"hooks\": {}}",
            "hooks:\n  stop:\n    - name: a\n      b: |+\n        x\n\n",
            "x: &a [1]\nhooks: { stop: *a }",
            "hooks:\n  stop: &a\n    - b\n  other: *a",
            "[]",
            "",
        ] {
            assert!(add(text, ADDITION).is_err(), "{text}");
        }
        let text = "hooks:\n  stop:\n    - a: 1\n      # b: 2\n    # - c: 3\n";
        let new = add(text, "hooks:\n  stop:\n    - d: 4\n").unwrap();
        assert_eq!(new, text.replace("    # - c", "    - d: 4\n    # - c"));
        let text = "hooks:\n  stop:\n    - name: a\n      b: |\n        x\n\n  # c\nd: 1\n";
        let new = remove(text, text.find("name").unwrap()).unwrap();
        assert_eq!(new, "hooks: {}\n\n  # c\nd: 1\n");
        for text in [
            "hooks: { stop: [{ name: a }, # A\n    { name: b } ] }",
            "stop:\n  - name: a",
            "x: *a\ny: &a",
            "- - name: a\n  - name: b\n- c",
        ] {
            assert!(remove(text, text.find("name").unwrap_or(3)).is_err(), "{text}");
        }
    }
}
