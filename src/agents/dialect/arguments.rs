//! The arguments of a tool in the words of Claude Code, and back.

use std::path::Path;

use serde_json::Value;

use super::patch::{self, Edit, Kind};
use crate::wire::{InputChange, JsonObject};

/// What other agents call an argument, each by Claude Code's name for it.
const COMMAND: (&str, &[&str]) =
    ("command", &["cmd", "command_line", "commandLine", "script", "chars", "input", "text"]);
const FILE_PATH: (&str, &[&str]) = (
    "file_path",
    &["path", "filePath", "absolute_path", "file", "filename", "target_file", "notebook_path"],
);
const URL: (&str, &[&str]) = ("url", &["urls", "uri", "prompt"]);
const OPTIONAL: [(&str, &[&str]); 6] = [
    ("content", &["contents", "file_text", "fileText", "text"]),
    ("old_string", &["old_str", "oldString", "oldText", "old_text"]),
    ("new_string", &["new_str", "newString", "newText", "new_text"]),
    ("pattern", &["regex", "glob"]),
    ("path", &["dir_path", "directory", "target_directory"]),
    ("query", &["search_query", "q"]),
];
/// Where a patch may stand.
const PATCH: [&str; 5] = ["input", "patch", "command", "content", "diff"];
/// Where several files may stand: as paths, or as objects that each have one.
const FILES: [&str; 6] = ["paths", "file_paths", "include", "files", "operations", "edits"];

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
    /// Claude Code's name of an argument, and the one it came under.
    renamed: Vec<(&'static str, String)>,
    /// Arguments that were put together from others: what changes in them has no place to go.
    made: Vec<&'static str>,
    /// Whether it is a part of the call only.
    partial: bool,
}

/// Returns the calls that `arguments` of a tool of certain kinds stand for.
///
/// # Errors
/// With the name of what is missing, when a guard would look in vain for what the tool acts on.
pub(super) fn translate(
    arguments: &JsonObject,
    is: impl Fn(&str) -> bool,
    directory: &str,
) -> Result<Vec<Call>, &'static str> {
    let mut call = Call {
        tools: None,
        arguments: arguments.clone(),
        back: Back { original: arguments.clone(), ..Back::default() },
    };
    if is("shell") {
        call.rename(COMMAND);
        call.join("command", " ");
        return call.with("command");
    }
    if is("write") || is("edit") || is("read") {
        call.rename(FILE_PATH);
        if !call.has("file_path") {
            return call.each_file(directory);
        }
        call.join_edits();
        call.make_absolute(directory);
    }
    if is("fetch") {
        call.rename(URL);
        call.join("url", " ");
        return call.with("url");
    }
    for names in OPTIONAL {
        call.rename(names);
    }
    Ok(vec![call])
}

impl Call {
    fn has(&self, key: &str) -> bool {
        self.arguments.get(key).is_some_and(|value| !value.is_null())
    }

