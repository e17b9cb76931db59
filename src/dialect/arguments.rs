//! The arguments of a tool in the words of Claude Code, and back.

use std::fmt;
use std::path::Path;

use serde_json::Value;

use crate::directories::home_directory;
use crate::paths::lexical;
use crate::tools::patch::{self, Edit, Kind};
use crate::tools::{Role, Roles, role_by_name};
use crate::wire::{InputChange, JsonObject};

/// Claude Code's names of the texts of a change to a file.
const TEXTS: [&str; 3] = ["content", "old_string", "new_string"];
/// In how many places one call may search: for each the other arguments are copied.
const MAX_PATHS: usize = 32;

/// Why a call can't be said: a guard would not see what the tool acts on.
#[derive(Debug, PartialEq)]
pub(super) enum Trouble {
    /// The argument is nowhere.
    Missing(&'static str),
    /// Several arguments have the same meaning and different values.
    Several(&'static str),
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => write!(formatter, "no `{name}` was found in its arguments"),
            Self::Several(name) => write!(
                formatter,
                "its arguments say `{name}` more than once, and not the same; say it once"
            ),
        }
    }
}

/// One call in the words of Claude Code.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    /// The tools it may be, where the call itself says it better than the tool's kinds.
    pub(super) tools: Option<&'static [&'static str]>,
    pub(super) arguments: JsonObject,
    back: Back,
}

/// How changed arguments get back into the words they came in.
#[derive(Debug, Default, PartialEq)]
struct Back {
    /// The arguments as they came.
    original: JsonObject,
    /// Claude Code's name of an argument, and each name that it came under.
    names: Vec<(&'static str, String)>,
    /// Arguments that were put together from others: a change in them can't be carried over.
    made: Vec<&'static str>,
    /// Whether it is only a part of the call.
    partial: bool,
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
) -> Result<Vec<Call>, Trouble> {
    let roles = Roles::of(tool, kinds);
    let call = Call::new(&roles, arguments)?;
    let is = |kind: &str| kinds.iter().any(|known| known == kind);
    if is("shell") {
        return call.command().map(|call| vec![call]);
    }
    if is("write") || is("edit") || is("read") {
        let calls = call.files(&roles, directory)?;
        // A change may stand in a list that is not in the table.
        let changes = is("write") || is("edit");
        if changes && calls.iter().any(|call| !call.has_text() && call.has_parts()) {
            return Err(Trouble::Missing("new_string"));
        }
        return Ok(calls);
    }
    if is("fetch") {
        return call.address().map(|call| vec![call]);
    }
    if is("list") || is("glob") || is("grep") { call.places(directory) } else { Ok(vec![call]) }
}

impl Call {
    /// Gives each argument that has a role Claude Code's name of it.
    fn new(roles: &Roles, arguments: &JsonObject) -> Result<Self, Trouble> {
        let mut call = Self {
            tools: None,
            arguments: JsonObject::new(),
            back: Back { original: arguments.clone(), ..Back::default() },
        };
        for (key, value) in arguments {
            let Some((_, name)) = roles.get(key) else {
                call.arguments.insert(key.clone(), value.clone());
                continue;
            };
            if value.is_null() {
                continue;
            }
            if call.arguments.get(name).is_some_and(|other| other != value) {
                return Err(Trouble::Several(name));
            }
            call.arguments.insert(name.to_owned(), value.clone());
            call.back.names.push((name, key.clone()));
        }
        Ok(call)
    }

    fn has(&self, key: &str) -> bool {
        self.arguments.contains_key(key)
    }

    fn text(&self, key: &'static str) -> Result<&str, Trouble> {
        self.arguments.get(key).and_then(Value::as_str).ok_or(Trouble::Missing(key))
    }

    fn make(&mut self, key: &'static str, text: String) {
        self.arguments.insert(key.to_owned(), text.into());
        self.back.made.push(key);
    }

    /// Makes one text of a list of texts.
    fn join(&mut self, key: &'static str) {
        if let Some(joined) = self.arguments.get(key).and_then(joined) {
            self.make(key, joined);
        }
    }

    /// Puts the arguments of a command behind it.
    fn command(mut self) -> Result<Self, Trouble> {
        self.join("command");
        let command = self.text("command")?;
        let args = match self.arguments.get("args") {
            None => return Ok(self),
            Some(Value::Array(items)) if items.is_empty() => return Ok(self),
            Some(Value::String(text)) => text.clone(),
            Some(value) => joined(value).ok_or(Trouble::Several("command"))?,
        };
        let command = format!("{command} {args}");
        self.make("command", command);
        Ok(self)
    }

