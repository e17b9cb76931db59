//! Groups of words and paths, which patterns name as `@name`.

use std::borrow::Cow;

use hookexec_calls::limits::DEEPEST;
use hookexec_files::suggest;

use super::pattern::{Mistake, mistake};
use hookexec::config::Groups as OwnGroups;

/// The groups that come with the program, one a row.
pub const GROUPS: &str = include_str!("../data/groups.txt");

include!(concat!(env!("OUT_DIR"), "/groups.rs"));

/// The groups of a hooks file, and those that come with the program.
pub(super) struct Groups<'f>(pub(super) &'f OwnGroups);

impl Groups<'_> {
    /// Returns whether a group has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some() || shipped(name).is_some()
    }

    /// Returns whether a group of the hooks file stands in the place of a shipped one.
    pub(super) fn replace_shipped_ones(&self) -> bool {
        self.0.names().any(|name| shipped(name).is_some())
    }

    /// Returns the items of a group, or `text` itself if it names none.
    pub(super) fn expanded(&self, text: &str) -> Result<Vec<Cow<'static, str>>, Mistake> {
        let mut items = Vec::new();
        self.add(text, DEEPEST, &mut items)?;
        Ok(items)
    }

    /// Returns the items of a group, or `text` itself, for a list of this kind; a shipped group of another
    /// kind fits nothing there.
    pub(super) fn of_kind(
        &self,
        text: &str,
        wanted: &str,
    ) -> Result<Vec<Cow<'static, str>>, Mistake> {
        if self.0.get(text).is_none()
            && let Some([first, ..]) = shipped(text)
            && kind_of(first) != wanted
        {
            let message = format!("`{text}` is a group of {}, not of {wanted}", kind_of(first));
            return mistake(message, "`hookexec docs groups` prints the groups");
        }
        self.expanded(text)
    }

    fn add(
        &self,
        text: &str,
        depth: usize,
        items: &mut Vec<Cow<'static, str>>,
    ) -> Result<(), Mistake> {
        if !is_group(text) {
            items.push(Cow::Owned(text.to_owned()));
            return Ok(());
        }
        if depth == 0 {
            let message = format!("the group `{text}` leads through too many groups");
            return mistake(message, "write the words themselves");
        }
        if let Some(own) = self.0.get(text) {
            for item in own {
                self.add(item, depth - 1, items)?;
            }
        } else if let Some(shipped) = shipped(text) {
            items.reserve(shipped.len());
            for item in shipped {
                if is_group(item) {
                    self.add(item, depth - 1, items)?;
                } else {
                    items.push(Cow::Borrowed(item));
                }
            }
        } else {
            let mut known: Vec<&str> = self.0.names().collect();
            known.extend(SHIPPED.iter().map(|(name, _)| *name));
            let hint = suggest::hint_or_list(text, known, "known groups:");
            return mistake(format!("unknown group `{text}`"), hint);
        }
        Ok(())
    }
}

/// Returns the key of a rule that takes an item of a shipped group.
fn kind_of(item: &str) -> &'static str {
    let begins = ["/", "~", "**/", "$PROJECT", "http", "*://"];
    if item.starts_with("mcp__") {
        "tools"
    } else if begins.iter().any(|beginning| item.starts_with(beginning)) {
        "paths"
    } else {
        "commands"
    }
}

/// Returns whether a word names a group: `@home`, but not `@-` and not `@{u}`.
pub(super) fn is_group(text: &str) -> bool {
    let name = text.strip_prefix('@').unwrap_or_default();
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && !name.contains(|letter: char| !letter.is_ascii_alphanumeric() && !"-_".contains(letter))
}

/// Returns the items of a group that comes with the program.
pub(super) fn shipped(name: &str) -> Option<&'static [&'static str]> {
    let (_, items) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Pattern, WORDS};

    #[test]
    fn all_shipped_patterns_can_be_read() {
        let own = OwnGroups::default();
        let groups = Groups(&own);
        let mut count = 0;
        for (name, _) in SHIPPED {
            let Ok(patterns) = groups.of_kind(name, "commands") else { continue };
            // A group of words is refused for the first one that can't be a program.
            if patterns.iter().any(|written| written.starts_with(WORDS)) {
                continue;
            }
            for written in patterns {
                let pattern = Pattern::parse(&written, &groups).unwrap();
                pattern.check_subcommand().unwrap();
                count += 1;
            }
        }
        assert!(count > 500, "{count}");
    }
}