    fn with(self, key: &'static str) -> Result<Vec<Self>, &'static str> {
        let said = self.arguments.get(key).is_some_and(Value::is_string);
        if said { Ok(vec![self]) } else { Err(key) }
    }

    fn rename(&mut self, (name, others): (&'static str, &[&str])) {
        if self.has(name) {
            return;
        }
        if let Some(other) = others.iter().find(|other| self.has(other))
            && let Some(value) = self.arguments.remove(*other)
        {
            self.arguments.insert(name.to_owned(), value);
            self.back.renamed.push((name, (*other).to_owned()));
        }
    }

    /// Makes one text of a list of texts: a command as an argument vector, several addresses.
    fn join(&mut self, key: &'static str, glue: &str) {
        if let Some(Value::Array(items)) = self.arguments.get(key) {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            if words.len() == items.len() && !words.is_empty() {
                let joined = words.join(glue);
                self.make(key, joined);
            }
        }
    }

    fn make(&mut self, key: &'static str, text: String) {
        self.arguments.insert(key.to_owned(), text.into());
        self.back.made.push(key);
    }

    /// Puts several edits of one file together, so that a guard finds every word of them.
    fn join_edits(&mut self) {
        let Some(Value::Array(edits)) = self.arguments.get("edits") else { return };
        let edits = edits.clone();
        for (key, others) in [OPTIONAL[1], OPTIONAL[2]] {
            let names = || std::iter::once(&key).chain(others);
            let texts =
                edits.iter().filter_map(|edit| names().find_map(|name| edit.get(name)?.as_str()));
            let texts: Vec<&str> = texts.collect();
            if !texts.is_empty() && !self.has(key) {
                self.make(key, texts.join("\n"));
            }
        }
    }

    /// Makes the path absolute, as Claude Code's always are.
    fn make_absolute(&mut self, directory: &str) {
        if let Some(Value::String(path)) = self.arguments.get_mut("file_path") {
            *path = absolute(path, directory);
        }
    }

    /// Returns one call for each file of a call about several.
    fn each_file(self, directory: &str) -> Result<Vec<Self>, &'static str> {
        let text = PATCH.iter().filter_map(|key| self.arguments.get(*key)?.as_str());
        let edits: Vec<Edit> =
            text.map(patch::edits).find(|edits| !edits.is_empty()).unwrap_or_default();
        let back = || Back { partial: true, ..Back::default() };
        let path = |path: &str| ("file_path".to_owned(), absolute(path, directory).into());
        if !edits.is_empty() {
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
                let arguments = std::iter::once(path(&edit.path)).chain(texts).collect();
                Self { tools: Some(tools), arguments, back: back() }
            };
            return Ok(edits.into_iter().map(call).collect());
        }
        let items = FILES.iter().find_map(|key| self.arguments.get(*key)?.as_array());
        let named = |item: &Value| match item {
            Value::String(text) => Some(std::iter::once(path(text)).collect()),
            Value::Object(object) => {
                let mut call = Self { tools: None, arguments: object.clone(), back: back() };
                call.rename(FILE_PATH);
                for names in OPTIONAL {
                    call.rename(names);
                }
                call.make_absolute(directory);
                call.has("file_path").then_some(call.arguments)
            }
            _ => None,
        };
        let calls: Option<Vec<Self>> = items
            .filter(|items| !items.is_empty())
            .and_then(|items| items.iter().map(named).collect::<Option<Vec<JsonObject>>>())
            .map(|calls| {
                let call = |arguments| Self { tools: None, arguments, back: back() };
                calls.into_iter().map(call).collect()
            });
        calls.ok_or("file_path")
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
            let renamed = self.back.renamed.iter().find(|(name, _)| *name == key);
            result.insert(renamed.map_or(key, |(_, other)| other.clone()), value);
        }
        Ok(result)
    }
}

