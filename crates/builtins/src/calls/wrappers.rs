//! Programs that run the command in their arguments: the one table of them, and how their options
//! are skipped.

use super::word::Word;

/// A program that runs another one.
struct Wrapper {
    names: &'static [&'static str],
    /// Options of one letter without a value, and those with one.
    flags: &'static str,
    valued: &'static str,
    /// Long options without a value, and those with one.
    long: &'static [&'static str],
    long_valued: &'static [&'static str],
    /// How many words stand between the options and the command.
    words: usize,
    /// Whether assignments may stand before the command.
    assigns: bool,
    /// Whether it adds words to the command that are not known.
    adds: bool,
    /// Options with which it runs nothing.
    shows: &'static str,
}

const PLAIN: Wrapper = Wrapper {
    names: &[],
    flags: "",
    valued: "",
    long: &[],
    long_valued: &[],
    words: 0,
    assigns: false,
    adds: false,
    shows: "",
};

/// An option that is not here makes the whole command uncertain.
static WRAPPERS: [Wrapper; 17] = [
    Wrapper {
        names: &["sudo"],
        flags: "AbEHnPSk",
        valued: "CDghpRrtTuU",
        long: &[
            "background", "preserve-env", "set-home", "non-interactive", "stdin", "reset-timestamp",
        ],
        long_valued: &["user", "group", "host", "prompt", "chdir", "chroot", "role", "type"],
        assigns: true,
        shows: "lVvK",
        ..PLAIN
    },
    Wrapper { names: &["doas"], flags: "n", valued: "uC", shows: "L", ..PLAIN },
    Wrapper {
        names: &["env", "genv"],
        flags: "iv0",
        valued: "uC",
        long: &["ignore-environment", "null", "debug"],
        long_valued: &["unset", "chdir"],
        assigns: true,
        ..PLAIN
    },
    Wrapper {
        names: &["timeout", "gtimeout"],
        flags: "fpv",
        valued: "sk",
        long: &["preserve-status", "foreground", "verbose"],
        long_valued: &["signal", "kill-after"],
        words: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["nice", "gnice"],
        flags: "0123456789",
        valued: "n",
        long_valued: &["adjustment"],
        ..PLAIN
    },
    Wrapper {
        names: &["nohup", "noglob", "nocorrect", "-", "builtin", "busybox", "toybox"],
        ..PLAIN
    },
    Wrapper {
        names: &["time", "gtime"],
        flags: "pvaq",
        valued: "fo",
        long: &["portability", "verbose", "append", "quiet"],
        long_valued: &["format", "output"],
        ..PLAIN
    },
    Wrapper {
        names: &["stdbuf", "gstdbuf"],
        valued: "ioe",
        long_valued: &["input", "output", "error"],
        ..PLAIN
    },
    Wrapper { names: &["setsid"], flags: "cfw", long: &["ctty", "fork", "wait"], ..PLAIN },
    Wrapper {
        names: &["ionice"],
        flags: "t",
        valued: "cn",
        long: &["ignore"],
        long_valued: &["class", "classdata"],
        shows: "pPu",
        ..PLAIN
    },
    Wrapper { names: &["chrt"], flags: "abfior", words: 1, shows: "mp", ..PLAIN },
    Wrapper { names: &["taskset"], flags: "ac", words: 1, shows: "p", ..PLAIN },
    Wrapper { names: &["command"], flags: "p", shows: "vV", ..PLAIN },
    Wrapper { names: &["exec"], flags: "cl", valued: "a", ..PLAIN },
    Wrapper { names: &["caffeinate"], flags: "dimsu", valued: "tw", ..PLAIN },
    Wrapper { names: &["chroot"], long_valued: &["userspec", "groups"], words: 1, ..PLAIN },
    Wrapper {
        names: &["xargs", "gxargs"],
        flags: "0rtpxo",
        valued: "ILnPsdEaJRS",
        long: &["null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty"],
        long_valued: &["arg-file", "delimiter", "max-args", "max-procs", "max-chars"],
        adds: true,
        ..PLAIN
    },
];

/// Programs that go through files and run the command behind one of [`RUNNING`] for each.
const SEARCHES: [&str; 3] = ["find", "gfind", "bfs"];

