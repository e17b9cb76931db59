//! The files in the arguments of a tool that runs no command in a shell.

use std::collections::BTreeSet;

use serde_json::Value;

use super::implied::names_a_command;
use super::judge::Checked;
use super::mentions::Mention;
use super::texts::add_words;
use super::tools::CalledTool;
use super::uses::Touch;
use crate::names::DESCENDING_TOOLS;
use hookexec::Input;
use hookexec::wire::{JsonObject, StrictJsonError, parse_json, repair_lone_surrogates};
use hookexec_calls::place::{Place, Scene};
use hookexec_calls::tools::{Role, Roles, Special, patch, role_by_name, special};
use hookexec_calls::{LONGEST, Word, only_reads, only_reads_by_name, only_writes};
use hookexec_files::glob::has_part;
use hookexec_files::platform::Platform;

/// Returns the files that the arguments of a tool name.
pub(super) fn of_tool(
    input: &Input,
    tool: &CalledTool,
    scene: &Scene<'_>,
) -> Checked<Vec<Mention>> {
    let roles = Roles::of(input.tool(), &hookexec_calls::kinds(input));
    let mut found = Collector {
        has_command: has_command(input, &roles),
        roles,
        touch: touch(input, tool),
        descends: has_part(&input.tool().to_lowercase(), DESCENDING_TOOLS),
        tool,
        place: scene.beginning(),
        length: 0,
        mentions: Vec::new(),
    };
    if let Some(arguments) = &input.tool_input {
        found.object(arguments)?;
    }
    let is_search = tool.is("grep") || tool.is("glob");
    if is_search && found.mentions.is_empty() {
        found.add(".", Touch::READ, false)?;
    }
    Ok(found.mentions)
}

/// Returns whether an argument of a call is a command.
fn has_command(input: &Input, roles: &Roles) -> bool {
    let Some(arguments) = &input.tool_input else { return false };
    let mut keys = arguments.keys();
    keys.any(|key| matches!(role_of(roles, key), Some(Role::Command | Role::Words)))
}

/// Returns the role of an argument; its name tells that of one that is not in the table.
fn role_of(roles: &Roles, key: &str) -> Option<Role> {
    let known = roles.get(key).map(|(role, _)| role);
    known.or(role_by_name(key))
}

/// Returns what a tool does with the files that it names.
fn touch(input: &Input, tool: &CalledTool) -> Touch {
    if special(input.tool()) == Special::Deletes {
        return Touch::DELETE;
    }
    if only_reads(input) {
        return Touch::READ;
    }
    if only_writes(input) {
        return Touch::WRITE;
    }
    if !tool.is_of_files() && only_reads_by_name(input) {
        return Touch::READ;
    }
    if tool.is_of_files() { Touch::READ.with(Touch::EDIT).with(Touch::WRITE) } else { Touch::ANY }
}

struct Collector<'c> {
    roles: Roles,
    touch: Touch,
    /// Whether what lies below a directory is touched with it.
    descends: bool,
    /// Whether a command is among the arguments.
    has_command: bool,
    tool: &'c CalledTool,
    place: Place<'c>,
    length: usize,
    mentions: Vec<Mention>,
}

