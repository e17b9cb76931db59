//! The arguments of a tool in the words of Claude Code, and back.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::tool_kinds::is_one_of;
use ArgumentError::{Missing, Several};
use hookexec::describe::Touched;
use hookexec::wire::{InputChange, JsonObject};
use hookexec_calls::tools::patch::{self, Edit};
use hookexec_calls::tools::{Role, Roles, role_by_name};
use hookexec_files::directories::home_directory;
use hookexec_files::paths::lexical;

/// Claude Code's names for the texts of a change to a file.
const TEXTS: [&str; 3] = ["content", "old_string", "new_string"];

/// One call in the words of Claude Code.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// The tools it may be, if the call itself tells more than the tool's kinds.
    pub(super) tools: Option<&'static [&'static str]>,
    pub(super) arguments: JsonObject,
    /// The arguments as they came.
    original: JsonObject,
    /// Claude Code's name of an argument, and each name under which it came.
    names: Vec<(&'static str, String)>,
    /// Arguments that were built from others. A change in them can't be translated back.
    made: Vec<&'static str>,
    /// Whether it covers only a part of the call.
    partial: bool,
}

/// Why Claude Code's words don't fit the arguments of a call.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(super) enum ArgumentError {
    #[error("no `{0}` was found in its arguments")]
    Missing(&'static str),
    #[error("its arguments say `{0}` more than once, and not the same; say it once")]
    Several(&'static str),
    #[error("it changed the call in a way that can't be carried over")]
    NotByKey,
    #[error(
        "it changed `{0}`, which was put together from several arguments of the call, so the change \
         can't be carried over"
    )]
    Made(String),
}

/// Returns the calls of Claude Code that one call of `tool`, which is of `kinds`, stands for.
///
/// # Errors
/// When a guard would not find what the tool acts on, or would see only one of two values.
pub(super) fn translate(
    tool: &str,
    kinds: &[String],
    arguments: &JsonObject,
    directory: &str,
) -> Result<Vec<Call>, ArgumentError> {
    let roles = Roles::of(tool, kinds);
    let mut call = Call::new(&roles, arguments)?;
    if is_one_of(kinds, &["shell"]) {
        call.join_command()?;
    } else if is_one_of(kinds, &["write", "edit", "read"]) {
        let calls = call.split("file_path", &roles, directory)?;
        // A change may be in a list that the table does not have.
        let changes = is_one_of(kinds, &["write", "edit"]);
        if changes && calls.iter().any(|call| !call.has_text() && call.has_parts()) {
            return Err(Missing("new_string"));
        }
        return Ok(calls);
    } else if is_one_of(kinds, &["fetch"]) {
        call.find_address()?;
    } else if is_one_of(kinds, &["list", "glob", "grep"]) {
        // Beside a pattern it selects the files to search, as in Claude Code.
        if !call.has("pattern") {
            call.rename("glob", "pattern");
        }
        return call.split("path", &roles, directory);
    }
    Ok(vec![call])
}

impl Call {
    /// Renames each argument that has a role to Claude Code's name.
    fn new(roles: &Roles, arguments: &JsonObject) -> Result<Self, ArgumentError> {
        let mut call = Self { original: arguments.clone(), ..Self::default() };
        for (key, value) in arguments {
            let Some((_, name)) = roles.get(key) else {
                call.arguments.insert(key.clone(), value.clone());
                continue;
            };
            if value.is_null() {
                continue;
            }
            if call.arguments.get(name).is_some_and(|other| other != value) {
                return Err(Several(name));
            }
            call.arguments.insert(name.to_owned(), value.clone());
            call.names.push((name, key.clone()));
        }
        Ok(call)
    }

    fn has(&self, key: &str) -> bool {
        self.arguments.contains_key(key)
    }

    fn has_text(&self) -> bool {
        TEXTS.iter().any(|name| self.has(name))
    }

    fn has_patch(&self) -> bool {
        self.arguments.keys().any(|key| role_by_name(key) == Some(Role::Patch))
    }

    /// Returns whether one of the arguments has arguments of its own.
    fn has_parts(&self) -> bool {
        self.arguments.values().any(|value| match value {
            Value::Array(items) => !items.is_empty(),
            value => value.is_object(),
        })
    }

