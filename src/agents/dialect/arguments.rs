//! The arguments of a tool in the words of Claude Code, and back.

use std::fmt;
use std::path::Path;

use serde_json::Value;

use super::patch::{self, Edit, Kind};
use crate::wire::{InputChange, JsonObject};

/// Claude Code's name of an argument, and what other agents call it.
type Group = (&'static str, &'static [&'static str]);

const COMMAND: Group = (
    "command",
    &["cmd", "command_line", "commandLine", "script", "chars", "input", "keys", "text"],
);
const ARGS: Group = ("args", &["arguments", "argv"]);
const FILE_PATH: Group = (
    "file_path",
    &["path", "filePath", "absolute_path", "file", "filename", "target_file", "notebook_path"],
);
const URL: Group = ("url", &["urls", "uri"]);
/// The texts of a change to a file.
const TEXTS: [Group; 3] = [
    (
        "content",
        &["contents", "file_text", "fileText", "insert_text", "new_source", "text", "code"],
    ),
    ("old_string", &["old_str", "oldStr", "oldString", "oldText", "old_text"]),
    ("new_string", &["new_str", "newStr", "newString", "newText", "new_text"]),
];
const OPTIONAL: [Group; 4] = [
    ("pattern", &["regex"]),
    ("glob", &["include", "include_pattern"]),
    ("path", &["dir_path", "directory", "target_directory"]),
    ("query", &["search_query", "q"]),
];
/// Where a patch may stand.
const PATCH: [&str; 5] = ["input", "patch", "command", "content", "diff"];
/// Where several files may stand: as paths, or as objects that each have one.
const FILES: [&str; 9] = [
    "paths",
    "file_paths",
    "image_paths",
    "include",
    "files",
    "operations",
    "replacements",
    "edits",
    "changes",
];
/// Those of them that hold several edits of one file, where the file is named beside them.
const EDITS: [&str; 2] = ["edits", "changes"];

/// In how many places one call may search: for each the other arguments are copied.
const MAX_PATHS: usize = 32;

/// Why a call can't be said: a guard would be shown nothing, or not what the tool acts on.
#[derive(Debug, PartialEq)]
pub(super) enum Trouble {
    /// The argument is nowhere.
    Missing(&'static str),
    /// The argument is there under several names or in several places, each time another one.
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
    pub(super) back: Back,
}

/// How changed arguments get back into the words they came in.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Back {
    /// The arguments as they came.
    original: JsonObject,
    /// Claude Code's name of an argument, and each one it came under.
    renamed: Vec<(&'static str, String)>,
    /// Arguments that were put together from others: what changes in them has no place to go.
    made: Vec<&'static str>,
    /// Whether it is a part of the call only.
    partial: bool,
}

/// Returns the calls that `arguments` of a tool of certain kinds stand for.
///
/// # Errors
/// When a guard would look in vain for what the tool acts on, or see one of two things it may act on.
pub(super) fn translate(
    arguments: &JsonObject,
    is: impl Fn(&str) -> bool,
    directory: &str,
) -> Result<Vec<Call>, Trouble> {
    let mut call = Call {
        tools: None,
        arguments: arguments.clone(),
        back: Back { original: arguments.clone(), ..Back::default() },
    };
    if is("shell") {
        call.rename(COMMAND)?;
        call.join("command", " ");
        call.add_args()?;
        return call.with("command");
    }
    if is("write") || is("edit") || is("read") {
        call.rename(FILE_PATH)?;
        let calls = if call.has("file_path") {
            // A file that is written may hold a patch as its text; what changes files may apply it.
            if is("edit") || (is("write") && !call.has("content")) {
                call.without_patch()?;
            }
            call.one_file(directory)?;
            vec![call]
        } else {
            call.each_file(directory)?
        };
        // What is changed may stand in a list that nobody here knows.
        if !is("read") && calls.iter().any(|call| !call.has_text() && call.has_parts()) {
            return Err(Trouble::Missing("new_string"));
        }
        return Ok(calls);
    }
    if is("fetch") {
        call.rename(URL)?;
        call.join("url", " ");
        call.add_prompt()?;
        return call.with("url");
    }
    call.rename_optional()?;
    if is("grep") || is("glob") || is("list") { call.each_path() } else { Ok(vec![call]) }
}

impl Call {
    fn has(&self, key: &str) -> bool {
        self.arguments.get(key).is_some_and(|value| !value.is_null())
    }

    fn with(self, key: &'static str) -> Result<Vec<Self>, Trouble> {
        let said = self.arguments.get(key).is_some_and(Value::is_string);
        if said { Ok(vec![self]) } else { Err(Trouble::Missing(key)) }
    }

    /// Gives an argument Claude Code's name; under several names it has to be the same.
    fn rename(&mut self, (name, others): Group) -> Result<(), Trouble> {
        let names = std::iter::once(name).chain(others.iter().copied());
        let present: Vec<&str> = names.filter(|name| self.has(name)).collect();
        if present.iter().any(|other| self.arguments.get(*other) != self.arguments.get(present[0]))
        {
            return Err(Trouble::Several(name));
        }
        if present == [name] {
            return Ok(());
        }
        for other in present {
            if let Some(value) = self.arguments.remove(other) {
                self.arguments.insert(name.to_owned(), value);
                self.back.renamed.push((name, other.to_owned()));
            }
        }
        Ok(())
    }

    fn rename_optional(&mut self) -> Result<(), Trouble> {
        for names in TEXTS.into_iter().chain(OPTIONAL) {
            self.rename(names)?;
        }
        // Beside a pattern it says which files to look at, to Claude Code as well.
        if self.has("pattern") { Ok(()) } else { self.rename(("pattern", &["glob"])) }
    }

    /// Makes one text of a list of texts: a command as an argument vector, several addresses.
    fn join(&mut self, key: &'static str, glue: &str) {
        if let Some(joined) = self.arguments.get(key).and_then(|value| joined(value, glue)) {
            self.make(key, joined);
        }
    }

    fn make(&mut self, key: &'static str, text: String) {
        self.arguments.insert(key.to_owned(), text.into());
        self.back.made.push(key);
    }

    /// Puts the arguments of a command behind it.
    fn add_args(&mut self) -> Result<(), Trouble> {
        self.rename(ARGS)?;
        let args = match self.arguments.get("args") {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(items)) if items.is_empty() => return Ok(()),
            Some(value) => joined(value, " ").ok_or(Trouble::Several("command"))?,
        };
        if let Some(Value::String(command)) = self.arguments.get("command") {
            let command = format!("{command} {args}");
            self.make("command", command);
        }
        Ok(())
    }

    /// Takes the prompt for the address where there is no other; beside one it may name no more.
    fn add_prompt(&mut self) -> Result<(), Trouble> {
        let Some(url) = self.arguments.get("url").filter(|url| !url.is_null()) else {
            return self.rename(("url", &["prompt"]));
        };
        let known = url.as_str().unwrap_or_default();
        let prompt = self.arguments.get("prompt").map(text).unwrap_or_default();
        let more = prompt.split_whitespace().filter(|word| word.contains("://")).any(|word| {
            let word = word.trim_matches(['(', ')', '<', '>', '"', '\'', '.', ',', '?']);
            !known.split_whitespace().any(|known| known == word)
        });
        if more { Err(Trouble::Several("url")) } else { Ok(()) }
    }

    /// Brings what is said of one file to where Claude Code has it.
    fn one_file(&mut self, directory: &str) -> Result<(), Trouble> {
        if FILES.iter().any(|key| !EDITS.contains(key) && self.lists(key)) {
            return Err(Trouble::Several("file_path"));
        }
        self.join_edits()?;
        self.rename_optional()?;
        // Claude Code's paths are always absolute.
        if let Some(Value::String(path)) = self.arguments.get_mut("file_path") {
            *path = absolute(path, directory);
        }
        Ok(())
    }

    /// Returns whether something stands at `key`, be it one thing or a list of some.
    fn lists(&self, key: &str) -> bool {
        self.has(key)
            && self.arguments.get(key).and_then(Value::as_array).is_none_or(|list| !list.is_empty())
    }

    /// Puts several edits of one file together, so that a guard finds every word of them.
    fn join_edits(&mut self) -> Result<(), Trouble> {
        let mut lists = EDITS.iter().filter(|key| self.has(key)).map(|key| &self.arguments[*key]);
        let Some(list) = lists.next() else { return Ok(()) };
        if lists.any(|other| other != list) {
            return Err(Trouble::Several("new_string"));
        }
        let edits = list.as_array().map(|list| list.iter().map(Value::as_object));
        let edits: Option<Vec<&JsonObject>> = edits.and_then(Iterator::collect);
        let edits = edits.ok_or(Trouble::Missing("new_string"))?;
        let mut edits: Vec<Self> = edits.into_iter().map(Self::part).collect();
        for edit in &mut edits {
            edit.rename(FILE_PATH)?;
            if edit.has("file_path")
                && edit.arguments.get("file_path") != self.arguments.get("file_path")
            {
                return Err(Trouble::Several("file_path"));
            }
            edit.rename_optional()?;
            if !edit.has_text() {
                return Err(Trouble::Missing("new_string"));
            }
        }
        for names in TEXTS {
            let key = names.0;
            let said = edits.iter().filter(|edit| edit.has(key)).map(|edit| &edit.arguments[key]);
            let texts: Option<Vec<&str>> = said.map(Value::as_str).collect();
            let texts = texts.ok_or(Trouble::Missing(key))?;
            if texts.is_empty() {
                continue;
            }
            let text = texts.join("\n");
            self.rename(names)?;
            if !self.has(key) {
                self.make(key, text);
            } else if self.arguments.get(key).and_then(Value::as_str) != Some(&text) {
                return Err(Trouble::Several(key));
            }
        }
        Ok(())
    }

    fn has_text(&self) -> bool {
        TEXTS.iter().any(|(name, _)| self.has(name))
    }

    /// Returns whether arguments of arguments stand in it.
    fn has_parts(&self) -> bool {
        let parts = |value: &Value| match value {
            Value::Array(items) => !items.is_empty(),
            value => value.is_object(),
        };
        self.arguments.values().any(parts)
    }

    /// Returns one call for each place of a search in several.
    fn each_path(self) -> Result<Vec<Self>, Trouble> {
        let paths: Vec<Value> = match self.arguments.get("paths") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(paths)) => paths.clone(),
            Some(path) => vec![path.clone()],
        };
        if paths.is_empty() {
            return Ok(vec![self]);
        }
        let other = |path: &Value| self.has("path") && self.arguments.get("path") != Some(path);
        if paths.len() > MAX_PATHS || paths.iter().any(other) {
            return Err(Trouble::Several("path"));
        }
        let call = |path: Value| {
            let mut call = Self::part(&self.arguments);
            call.arguments.remove("paths");
            call.arguments.insert("path".to_owned(), path);
            call
        };
        Ok(paths.into_iter().map(call).collect())
    }

    /// Returns a part of a call about several files.
    fn part(arguments: &JsonObject) -> Self {
        let back = Back { partial: true, ..Back::default() };
        Self { tools: None, arguments: arguments.clone(), back }
    }

    /// Returns the patch among the arguments, as it stands there.
    fn patch(&self) -> Result<Option<&str>, Trouble> {
        let mut found = None;
        for value in PATCH.iter().filter_map(|key| self.arguments.get(*key)) {
            match value {
                Value::String(text) => match patch::edits(text) {
                    Some(edits) if edits.is_empty() => {}
                    Some(_) if found.is_none_or(|found| found == text) => found = Some(text),
                    _ => return Err(Trouble::Several("file_path")),
                },
                Value::Array(_) | Value::Object(_) if value.to_string().contains("*** ") => {
                    return Err(Trouble::Several("file_path"));
                }
                _ => {}
            }
        }
        Ok(found.map(String::as_str))
    }

    fn without_patch(&self) -> Result<(), Trouble> {
        if self.patch()?.is_some() { Err(Trouble::Several("file_path")) } else { Ok(()) }
    }

    /// Returns one call for each file of a call about several.
    fn each_file(self, directory: &str) -> Result<Vec<Self>, Trouble> {
        let patch = self.patch()?;
        let mut lists = FILES.iter().filter(|key| self.lists(key)).map(|key| &self.arguments[*key]);
        let files = lists.next();
        if lists.any(|other| Some(other) != files) || (files.is_some() && patch.is_some()) {
            return Err(Trouble::Several("file_path"));
        }
        if files.is_none() && patch.is_none() {
            return Err(Trouble::Missing("file_path"));
        }
        // A text that belongs to none of the files would be shown to nobody.
        for (name, others) in &TEXTS {
            let mut names = std::iter::once(name).chain(*others).filter(|name| self.has(name));
            if names.any(|name| self.arguments[*name].as_str() != patch || patch.is_none()) {
                return Err(Trouble::Several(name));
            }
        }
        let file = |path: &str| ("file_path".to_owned(), absolute(path, directory).into());
        if let Some(patch) = patch {
            let call = |edit: Edit| {
                let (tools, texts): (_, Vec<(&str, String)>) = match edit.kind {
                    Kind::Add => (["Write"].as_slice(), vec![("content", edit.new)]),
                    Kind::Update => {
                        (&["Edit"], vec![("old_string", edit.old), ("new_string", edit.new)])
                    }
                    // Claude Code has no tool for it; whoever guards writing or editing is asked.
                    Kind::Delete => (&["Write", "Edit"], vec![("content", String::new())]),
                };
                let texts = texts.into_iter().map(|(key, text)| (key.to_owned(), text.into()));
                let arguments = std::iter::once(file(&edit.path)).chain(texts).collect();
                Self { tools: Some(tools), ..Self::part(&arguments) }
            };
            return Ok(patch::edits(patch).into_iter().flatten().map(call).collect());
        }
        let missing = || Trouble::Missing("file_path");
        let named = |item: &Value| match item {
            Value::String(text) => Ok(Self::part(&std::iter::once(file(text)).collect())),
            Value::Object(object) => {
                let mut call = Self::part(object);
                call.rename(FILE_PATH)?;
                if !call.has("file_path") {
                    return Err(missing());
                }
                call.one_file(directory)?;
                Ok(call)
            }
            _ => Err(missing()),
        };
        files.and_then(Value::as_array).ok_or_else(missing)?.iter().map(named).collect()
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
                    "it changed `{key}`, which was put together from what the call says and can't be carried over"
                ));
            }
            let renamed = self.back.renamed.iter().filter(|(name, _)| *name == key);
            let mut names: Vec<&String> = renamed.map(|(_, other)| other).collect();
            if names.is_empty() {
                names.push(&key);
            }
            for name in names {
                result.insert(name.clone(), value.clone());
            }
        }
        Ok(result)
    }
}

/// Returns a list of texts as one text.
fn joined(value: &Value, glue: &str) -> Option<String> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    Some(words?.join(glue))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn absolute(path: &str, directory: &str) -> String {
    if path.is_empty() || directory.is_empty() || path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    let joined: std::path::PathBuf = Path::new(directory).join(path).components().collect();
    joined.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