/// The options of [`SEARCHES`] that a command stands behind.
const RUNNING: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// A command in the words of another.
pub(super) struct Inner {
    pub(super) assignments: Vec<Word>,
    pub(super) words: Vec<Word>,
    /// Whether words that are not known are added to it.
    pub(super) more: bool,
    /// The words before it.
    before: Vec<Word>,
}

impl Inner {
    /// Returns whether the added words may become a part of the program: `find` puts them in the
    /// place of `{}`, and `xargs -I` in that of any text.
    pub(super) fn replaces(&self, program: &str) -> bool {
        let names = |word: &Word| word.text.starts_with('-') && word.text.contains(['I', 'J', 'i']);
        let mark = |word: &Word| word.text.chars().last();
        program.contains('{')
            || self.before.iter().any(names)
                && self.before.iter().filter_map(mark).any(|mark| program.contains(mark))
    }
}

/// Returns whether a program goes through files and runs a command that stands behind an option.
pub(super) fn is_search(name: &str) -> bool {
    SEARCHES.contains(&name)
}

/// Returns how many commands a call of the program `name` runs at most.
pub(super) fn most_inner(name: &str, words: &[Word]) -> usize {
    if is_search(name) {
        return words.iter().filter(|word| RUNNING.contains(&&*word.text)).count();
    }
    usize::from(WRAPPERS.iter().any(|wrapper| wrapper.names.contains(&name)))
}

/// Returns the commands that a call of the program `name` runs, which are none for most programs;
/// `None` if that is not known.
pub(super) fn inner(name: &str, all: &[Word]) -> Option<Vec<Inner>> {
    if is_search(name) {
        return Some(searched(all));
    }
    let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name)) else {
        return Some(Vec::new());
    };
    let mut rest = match options(wrapper, all)? {
        Skipped::Shows => return Some(Vec::new()),
        Skipped::Behind(rest) => rest,
    };
    let mut assignments = Vec::new();
    while let Some((word, behind)) = rest.split_first().filter(|(word, _)| {
        wrapper.assigns && word.text.split_once('=').is_some_and(|(name, _)| !name.is_empty())
    }) {
        assignments.push(word.clone());
        rest = behind;
    }
    let words = if rest.is_empty() { &[] } else { rest.get(wrapper.words..)? };
    let before = all[..all.len() - words.len()].to_vec();
    Some(vec![Inner { assignments, words: words.to_vec(), more: wrapper.adds, before }])
}

fn searched(words: &[Word]) -> Vec<Inner> {
    let runs = |word: &Word| RUNNING.contains(&&*word.text);
    let starts = words.iter().enumerate().filter(|(_, word)| runs(word)).map(|(at, _)| at + 1);
    let inner = starts.map(|start| {
        let behind = words[start..].iter();
        let words = behind.take_while(|word| !matches!(&*word.text, ";" | "+")).cloned().collect();
        Inner { assignments: Vec::new(), words, more: true, before: Vec::new() }
    });
    inner.collect()
}

enum Skipped<'w> {
    /// The options say that no command is run.
    Shows,
    /// The words behind the options.
    Behind(&'w [Word]),
}

/// Skips the options of a wrapper; `None` if one of them is not in the table.
fn options<'w>(wrapper: &Wrapper, mut words: &'w [Word]) -> Option<Skipped<'w>> {
    while let Some((word, rest)) = words.split_first() {
        let Some(option) = word.text.strip_prefix('-').filter(|option| !option.is_empty()) else {
            // It may become an option.
            return if word.is_literal() { Some(Skipped::Behind(words)) } else { None };
        };
        if !word.is_literal() {
            return None;
        }
        words = rest;
        if option == "-" {
            break;
        }
        if let Some(long) = option.strip_prefix('-') {
            let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
            if wrapper.long_valued.contains(&name) {
                words = if value.is_some() { rest } else { rest.get(1..)? };
            } else if !wrapper.long.contains(&name) {
                return None;
            }
            continue;
        }
        for (at, letter) in option.char_indices() {
            if wrapper.shows.contains(letter) {
                return Some(Skipped::Shows);
            }
            if wrapper.valued.contains(letter) {
                let attached = at + letter.len_utf8() < option.len();
                words = if attached { rest } else { rest.get(1..)? };
                break;
            }
            if !wrapper.flags.contains(letter) {
                return None;
            }
        }
    }
    Some(Skipped::Behind(words))
}
