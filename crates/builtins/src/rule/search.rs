//! The files that a `find` finds where it acts on them: those of the tests before the action.

use super::arguments::Arguments;
use crate::calls::Word;

/// How deep brackets are followed.
const DEEPEST: usize = 20;

/// The names that tests narrow what is found to; `None` is everything.
type Names = Option<Vec<String>>;

/// Returns where a `find` begins, and the patterns of what it acts on there.
pub(super) fn searched(search: &Arguments<'_>, start: &str) -> Vec<(String, String)> {
    let words = search.command.words.get(1..).unwrap_or_default();
    let mut expression = Expression { words, at: 0, depth: 0, acted: Vec::new() };
    let printed = expression.any_of(&None);
    // A bracket too many: the rest is not read.
    if expression.at < words.len() {
        expression.acted.push(None);
    }
    // Without an action it prints what it finds.
    if expression.acted.is_empty() {
        expression.acted.push(printed);
    }
    let mut patterns = Vec::new();
    for names in expression.acted {
        match names {
            None => patterns.push("*".to_owned()),
            Some(names) => {
                for name in names {
                    patterns.push(format!("**/{}", name.trim_start_matches("./")));
                }
            }
        }
    }
    let mut found = Vec::new();
    for start in starts(search, start) {
        for pattern in &patterns {
            found.push((start.to_owned(), pattern.clone()));
        }
    }
    found
}

/// Returns the directories that a `find` begins in: the operands before its first test.
fn starts<'s>(search: &'s Arguments<'_>, start: &'s str) -> Vec<&'s str> {
    if !start.is_empty() {
        return vec![start];
    }
    let mut tests = search.options.iter();
    let first = tests.find(|option| !matches!(&*option.name, "-H" | "-L" | "-P"));
    let count = first.map_or(search.operands.len(), |test| test.operands_before);
    let starts: Vec<&str> =
        search.operands[..count].iter().map(|word| word.text.as_str()).collect();
    if starts.is_empty() { vec!["."] } else { starts }
}

struct Expression<'e> {
    words: &'e [Word],
    at: usize,
    depth: usize,
    /// The names that each action acts on.
    acted: Vec<Names>,
}

impl Expression<'_> {
    /// Reads tests of which one is enough, behind tests that narrow to `outer`.
    fn any_of(&mut self, outer: &Names) -> Names {
        let mut all = Some(Vec::new());
        loop {
            all = match (all, self.all_of(outer)) {
                (Some(mut all), Some(names)) => {
                    all.extend(names);
                    Some(all)
                }
                _ => None,
            };
            match self.words.get(self.at).map(|word| word.text.as_str()) {
                Some("-o" | "-or" | ",") => self.at += 1,
                _ => return all,
            }
        }
    }

    /// Reads tests that hold together, up to an `-o` or the end of the brackets.
    fn all_of(&mut self, outer: &Names) -> Names {
        let mut names = outer.clone();
        let mut is_negated = false;
        while let Some(word) = self.words.get(self.at) {
            let mut tested = None;
            match word.text.as_str() {
                "-o" | "-or" | "," | ")" => break,
                "!" | "-not" => {
                    is_negated = !is_negated;
                    self.at += 1;
                    continue;
                }
                "(" if self.depth < DEEPEST => {
                    self.at += 1;
                    self.depth += 1;
                    tested = self.any_of(&names);
                    self.depth -= 1;
                }
                "-name" | "-iname" | "-path" | "-ipath" | "-wholename" => {
                    self.at += 1;
                    tested = self.words.get(self.at).map(|name| vec![name.text.clone()]);
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    self.acted.push(names.clone());
                    let rest = &self.words[self.at..];
                    let end = rest.iter().position(|word| word.text == ";" || word.text == "+");
                    self.at += end.unwrap_or(rest.len() - 1);
                }
                "-delete" | "-print" | "-print0" | "-ls" => self.acted.push(names.clone()),
                _ => {}
            }
            self.at += 1;
            if names.is_none() && !is_negated {
                names = tested;
            }
            is_negated = false;
        }
        names
    }
}