    /// Takes the prompt for the address where there is no other; beside one it may name no more.
    fn address(mut self) -> Result<Self, Trouble> {
        self.join("url");
        if !self.has("url") {
            let prompt = self.arguments.remove("prompt").ok_or(Trouble::Missing("url"))?;
            self.arguments.insert("url".to_owned(), prompt);
            self.back.names.iter_mut().filter(|(name, _)| *name == "prompt").for_each(|names| {
                names.0 = "url";
            });
        }
        let known = self.text("url")?;
        let prompt = self.arguments.get("prompt").map(text).unwrap_or_default();
        let more = prompt.split_whitespace().filter(|word| word.contains("://")).any(|word| {
            let word = word.trim_matches(['(', ')', '<', '>', '"', '\'', '.', ',', '?']);
            !known.split_whitespace().any(|known| known == word)
        });
        if more { Err(Trouble::Several("url")) } else { Ok(self) }
    }

    /// Returns one call for each place of a search in several.
    fn places(mut self, directory: &str) -> Result<Vec<Self>, Trouble> {
        if !self.has("pattern")
            && let Some(glob) = self.arguments.remove("glob")
        {
            // Beside a pattern it says which files to look at, to Claude Code as well.
            self.arguments.insert("pattern".to_owned(), glob);
            self.back.names.iter_mut().filter(|(name, _)| *name == "glob").for_each(|names| {
                names.0 = "pattern";
            });
        }
        let paths = match self.arguments.get("paths") {
            None => Vec::new(),
            Some(Value::Array(paths)) => paths.clone(),
            Some(path) => vec![path.clone()],
        };
        if paths.is_empty() {
            if self.has("path") {
                self.make_absolute("path", directory)?;
            }
            return Ok(vec![self]);
        }
        let other = |path: &Value| self.has("path") && self.arguments.get("path") != Some(path);
        if paths.len() > MAX_PATHS || paths.iter().any(other) {
            return Err(Trouble::Several("path"));
        }
        let call = |path: Value| {
            let mut call = Self::part(self.arguments.clone());
            call.arguments.remove("paths");
            call.arguments.insert("path".to_owned(), path);
            call.make_absolute("path", directory)?;
            Ok(call)
        };
        paths.into_iter().map(call).collect()
    }

    /// Returns one call for each file.
    fn files(mut self, roles: &Roles, directory: &str) -> Result<Vec<Self>, Trouble> {
        let patch = if roles.has(Role::Patch) { self.arguments.remove("input") } else { None };
        let lists = |key: &str| match self.arguments.get(key) {
            Some(Value::Array(list)) => !list.is_empty(),
            other => other.is_some(),
        };
        let named = [self.has("file_path"), lists("paths"), patch.is_some()];
        match named.iter().filter(|named| **named).count() {
            0 => return Err(Trouble::Missing("file_path")),
            1 => {}
            _ => return Err(Trouble::Several("file_path")),
        }
        // A patch beside the arguments of another tool may be applied or not.
        if self.arguments.keys().any(|key| role_by_name(key) == Some(Role::Patch)) {
            return Err(Trouble::Several("file_path"));
        }
        if self.has("file_path") {
            self.one_file(roles, directory)?;
            return Ok(vec![self]);
        }
        // A text beside several files belongs to none of them.
        if let Some(text) = TEXTS.iter().find(|text| self.has(text)) {
            return Err(Trouble::Several(text));
        }
        if let Some(patch) = patch {
            let patch = patch.as_str().ok_or(Trouble::Missing("file_path"))?;
            let edits = patch::edits(patch).ok_or(Trouble::Several("file_path"))?;
            if edits.is_empty() {
                return Err(Trouble::Missing("file_path"));
            }
            return Ok(edits.into_iter().map(|edit| Self::edit(edit, directory)).collect());
        }
        let file = |item: &Value| {
            let mut call = match item {
                Value::String(name) => {
                    let argument = ("file_path".to_owned(), Value::from(name.as_str()));
                    Self::part(std::iter::once(argument).collect())
                }
                Value::Object(object) => Self::part(Self::new(roles, object)?.arguments),
                _ => return Err(Trouble::Missing("file_path")),
            };
            if call.has("paths") || call.has("input") && roles.has(Role::Patch) {
                return Err(Trouble::Several("file_path"));
            }
            call.one_file(roles, directory)?;
            Ok(call)
        };
        let files = self.arguments.get("paths").and_then(Value::as_array);
        files.ok_or(Trouble::Missing("file_path"))?.iter().map(file).collect()
    }

    /// Brings what is said of one file to where Claude Code has it.
    fn one_file(&mut self, roles: &Roles, directory: &str) -> Result<(), Trouble> {
        self.join_edits(roles)?;
        self.make_absolute("file_path", directory)
    }