    fn text(&self, key: &'static str) -> Result<&str, ArgumentError> {
        self.value(key).as_str().ok_or(Missing(key))
    }

    /// Returns an argument, or null.
    fn value(&self, key: &str) -> &Value {
        self.arguments.get(key).unwrap_or(&Value::Null)
    }

    fn make(&mut self, key: &'static str, value: impl Into<Value>) {
        self.arguments.insert(key.to_owned(), value.into());
        self.made.push(key);
    }

    fn rename(&mut self, from: &str, to: &'static str) {
        if let Some(value) = self.arguments.remove(from) {
            self.make(to, value);
        }
    }

    /// Appends the arguments of a command to it.
    fn join_command(&mut self) -> Result<(), ArgumentError> {
        if let Some(joined) = joined(self.value("command")) {
            self.make("command", joined);
        }
        let command = self.text("command")?;
        let args = match self.arguments.get("args") {
            None => return Ok(()),
            Some(Value::Array(items)) if items.is_empty() => return Ok(()),
            Some(Value::String(text)) => text.clone(),
            Some(value) => joined(value).ok_or(Several("command"))?,
        };
        self.make("command", format!("{command} {args}"));
        Ok(())
    }

    /// Takes the address from the prompt if the call has no other. Beside an address, the prompt
    /// must not name another one.
    fn find_address(&mut self) -> Result<(), ArgumentError> {
        if let Some(joined) = joined(self.value("url")) {
            self.make("url", joined);
        }
        if !self.has("url") {
            self.rename("prompt", "url");
        }
        let known: Vec<&str> = self.text("url")?.split_whitespace().collect();
        let prompt = self.value("prompt");
        let prompt = prompt.as_str().map_or_else(|| prompt.to_string(), str::to_owned);
        let ends = ['(', ')', '<', '>', '"', '\'', '.', ',', '?'];
        for word in prompt.split_whitespace() {
            if word.contains("://") && !known.contains(&word.trim_matches(ends)) {
                return Err(Several("url"));
            }
        }
        Ok(())
    }

    /// Returns one call for each file or place, whose name is the argument `key`.
    fn split(
        mut self,
        key: &'static str,
        roles: &Roles,
        directory: &str,
    ) -> Result<Vec<Self>, ArgumentError> {
        let patch = if roles.has(Role::Patch) { self.arguments.remove("input") } else { None };
        let paths = match self.arguments.remove("paths") {
            None => Vec::new(),
            Some(Value::Array(paths)) => paths,
            Some(one) => vec![one],
        };
        let searches = key == "path";
        let named = [self.has(key), !paths.is_empty(), patch.is_some()];
        match named.map(usize::from).iter().sum::<usize>() {
            0 if searches => return Ok(vec![self]),
            0 => return Err(Missing(key)),
            1 => {}
            _ => return Err(Several(key)),
        }
        // A patch beside the arguments of another tool may be applied or not.
        // How many places one call may search. The other arguments are copied for each.
        if searches && paths.len() > 32 || self.has_patch() {
            return Err(Several(key));
        }
        if self.has(key) {
            self.join_edits(roles)?;
            self.make_absolute(key, directory)?;
            return Ok(vec![self]);
        }
        // A text beside several files can't be assigned to one of them.
        if let Some(text) = TEXTS.iter().find(|text| self.has(text)) {
            return Err(Several(text));
        }
        let mut parts = Vec::new();
        if let Some(patch) = patch {
            let patch = patch.as_str().ok_or(Missing(key))?;
            let edits = patch::edits(patch).ok_or(Several(key))?;
            parts.extend(edits.into_iter().map(Self::edit));
        }
        for item in paths {
            let mut part = if searches { self.arguments.clone() } else { JsonObject::new() };
            match item {
                Value::Object(object) if !searches => {
                    part = Self::new(roles, &object)?.arguments;
                }
                name => {
                    part.insert(key.to_owned(), name);
                }
            }
            parts.push(Self { arguments: part, ..Self::default() });
        }
        for part in &mut parts {
            part.partial = true;
            if part.has("paths") || part.has("input") && roles.has(Role::Patch) {
                return Err(Several(key));
            }
            part.join_edits(roles)?;
            part.make_absolute(key, directory)?;
        }
        if parts.is_empty() { Err(Missing(key)) } else { Ok(parts) }
    }