fn absolute(path: &str, directory: &str) -> String {
    if path.is_empty() || directory.is_empty() || path.starts_with(['/', '~']) {
        return path.to_owned();
    }
    let joined: std::path::PathBuf = Path::new(directory).join(path).components().collect();
    joined.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> JsonObject {
        serde_json::from_value(value).unwrap()
    }

    fn translated(kinds: &str, arguments: Value) -> Result<Value, &'static str> {
        let is = |kind: &str| kinds.split(' ').any(|known| known == kind);
        let calls = translate(&object(arguments), is, "/p")?;
        Ok(calls.into_iter().map(|call| Value::Object(call.arguments)).collect())
    }

    #[test]
    fn what_a_tool_acts_on_stands_where_claude_code_has_it() {
        for (kinds, arguments, expected) in [
            ("shell", json!({"cmd": "ls", "cwd": "/"}), json!([{"command": "ls", "cwd": "/"}])),
            ("shell", json!({"command": ["sh", "-c", "ls"]}), json!([{"command": "sh -c ls"}])),
            (
                "edit",
                json!({"path": "./a", "oldText": "x"}),
                json!([{"file_path": "/p/a", "old_string": "x"}]),
            ),
            (
                "edit",
                json!({"path": "/a", "edits": [{"oldText": "x", "newText": "y"}, {"newText": "z"}]}),
                json!([{"file_path": "/a", "old_string": "x", "new_string": "y\nz",
                    "edits": [{"oldText": "x", "newText": "y"}, {"newText": "z"}]}]),
            ),
            (
                "write edit",
                json!({"command": "create", "path": "a", "file_text": "t"}),
                json!([{"command": "create", "file_path": "/p/a", "content": "t"}]),
            ),
            (
                "read",
                json!({"paths": ["a", "/b"]}),
                json!([{"file_path": "/p/a"}, {"file_path": "/b"}]),
            ),
            (
                "read list grep",
                json!({"operations": [{"mode": "Line", "path": "/b"}]}),
                json!([{"mode": "Line", "file_path": "/b"}]),
            ),
            ("fetch", json!({"prompt": "read https://x"}), json!([{"url": "read https://x"}])),
            ("grep", json!({"regex": "x"}), json!([{"pattern": "x"}])),
            ("subagent", json!({"prompt": "x"}), json!([{"prompt": "x"}])),
        ] {
            assert_eq!(
                translated(kinds, arguments.clone()).unwrap(),
                expected,
                "{kinds} {arguments}"
            );
        }
    }

    #[test]
    fn what_a_guard_would_look_for_in_vain_is_an_error() {
        for (kinds, arguments, missing) in [
            ("shell", json!({}), "command"),
            ("shell", json!({"command": {"a": 1}}), "command"),
            ("write", json!({"content": "x"}), "file_path"),
            ("read", json!({"paths": []}), "file_path"),
            ("read", json!({"paths": ["a", 1]}), "file_path"),
            ("edit write", json!({"command": "*** Begin Patch\n*** End Patch"}), "file_path"),
            ("fetch", json!({}), "url"),
        ] {
            assert_eq!(translated(kinds, arguments.clone()), Err(missing), "{kinds} {arguments}");
        }
    }

    #[test]
    fn a_patch_is_one_call_for_each_file() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: src/b\n*** Move to: c\n@@ f\n same\n-old\n+new\n*** Delete File: /d\n*** End Patch";
        let calls =
            translate(&object(json!({"command": patch})), |kind| kind == "edit", "/p").unwrap();
        let shown: Vec<Value> =
            calls.iter().map(|call| json!([call.tools, call.arguments])).collect();
        assert_eq!(
            json!(shown),
            json!([
                [["Write"], {"file_path": "/p/a.txt", "content": "one\ntwo\n"}],
                [["Edit"], {"file_path": "/p/src/b", "old_string": "", "new_string": ""}],
                [["Write"], {"file_path": "/p/c", "content": "same\nnew\n"}],
                [["Write", "Edit"], {"file_path": "/d", "content": ""}],
            ])
        );
    }

    #[test]
    fn a_change_goes_where_the_argument_came_from() {
        let call = |arguments: Value| {
            translate(&object(arguments), |kind| kind == "shell", "/p").unwrap().remove(0)
        };
        let replaced = |arguments: Value, change: Value| {
            call(arguments).take_back(InputChange::Replace(object(change)))
        };
        let changed =
            replaced(json!({"cmd": "ls", "cwd": "/"}), json!({"command": "date"})).unwrap();
        assert_eq!(changed, object(json!({"cmd": "date", "cwd": "/"})));
        let argv = json!({"command": ["ls", "-l"]});
        let same = replaced(argv.clone(), json!({"command": "ls -l", "timeout": 5})).unwrap();
        assert_eq!(same, object(json!({"command": ["ls", "-l"], "timeout": 5})));
        assert!(replaced(argv, json!({"command": "date"})).is_err());
    }
}