impl Collector<'_> {
    fn object(&mut self, object: &JsonObject) -> Checked<()> {
        for (key, value) in object {
            // Files may be the names of their contents.
            if !self.tool.is_of_files() && key.contains(['/', '.', '~']) {
                self.add(key, self.touch, false)?;
            }
            self.value(key, value)?;
        }
        Ok(())
    }

    fn value(&mut self, key: &str, value: &Value) -> Checked<()> {
        match value {
            Value::String(text) => self.text(key, text),
            Value::Array(items) => items.iter().try_for_each(|item| self.value(key, item)),
            Value::Object(object) => self.object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn text(&mut self, key: &str, text: &str) -> Checked<()> {
        use Role::{
            Command, Content, Edits, Glob, New, Old, Patch, Path, Paths, Pattern, Prose, Query,
            Url, Words,
        };
        let role = role_of(&self.roles, key);
        match role {
            Some(Patch) if self.patch(text)? => return Ok(()),
            Some(Glob) if self.tool.is("grep") || self.tool.is("glob") => {
                return self.wildcard(text);
            }
            Some(Pattern) if self.tool.is("glob") && !self.tool.is("grep") => {
                return self.wildcard(text);
            }
            Some(Content | Old | New | Pattern | Glob | Query) => return Ok(()),
            Some(Path | Paths | Edits | Url | Patch) => {}
            None if is_path(text) && !text.contains(char::is_whitespace) => {}
            _ if self.tool.is_of_files() => return Ok(()),
            _ => {}
        }
        self.length += text.len();
        if self.length > LONGEST {
            return Err(format!("`{key}` is too long to be checked ({} KiB)", LONGEST >> 10).into());
        }
        match role {
            None => self.unknown(key, text),
            // Prose does not run, and the files of commands are those of a shell.
            Some(Prose) => Ok(()),
            Some(Command | Words) if self.tool.is("mcp") && names_a_command(key) => Ok(()),
            Some(Command | Words) => self.add(text, self.touch, true),
            Some(role) => {
                for line in text.lines() {
                    self.add(line.trim(), self.touch, false)?;
                }
                // A part of a patch may be a command.
                if matches!(role, Patch | Edits) {
                    self.add(text, self.touch, true)
                } else {
                    Ok(())
                }
            }
        }
    }

    /// Adds the files in an argument outside of the table, which may also be a command.
    fn unknown(&mut self, key: &str, text: &str) -> Checked<()> {
        match json(text) {
            Ok(Some(value)) => return self.value(key, &value),
            Ok(None) => {}
            Err(error) => {
                return Err(format!("`{key}` is JSON that can't be checked: {error}").into());
            }
        }
        let line = text.trim();
        if line.contains('\n') {
            self.patch(text)?;
            return Ok(());
        }
        let is_sentence = !self.has_command && line.contains(char::is_whitespace);
        if !is_sentence {
            self.add(line, self.touch, false)?;
            return self.add(text, self.touch, true);
        }
        // In a sentence only a word with a `/`, or with a `.` before it, is a file.
        let mut words = BTreeSet::from([line.to_owned()]);
        add_words(text, &mut words);
        words.retain(|word| is_path(word));
        for word in &words {
            self.add(word, self.touch, false)?;
        }
        Ok(())
    }

    /// Adds what a search names by a wildcard: a name, or a path from elsewhere. What it finds below its
    /// directory are files of that directory.
    fn wildcard(&mut self, text: &str) -> Checked<()> {
        // An allow looks at where it leads, and nothing else at what is only listed.
        self.add(text, Touch::NONE, false)?;
        if (text.trim() != text || text.split('/').any(is_odd))
            && let Some(mention) = self.mentions.last_mut()
        {
            mention.open = Some(String::new());
        }
        let name = text.trim_start_matches("**/");
        if self.tool.is("grep") && !name.contains("**") {
            self.add(name, self.touch, false)
        } else {
            Ok(())
        }
    }

    /// Adds the files of a patch, and returns whether it names some.
    fn patch(&mut self, text: &str) -> Checked<bool> {
        let edits = patch::edits(text).unwrap_or_default();
        for edit in &edits {
            self.add(&edit.path, Touch::of_patch(edit.touched), false)?;
        }
        let files = patch::files(text);
        for file in &files {
            if !edits.iter().any(|edit| edit.path == *file) {
                self.add(file, Touch::ANY, false)?;
            }
        }
        Ok(!files.is_empty())
    }

    /// Adds what a text may mean.
    fn add(&mut self, text: &str, touch: Touch, is_code: bool) -> Checked<()> {
        let mut words = BTreeSet::new();
        if text.is_empty() {
            return Ok(());
        }
        if is_code {
            add_words(text, &mut words);
        } else {
            words.insert(text.to_owned());
        }
        if is_code && Platform::HERE.has_drives {
            add_words(&text.replace('\\', "/"), &mut words);
        }
        let word = Word::unknown(text);
        let mention = Mention::of(&word, &words, &self.place)?;
        self.mentions.push(Mention { touch, descends: self.descends, ..mention });
        Ok(())
    }
}

/// Returns whether a part of a wildcard may stand for `..`.
fn is_odd(part: &str) -> bool {
    part.contains(['?', '[', '\\']) && part.chars().all(|letter| ".?[]*\\!^".contains(letter))
}

/// Returns whether a text is written like a path.
fn is_path(text: &str) -> bool {
    text.contains('/') || text.starts_with('.')
}

/// Returns the object or array that a text is the JSON of.
///
/// # Errors
/// When it is JSON, but which paths the tool would find in it is not sure: a key appears twice, or it
/// is too large.
fn json(text: &str) -> Result<Option<Value>, StrictJsonError> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Ok(None);
    }
    let mut bytes = text.as_bytes().to_vec();
    repair_lone_surrogates(&mut bytes);
    match parse_json(&String::from_utf8_lossy(&bytes)) {
        Ok(value) => Ok(Some(value)),
        Err(StrictJsonError::Syntax(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
