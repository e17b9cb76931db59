//! What in a tool's arguments may be a path.

use std::collections::BTreeSet;

use serde_json::Value;

use super::rules::Access;
use super::words;
use crate::builtins::tool;
use crate::wire::Input;

/// Keys whose text is written into a file or shown, and names none.
const CONTENTS: [&str; 18] = [
    "content",
    "contents",
    "file_text",
    "filetext",
    "text",
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
];
/// Keys whose text is run.
const COMMANDS: [&str; 12] = [
    "command",
    "commands",
    "cmd",
    "script",
    "shell_command",
    "code",
    "argv",
    "chars",
    "stdin",
    "commandline",
    "command_line",
    "run",
];
/// Programs that go through a directory and all below it.
const DESCENDING: [&str; 24] = [
    "find", "fd", "fdfind", "rg", "ag", "ack", "tree", "tar", "bsdtar", "zip", "7z", "rsync",
    "scp", "rm", "rmdir", "mv", "shred", "cpio", "rclone", "restic", "du", "docker", "podman",
    "mount",
];
/// Parts of a tool's name that say that it goes through a directory and all below it.
const DESCENDING_TOOLS: [&str; 9] =
    ["grep", "search", "delete", "remove", "move", "rename", "copy", "archive", "zip"];

/// The texts of one call that may be paths.
#[derive(Debug)]
pub(super) struct Targets {
    /// The texts; wildcards, `~` and what only a shell would know still in them.
    pub(super) texts: BTreeSet<String>,
    /// Whether what lies below a directory is touched with it.
    pub(super) descends: bool,
    /// Whether a wildcard may match a name that begins with a dot.
    pub(super) dots: bool,
    /// What the call may do to them.
    pub(super) access: Access,
}

impl Targets {
    pub(super) fn of(input: &Input, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let shell = tool::runs_commands(input);
        let mut collector = Collector {
            words: BTreeSet::new(),
            texts: BTreeSet::new(),
            shell,
            patch: input.tool().contains("patch"),
            variable,
        };
        if let Some(arguments) = &input.tool_input {
            for (key, value) in arguments {
                collector.collect(key, value);
            }
        }
        let Collector { words, texts, .. } = collector;
        let tool = input.tool().to_lowercase();
        Self {
            descends: descends(&words) || DESCENDING_TOOLS.iter().any(|part| tool.contains(part)),
            dots: !texts.is_empty() || words.iter().any(|word| word.contains("glob")),
            access: access(input),
            texts: words.iter().chain(&texts).flat_map(|text| pieces(text)).collect(),
        }
    }
}

struct Collector<'v> {
    words: BTreeSet<String>,
    texts: BTreeSet<String>,
    shell: bool,
    patch: bool,
    variable: &'v dyn Fn(&str) -> Option<String>,
}

impl Collector<'_> {
    fn collect(&mut self, key: &str, value: &Value) {
        match value {
            Value::String(text) => self.text(key, text),
            Value::Array(items) => items.iter().for_each(|item| self.collect(key, item)),
            Value::Object(object) => {
                for (key, value) in object {
                    self.texts.insert(key.clone());
                    self.collect(key, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, key: &str, text: &str) {
        let key = key.to_lowercase();
        if self.shell || COMMANDS.contains(&key.as_str()) {
            self.words.extend(words::words(text, self.variable));
            return;
        }
        let content = CONTENTS.contains(&key.as_str());
        if !content || self.patch {
            self.texts.extend(patched(text).map(str::to_owned));
        }
        if content {
            return;
        }
        if text.starts_with(['{', '['])
            && let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
        {
            return self.collect(&key, &value);
        }
        for line in text.lines() {
            self.texts.extend(words::written_out(line.trim(), self.variable));
        }
    }
}

/// Returns the files that a patch names.
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
    text.lines().flat_map(|line| {
        HEADS.iter().filter_map(move |head| line.trim_start().strip_prefix(head)).map(str::trim)
    })
}

/// Returns `text` and every part of it that may be a path of its own: `--file=x`, `host:x`, `@x`,
/// `-fx`, `open("x")`.
fn pieces(text: &str) -> BTreeSet<String> {
    /// The longest path the system takes.
    const LONGEST: usize = 4096;
    const JOINTS: [char; 17] =
        ['=', ':', ',', '@', '(', ')', '[', ']', '{', '}', '"', '\'', '`', '+', ';', '#', '%'];
    let mut pieces = BTreeSet::new();
    let mut add = |piece: &str| {
        if !piece.is_empty() && piece.len() <= LONGEST {
            pieces.insert(piece.to_owned());
        }
    };
    add(text);
    text.split(JOINTS).for_each(&mut add);
    for (at, joint) in text.match_indices(JOINTS).take(64) {
        add(&text[at + joint.len()..]);
    }
    // The value of a short option may stand right behind it, and so may a variable's default.
    let options: Vec<String> =
        pieces.iter().filter(|piece| piece.starts_with('-')).cloned().collect();
    for option in options {
        pieces.extend(option.char_indices().skip(1).take(4).map(|(at, _)| option[at..].to_owned()));
    }
    pieces
}

fn access(input: &Input) -> Access {
    Access { reads: !tool::only_writes(input), writes: !tool::only_reads(input) }
}

/// Returns whether a command goes through directories.
fn descends(words: &BTreeSet<String>) -> bool {
    let copies = words.contains("cp");
    words.iter().any(|word| {
        let program = word.rsplit('/').next().unwrap_or(word);
        let cluster = word.strip_prefix('-').filter(|letters| {
            letters.len() <= 8 && letters.chars().all(|letter| letter.is_ascii_alphabetic())
        });
        DESCENDING.contains(&program)
            || cluster.is_some_and(|letters| letters.contains(['r', 'R']))
            || copies && cluster.is_some_and(|letters| letters.contains('a'))
            || word.starts_with("--recurs")
            || word == "--archive"
    })
}