    /// Makes a path absolute, as Claude Code gives it.
    fn make_absolute(&mut self, key: &'static str, directory: &str) -> Result<(), Trouble> {
        let path = absolute(self.text(key)?, directory);
        self.arguments.insert(key.to_owned(), path.into());
        Ok(())
    }

    /// Puts several edits of one file together, so that a guard finds every word of them.
    fn join_edits(&mut self, roles: &Roles) -> Result<(), Trouble> {
        let Some(list) = self.arguments.get("edits") else { return Ok(()) };
        let list = list.as_array().ok_or(Trouble::Missing("new_string"))?;
        let mut edits: Vec<JsonObject> = Vec::new();
        for edit in list {
            let edit = edit.as_object().ok_or(Trouble::Missing("new_string"))?;
            let edit = Self::new(roles, edit)?;
            if edit.has("file_path")
                && edit.arguments.get("file_path") != self.arguments.get("file_path")
            {
                return Err(Trouble::Several("file_path"));
            }
            if !edit.has_text() {
                return Err(Trouble::Missing("new_string"));
            }
            edits.push(edit.arguments);
        }
        for key in TEXTS {
            let said = edits.iter().filter_map(|edit| edit.get(key)).map(Value::as_str);
            let texts: Vec<&str> = said.collect::<Option<_>>().ok_or(Trouble::Missing(key))?;
            if texts.is_empty() {
                continue;
            }
            let text = texts.join("\n");
            match self.arguments.get(key) {
                None => self.make(key, text),
                Some(known) if known.as_str() == Some(&text) => {}
                Some(_) => return Err(Trouble::Several(key)),
            }
        }
        Ok(())
    }

    fn has_text(&self) -> bool {
        TEXTS.iter().any(|name| self.has(name))
    }

    /// Returns whether one of the arguments has arguments of its own.
    fn has_parts(&self) -> bool {
        self.arguments.values().any(|value| match value {
            Value::Array(items) => !items.is_empty(),
            value => value.is_object(),
        })
    }

    /// Returns a part of a call about several files.
    fn part(arguments: JsonObject) -> Self {
        Self { tools: None, arguments, back: Back { partial: true, ..Back::default() } }
    }

    /// Returns what a patch does to one file.
    fn edit(edit: Edit, directory: &str) -> Self {
        let (tools, texts): (&'static [&'static str], Vec<(&str, String)>) = match edit.kind {
            Kind::Add => (&["Write"], vec![("content", edit.new)]),
            Kind::Update => (&["Edit"], vec![("old_string", edit.old), ("new_string", edit.new)]),
            // Claude Code has no tool for it: a guard of writing or of editing is asked.
            Kind::Delete => (&["Write", "Edit"], vec![("content", String::new())]),
        };
        let path = ("file_path", absolute(&edit.path, directory));
        let said = std::iter::once(path).chain(texts);
        let arguments = said.map(|(key, text)| (key.to_owned(), text.into())).collect();
        Self { tools: Some(tools), ..Self::part(arguments) }
    }

    /// Returns the arguments that a changed copy of this call stands for.
    ///
    /// What the hook left out stays: it may be an argument that only the other agent has.
    pub(super) fn take_back(&self, change: InputChange) -> Result<JsonObject, String> {
        let (InputChange::Patch(changed) | InputChange::Replace(changed)) = change;
        let mut result = self.back.original.clone();
        for (key, value) in changed {
            if self.arguments.get(&key) == Some(&value) {
                continue;
            }
            if self.back.partial || self.back.made.contains(&&*key) {
                return Err(format!(
                    "it changed `{key}`, which was put together from several arguments of the call, so the change can't be carried over"
                ));
            }
            let names = self.back.names.iter().filter(|(name, _)| *name == key);
            let names: Vec<&String> = names.map(|(_, name)| name).collect();
            if names.is_empty() {
                result.insert(key, value);
                continue;
            }
            for name in names {
                result.insert(name.clone(), value.clone());
            }
        }
        Ok(result)
    }
}

/// Returns a list of texts as one text.
fn joined(value: &Value) -> Option<String> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    Some(words?.join(" "))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns `path` as Claude Code gives it: absolute, without `.` and `..`, with `~` written out.
fn absolute(path: &str, directory: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    let at_home = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let whole = match at_home.zip(home_directory()) {
        Some((rest, home)) => home.join(rest.trim_start_matches('/')),
        None if !directory.starts_with('/') => match std::env::current_dir() {
            Ok(current) => current.join(path),
            Err(_) => return path.to_owned(),
        },
        None => Path::new(directory).join(path),
    };
    lexical(&whole).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
