//! The pages of the shipped builtins: what documentation and `hookexec docs builtins` say of each.
//!
//! A page is a file in `pages/` with four parts, divided by lines of `---`: what the builtin does,
//! in one line; its arguments; a hook that uses it; and what there is to know beyond that, in
//! Markdown. Each argument is a line as it is written, in brackets if it may be left out, and an
//! indented text.

use super::Shipped;

impl Shipped {
    /// Returns what it does, in one line.
    pub fn about(&self) -> &'static str {
        self.part(0)
    }

    /// Returns its arguments: a line for each, and its meaning in indented ones.
    pub fn arguments(&self) -> &'static str {
        self.part(1)
    }

    /// Returns a hook that uses it, in YAML.
    pub fn example(&self) -> &'static str {
        self.part(2)
    }

    /// Returns what there is to know beyond that, in Markdown.
    pub fn details(&self) -> &'static str {
        self.part(3)
    }

    fn part(&self, place: usize) -> &'static str {
        self.page.splitn(4, "---\n").nth(place).unwrap_or_default().trim_end()
    }
}
