//! The pages of the shipped builtins: what documentation and `hookexec docs builtins` say of each.
//!
//! A page is a file in `pages/` with four parts, divided by lines of `---`: what the builtin does,
//! in one line; its arguments; a hook that uses it; and what there is to know beyond that, in
//! Markdown. Each argument is a line as it is written, in brackets if it may be left out, and an
//! indented text.

use serde::Serialize;

use super::Shipped;

/// An argument of a shipped builtin.
#[derive(Debug, Serialize)]
pub struct Argument {
    /// How it is written: `N`, `GLOB...`, `--depth=N`.
    pub usage: &'static str,
    /// Whether it may be left out.
    pub optional: bool,
    /// Its meaning.
    pub about: String,
}

impl Shipped {
    /// Returns what it does, in one line.
    pub fn about(&self) -> &'static str {
        self.part(0)
    }

    /// Returns its arguments, in order.
    pub fn arguments(&self) -> Vec<Argument> {
        let mut arguments: Vec<Argument> = Vec::new();
        for line in self.part(1).lines() {
            if let (Some(text), Some(last)) = (line.strip_prefix("    "), arguments.last_mut()) {
                let space = if last.about.is_empty() { "" } else { " " };
                last.about.extend([space, text]);
                continue;
            }
            let usage = line.trim_start_matches('[').trim_end_matches(']');
            let optional = usage.len() < line.len();
            arguments.push(Argument { usage, optional, about: String::new() });
        }
        arguments
    }

    /// Returns a hook that uses it, in YAML.
    pub fn example(&self) -> &'static str {
        self.part(2)
    }

    /// Returns what there is to know beyond that, in Markdown.
    pub fn details(&self) -> &'static str {
        self.part(3)
    }

    /// Returns how it is called: its name and its arguments.
    pub fn usage(&self) -> String {
        let mut usage = self.name.to_owned();
        for line in self.part(1).lines() {
            if !line.starts_with(' ') {
                usage.extend([" ", line]);
            }
        }
        usage
    }

    fn part(&self, place: usize) -> &'static str {
        self.page.splitn(4, "---\n").nth(place).unwrap_or_default().trim_end()
    }
}