    /// Makes a path absolute, as Claude Code gives it.
    fn make_absolute(&mut self, key: &'static str, directory: &str) -> Result<(), ArgumentError> {
        let path = absolute(self.text(key)?, directory);
        self.arguments.insert(key.to_owned(), path.into());
        Ok(())
    }

    /// Joins several edits of one file, so that a guard finds every word of them.
    fn join_edits(&mut self, roles: &Roles) -> Result<(), ArgumentError> {
        let Some(list) = self.arguments.get("edits") else { return Ok(()) };
        let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for edit in list.as_array().ok_or(Missing("new_string"))? {
            let edit = Self::new(roles, edit.as_object().ok_or(Missing("new_string"))?)?;
            let path = edit.arguments.get("file_path");
            if path.is_some() && path != self.arguments.get("file_path") {
                return Err(Several("file_path"));
            }
            if !edit.has_text() {
                return Err(Missing("new_string"));
            }
            for key in TEXTS {
                if edit.has(key) {
                    texts.entry(key).or_default().push(edit.text(key)?.to_owned());
                }
            }
        }
        for (key, texts) in texts {
            let text = texts.join("\n");
            match self.arguments.get(key) {
                None => self.make(key, text),
                Some(known) if known.as_str() == Some(&text) => {}
                Some(_) => return Err(Several(key)),
            }
        }
        Ok(())
    }

    /// Returns what a patch does to one file.
    fn edit(edit: Edit) -> Self {
        let (tools, texts): (&'static [&'static str], Vec<(&str, String)>) = match edit.touched {
            Touched::Write => (&["Write"], vec![("content", edit.new)]),
            // Claude Code has no tool for it, so guards of writing and of editing run.
            Touched::Delete => (&["Write", "Edit"], vec![("content", String::new())]),
            _ => (&["Edit"], vec![("old_string", edit.old), ("new_string", edit.new)]),
        };
        let mut call = Self { tools: Some(tools), ..Self::default() };
        call.arguments.insert("file_path".to_owned(), edit.path.into());
        for (key, text) in texts {
            call.arguments.insert(key.to_owned(), text.into());
        }
        call
    }

    /// Returns the arguments that a changed copy of this call stands for.
    ///
    /// An argument that the hook left out stays: perhaps only the other agent has it.
    pub(super) fn take_back(&self, change: InputChange) -> Result<JsonObject, ArgumentError> {
        let (InputChange::Patch(changed) | InputChange::Replace(changed)) = change else {
            return Err(ArgumentError::NotByKey);
        };
        let mut result = self.original.clone();
        for (key, value) in changed {
            if self.arguments.get(&key) == Some(&value) {
                continue;
            }
            if self.partial || self.made.contains(&&*key) {
                return Err(ArgumentError::Made(key));
            }
            let mut has_name = false;
            for (name, original) in &self.names {
                if *name == key {
                    has_name = true;
                    result.insert(original.clone(), value.clone());
                }
            }
            if !has_name {
                result.insert(key, value);
            }
        }
        Ok(result)
    }
}

/// Returns a list of texts as one text.
fn joined(value: &Value) -> Option<String> {
    let mut words = Vec::new();
    for item in value.as_array()? {
        words.push(item.as_str()?);
    }
    if words.is_empty() { None } else { Some(words.join(" ")) }
}

/// Returns `path` as Claude Code gives it: absolute, without `.` and `..`, with `~` replaced.
fn absolute(path: &str, directory: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    let whole = if let Some(rest) = path.strip_prefix('~')
        && (rest.is_empty() || rest.starts_with('/'))
        && let Some(home) = home_directory()
    {
        home.join(rest.trim_start_matches('/'))
    } else if directory.starts_with('/') {
        Path::new(directory).join(path)
    } else if let Ok(current) = std::env::current_dir() {
        current.join(path)
    } else {
        return path.to_owned();
    };
    lexical(&whole).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
