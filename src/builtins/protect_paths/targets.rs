//! What in a tool's arguments may be a path.

use std::collections::BTreeMap;

use serde_json::Value;

use super::rules::Access;
use super::spelling::Variables;
use super::texts::Texts;
use super::words::{self, UNKNOWN};
use crate::builtins::tool;
use crate::handlers::builtin::BuiltinError;
use crate::wire::{Input, JsonObject, LINE_ENDS};

/// How long the texts of a call that are looked at may be together.
const LONGEST: usize = 64 << 10;

/// Keys whose text is written into a file or shown, and names none.
const CONTENTS: [&str; 22] = [
    "content",
    "contents",
    "file_text",
    "filetext",
    "body",
    "new_string",
    "old_string",
    "newstring",
    "oldstring",
    "new_str",
    "old_str",
    "newtext",
    "oldtext",
    "new_source",
    "insert_text",
    "new_content",
    "old_content",
    "code_edit",
    "codeedit",
    "replacement",
    "markdown",
    "html",
];
/// Keys whose text is run.
const COMMANDS: [&str; 13] = [
    "command",
    "commands",
    "cmd",
    "script",
    "shell_command",
    "code",
    "argv",
    "chars",
    "stdin",
    "keys",
    "commandline",
    "command_line",
    "run",
];
/// Keys whose text may be a path as a whole, but is never run: it is searched for, or read by
/// people and models.
const SENTENCES: [&str; 14] = [
    "pattern",
    "regex",
    "query",
    "prompt",
    "description",
    "message",
    "title",
    "comment",
    "question",
    "explanation",
    "instructions",
    "thought",
    "patch",
    "diff",
];
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
    /// What the call may do to them.
    pub(super) access: Access,
}

impl Targets {
    pub(super) fn of(
        input: &Input,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, BuiltinError> {
        let mut collector = Collector {
            words: Texts::default(),
            lines: Texts::default(),
            length: 0,
            command: false,
            shell: tool::runs_commands(input),
            patch: input.tool().contains("patch"),
            variables: Variables { set: BTreeMap::new(), environment },
        };
        if let Some(arguments) = &input.tool_input {
            collector.object(arguments)?;
        }
        let Collector { words, lines, command, .. } = collector;
        let tool = input.tool().to_lowercase();
        let dotglob = words.iter().any(|(word, _)| word.contains("glob"));
        let mut texts = Texts::default();
        for (text, dots) in words.iter().chain(lines.iter()) {
            texts.add_pieces(text, dots || dotglob)?;
        }
        let strays = texts.iter().any(|(text, _)| strays(text));
        Ok(Self {
            descends: command && descends(&words)
                || DESCENDING_TOOLS.iter().any(|part| tool.contains(part)),
            strays,
            access: access(input),
            texts,
        })
    }
}

struct Collector<'v> {
    words: Texts,
    lines: Texts,
    length: usize,
    /// Whether something of it is surely run.
    command: bool,
    shell: bool,
    patch: bool,
    variables: Variables<'v>,
}

impl Collector<'_> {
    fn object(&mut self, object: &JsonObject) -> Result<(), BuiltinError> {
        for (key, value) in object {
            self.lines.add(key, true)?;
            self.collect(key, value)?;
        }
        Ok(())
    }

    fn collect(&mut self, key: &str, value: &Value) -> Result<(), BuiltinError> {
        match value {
            Value::String(text) => self.text(&key.to_lowercase(), text),
            Value::Array(items) => items.iter().try_for_each(|item| self.collect(key, item)),
            Value::Object(object) => self.object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn text(&mut self, key: &str, text: &str) -> Result<(), BuiltinError> {
        let content = !self.shell && CONTENTS.contains(&key);
        if !content || self.patch {
            for file in patched(text) {
                self.lines.add(file, true)?;
            }
        }
        if content {
            return Ok(());
        }
        self.length += text.len();
        if self.length > LONGEST {
            let limit = LONGEST >> 10;
            return Err(format!("`{key}` is too long to be checked ({limit} KiB)").into());
        }
        if self.shell || COMMANDS.contains(&key) {
            self.command = true;
            return Ok(words::words(text, self.variables.environment, &mut self.words)?);
        }
        if text.trim_start().starts_with(['{', '['])
            && let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
        {
            return self.collect(key, &value);
        }
        for line in text.lines() {
            words::written_out(line.trim(), &self.variables, true, &mut self.lines)?;
        }
        if !self.patch && !SENTENCES.contains(&key) {
            // Whether a tool runs what it is given its arguments can't tell.
            words::words(text, self.variables.environment, &mut self.words)?;
        }
        Ok(())
    }
}

/// Returns the files that a patch names, whatever its reader takes for the end of a line.
fn patched(text: &str) -> impl Iterator<Item = &str> {
    const HEADS: [&str; 12] = [
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
        "+++ b/",
        "--- a/",
        "+++ ",
        "--- ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
    ];
    let readings = text.lines().flat_map(|line| {
        std::iter::once(line)
            .chain(line.split(LINE_ENDS).filter(move |part| part.len() < line.len()))
    });
    readings.flat_map(|line| {
        HEADS.iter().filter_map(move |head| line.trim_start().strip_prefix(head)).map(str::trim)
    })
}

fn access(input: &Input) -> Access {
    Access { reads: !tool::only_writes(input), writes: !tool::only_reads(input) }
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
