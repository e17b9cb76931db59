//! What in a tool's arguments may be a path.

use serde_json::Value;

use super::texts::{Texts, Wildcards};
use super::words::{self, Environment, UNKNOWN};
use crate::builtins::tool;
use crate::handlers::builtin::BuiltinError;
use crate::tools::patch;
use crate::tools::{Role, Roles, role_by_name};
use crate::wire::{Input, JsonObject};

/// How long the texts of a call that are looked at may be together.
const LONGEST: usize = 64 << 10;
/// Programs that go through a directory and all below it, beside all `...tar` and `7z...`.
const DESCENDING: [&str; 23] = [
    "find", "fd", "fdfind", "rg", "ag", "ack", "tree", "zip", "pax", "ditto", "rsync", "scp", "rm",
    "rmdir", "mv", "shred", "cpio", "rclone", "restic", "du", "docker", "podman", "mount",
];
/// Functions that do.
const DESCENDING_FUNCTIONS: [&str; 5] =
    ["copytree", "rmtree", "make_archive", "tarfile", "zipfile"];
/// Parts of a tool's name that say that it goes through a directory and all below it.
const DESCENDING_TOOLS: [&str; 9] =
    ["grep", "search", "delete", "remove", "move", "rename", "copy", "archive", "zip"];

/// The texts of one call that may be paths.
#[derive(Debug)]
pub(super) struct Targets {
    /// The texts; wildcards, `~` and what only a shell would know still in them.
    pub(super) texts: Texts,
    /// Whether what lies below a directory is touched with it.
    pub(super) descends: bool,
    /// Whether the call may go to a directory that can't be told from it.
    pub(super) strays: bool,
}

impl Targets {
    pub(super) fn of(input: &Input, environment: Environment<'_>) -> Result<Self, BuiltinError> {
        let kinds = tool::kinds(input);
        let mut collector = Collector {
            roles: Roles::of(input.tool(), &kinds),
            shell: kinds.iter().any(|kind| kind == "shell"),
            words: Texts::default(),
            paths: Texts::default(),
            length: 0,
            command: false,
            environment,
        };
        if let Some(arguments) = &input.tool_input {
            collector.object(arguments)?;
        }
        let Collector { words, paths, command, .. } = collector;
        let dotglob = words.iter().any(|(word, _)| word.contains("glob"));
        let mut texts = Texts::default();
        for (text, wildcards) in words.iter() {
            texts.add_pieces(text, if dotglob { Wildcards::All } else { wildcards })?;
        }
        for (text, wildcards) in paths.iter() {
            texts.add_pieces(text, wildcards)?;
        }
        let tool = input.tool().to_lowercase();
        let by_name = DESCENDING_TOOLS.iter().any(|part| tool.contains(part));
        let strays = texts.iter().any(|(text, _)| strays(text));
        Ok(Self { descends: by_name || command && descends(&words), strays, texts })
    }
}

struct Collector<'v> {
    roles: Roles,
    /// Whether the tool runs commands: then every argument may be a part of one.
    shell: bool,
    words: Texts,
    paths: Texts,
    length: usize,
    /// Whether something of it is surely run.
    command: bool,
    environment: Environment<'v>,
}

impl Collector<'_> {
    fn object(&mut self, object: &JsonObject) -> Result<(), BuiltinError> {
        for (key, value) in object {
            self.paths.add(key, Wildcards::All)?;
            self.collect(key, value)?;
        }
        Ok(())
    }

    fn collect(&mut self, key: &str, value: &Value) -> Result<(), BuiltinError> {
        match value {
            Value::String(text) => self.text(key, text),
            Value::Array(items) => items.iter().try_for_each(|item| self.collect(key, item)),
            Value::Object(object) => self.object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn role(&self, key: &str) -> Option<Role> {
        let listed = self.roles.get(key).map(|(role, _)| role);
        let otherwise = || if self.shell { Some(Role::Command) } else { role_by_name(key) };
        listed.or_else(otherwise)
    }

    fn text(&mut self, key: &str, text: &str) -> Result<(), BuiltinError> {
        let role = self.role(key);
        match role {
            Some(Role::Content | Role::Old | Role::New) => return Ok(()),
            Some(Role::Patch) => {
                let files = patch::files(text);
                for file in &files {
                    self.paths.add(file, Wildcards::None)?;
                }
                if !files.is_empty() {
                    return Ok(());
                }
            }
            _ => {}
        }
        self.length += text.len();
        if self.length > LONGEST {
            let limit = LONGEST >> 10;
            return Err(format!("`{key}` is too long to be checked ({limit} KiB)").into());
        }
        if matches!(role, Some(Role::Command | Role::Words)) {
            self.command = true;
            return Ok(words::words(text, self.environment, &mut self.words)?);
        }
        if role.is_none()
            && text.trim_start().starts_with(['{', '['])
            && let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
        {
            return self.collect(key, &value);
        }
        for line in text.lines() {
            words::written_out(line.trim(), self.environment, Wildcards::All, &mut self.paths)?;
        }
        // What a tool does with an argument that the table does not have can't be told.
        if matches!(role, None | Some(Role::Patch | Role::Edits)) {
            words::words(text, self.environment, &mut self.words)?;
        }
        Ok(())
    }
}

/// Returns whether a text says that the call goes to a directory that only a shell knows.
fn strays(text: &str) -> bool {
    text.starts_with(UNKNOWN) || matches!(text, "cd" | "pushd" | "popd") || text.ends_with("chdir")
}

/// Returns whether a command goes through directories.
fn descends(words: &Texts) -> bool {
    let copies = words.iter().any(|(word, _)| word == "cp");
    words.iter().any(|(word, _)| {
        let last = |separator: char| word.rsplit(separator).next().unwrap_or(word);
        let program = last('/');
        let cluster = word.strip_prefix('-').filter(|letters| {
            letters.len() <= 8 && letters.chars().all(|letter| letter.is_ascii_alphabetic())
        });
        DESCENDING.contains(&program)
            || DESCENDING_FUNCTIONS.contains(&last('.'))
            || program.strip_suffix("tar").is_some_and(|kind| !kind.contains('.'))
            || program.starts_with("7z")
            || cluster.is_some_and(|letters| letters.contains(['r', 'R']))
            || copies && cluster.is_some_and(|letters| letters.contains('a'))
            || word.starts_with("--recurs")
            || word == "--archive"
    })
}
