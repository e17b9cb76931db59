//! Finds the texts in a tool's arguments that may be paths.

use std::collections::BTreeSet;

use serde_json::Value;

use super::texts::Texts;
use super::words::{self, UNKNOWN, Values};
use crate::builtins::tool;
use crate::tools::{Role, Roles, patch, role_by_name};
use hookexec::registry::BuiltinError;
use hookexec::wire::{Input, JsonObject, StrictJsonError, parse_json, repair_lone_surrogates};
use hookexec_files::platform::Platform;

/// How long the texts of a call that are read may be together.
const LONGEST: usize = 64 << 10;
/// Programs that go through a directory and all below it, beside all `...tar` and `7z...`.
const DESCENDING: [&str; 23] = [
    "find", "fd", "fdfind", "rg", "ag", "ack", "tree", "zip", "pax", "ditto", "rsync", "scp", "rm",
    "rmdir", "mv", "shred", "cpio", "rclone", "restic", "du", "docker", "podman", "mount",
];
/// Programs of Windows that do.
const DESCENDING_ON_WINDOWS: [&str; 6] = ["rd", "del", "erase", "move", "robocopy", "xcopy"];
/// Functions that do.
const DESCENDING_FUNCTIONS: [&str; 5] =
    ["copytree", "rmtree", "make_archive", "tarfile", "zipfile"];
/// Parts of a tool's name that say that it goes through a directory and all below it.
const DESCENDING_TOOLS: [&str; 9] =
    ["grep", "search", "delete", "remove", "move", "rename", "copy", "archive", "zip"];

/// The texts of one call that may be paths.
pub(super) struct Targets {
    /// The texts; wildcards, `~` and what only a shell knows still in them.
    pub(super) texts: Texts,
    /// Whether what lies below a directory is touched with it.
    pub(super) descends: bool,
    /// Whether the call may go to a directory that only a shell knows.
    pub(super) strays: bool,
}

impl Targets {
    pub(super) fn of(
        input: &Input,
        platform: Platform,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, BuiltinError> {
        let kinds = tool::kinds(input);
        let mut found = Collector {
            roles: Roles::of(input.tool(), &kinds),
            shell: kinds.iter().any(|kind| kind == "shell"),
            words: BTreeSet::new(),
            paths: BTreeSet::new(),
            length: 0,
            platform,
            command: false,
        };
        if let Some(arguments) = &input.tool_input {
            found.object(arguments)?;
        }
        let Collector { words, paths, command, .. } = found;
        let set = words::assignments(&words);
        let values = |name: &str| {
            let set = set.iter().filter(|(known, _)| known == name);
            set.map(|(_, value)| value.clone()).chain(environment(name)).collect()
        };
        let mut texts = Texts::default();
        // `shopt -s dotglob`, `setopt globdots`.
        let dots = words.iter().any(|word| word.contains("glob"));
        words.iter().try_for_each(|word| add(word, &values, dots, &mut texts))?;
        paths.iter().try_for_each(|path| add(path, &values, true, &mut texts))?;
        let tool = input.tool().to_lowercase();
        let by_name = DESCENDING_TOOLS.iter().any(|part| tool.contains(part));
        let strays = texts.iter().any(|(text, _)| strays(text));
        Ok(Self { descends: by_name || command && descends(&words, platform), strays, texts })
    }
}

/// Adds everything that `text` may mean.
fn add(text: &str, values: Values<'_>, dots: bool, texts: &mut Texts) -> Result<(), BuiltinError> {
    texts.add_pieces(text, dots)?;
    for version in words::versions(text, values) {
        texts.add_pieces(&version, dots)?;
        texts.add_pieces(&words::without_braces(&version), dots)?;
    }
    Ok(())
}

/// The arguments of one call, read by their roles.
struct Collector {
    roles: Roles,
    /// Whether the tool runs commands: then every argument may be a part of one.
    shell: bool,
    words: BTreeSet<String>,
    paths: BTreeSet<String>,
    length: usize,
    platform: Platform,
    /// Whether a command is among the arguments.
    command: bool,
}

impl Collector {
    fn object(&mut self, object: &JsonObject) -> Result<(), String> {
        for (key, value) in object {
            self.paths.insert(key.clone());
            self.value(key, value)?;
        }
        Ok(())
    }

    fn value(&mut self, key: &str, value: &Value) -> Result<(), String> {
        match value {
            Value::String(text) => self.text(key, text),
            Value::Array(items) => items.iter().try_for_each(|item| self.value(key, item)),
            Value::Object(object) => self.object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn text(&mut self, key: &str, text: &str) -> Result<(), String> {
        let listed = self.roles.get(key).map(|(role, _)| role);
        let otherwise = || if self.shell { Some(Role::Command) } else { role_by_name(key) };
        let role = listed.or_else(otherwise);
        let files = if role == Some(Role::Patch) { patch::files(text) } else { Vec::new() };
        if matches!(role, Some(Role::Content | Role::Old | Role::New)) || !files.is_empty() {
            self.paths.extend(files);
            return Ok(());
        }
        self.length += text.len();
        if self.length > LONGEST {
            return Err(format!("`{key}` is too long to be checked ({} KiB)", LONGEST >> 10));
        }
        let is_command = matches!(role, Some(Role::Command | Role::Words));
        self.command |= is_command;
        if role.is_none()
            && let Some(value) = json(text)
                .map_err(|error| format!("`{key}` is JSON that can't be checked: {error}"))?
        {
            return self.value(key, &value);
        }
        if !is_command {
            let foreign = words::foreign(text, self.platform);
            let lines = text.lines().chain(foreign.as_deref().unwrap_or_default().lines());
            self.paths.extend(lines.map(|line| line.trim().to_owned()));
        }
        // What a tool does with an argument outside of the table is not known.
        if is_command || matches!(role, None | Some(Role::Patch | Role::Edits)) {
            words::add_words(text, &mut self.words);
            if let Some(text) = words::foreign(text, self.platform) {
                words::add_words(&text, &mut self.words);
            }
        }
        Ok(())
    }
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

/// Returns whether a text says that the call goes to a directory that only a shell knows.
fn strays(text: &str) -> bool {
    text.starts_with(UNKNOWN) || matches!(text, "cd" | "pushd" | "popd") || text.ends_with("chdir")
}

/// Returns whether a command goes through directories.
fn descends(words: &BTreeSet<String>, platform: Platform) -> bool {
    let copies = words.contains("cp");
    words.iter().any(|word| {
        let last = |separator: char| word.rsplit(separator).next().unwrap_or(word);
        let program = last('/');
        let is_letter = |letter: char| letter.is_ascii_alphabetic();
        let cluster = word
            .strip_prefix('-')
            .filter(|letters| letters.len() <= 8 && letters.chars().all(is_letter));
        DESCENDING.contains(&program)
            || platform.has_drives
                && DESCENDING_ON_WINDOWS.contains(&&*program.to_ascii_lowercase())
            || DESCENDING_FUNCTIONS.contains(&last('.'))
            || program.strip_suffix("tar").is_some_and(|kind| !kind.contains('.'))
            || program.starts_with("7z")
            || cluster.is_some_and(|letters| letters.contains(['r', 'R']))
            || copies && cluster.is_some_and(|letters| letters.contains('a'))
            || word.starts_with("--recurs")
            || word == "--archive"
    })
}
