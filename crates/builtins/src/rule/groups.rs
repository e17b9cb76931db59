//! Groups of words and paths, which patterns name as `@name`.

use std::borrow::Cow;

use hookexec_files::suggest;

use super::limits::DEEPEST;
use super::pattern::Mistake;
use hookexec::config::Groups as OwnGroups;

/// The groups that come with the program, one a row.
pub const GROUPS: &str = include_str!("../../data/groups.txt");

include!(concat!(env!("OUT_DIR"), "/groups.rs"));

/// The groups of a hooks file, and those that come with the program.
pub(super) struct Groups<'f>(pub(super) &'f OwnGroups);

impl Groups<'_> {
    /// Returns whether a group has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some() || shipped(name).is_some()
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
        kind: ItemKind,
    ) -> Result<Vec<Cow<'static, str>>, Mistake> {
        if self.0.get(text).is_none()
            && let Some([first, ..]) = shipped(text)
            && ItemKind::of(first) != kind
        {
            let (own, wanted) = (ItemKind::of(first).name(), kind.name());
            let hint = "`hookexec docs groups` prints the groups".to_owned();
            return Err((format!("`{text}` is a group of {own}, not of {wanted}"), hint));
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
            let hint = "write the words themselves".to_owned();
            return Err((format!("the group `{text}` leads through too many groups"), hint));
        }
        if let Some(own) = self.0.get(text) {
            return own.iter().try_for_each(|item| self.add(item, depth - 1, items));
        }
        let Some(shipped) = shipped(text) else {
            let mut known: Vec<String> = self.0.names().map(str::to_owned).collect();
            known.extend(SHIPPED.iter().map(|(name, _)| (*name).to_owned()));
            let known = known.iter().map(String::as_str);
            let hint = suggest::hint_or_list(text, known, "known groups:");
            return Err((format!("unknown group `{text}`"), hint));
        };
        for item in shipped {
            if is_group(item) {
                self.add(item, depth - 1, items)?;
            } else {
                items.push(Cow::Borrowed(item));
            }
        }
        Ok(())
    }
}

/// The kind of items that a key of a rule takes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ItemKind {
    Commands,
    Paths,
    Tools,
}

impl ItemKind {
    fn of(item: &str) -> Self {
        let begins = ["/", "~", "**/", "$PROJECT", "http", "*://"];
        if item.starts_with("mcp__") {
            Self::Tools
        } else if begins.iter().any(|beginning| item.starts_with(beginning)) {
            Self::Paths
        } else {
            Self::Commands
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Commands => "commands",
            Self::Paths => "paths",
            Self::Tools => "tools",
        }
    }
}

/// Returns whether a word names a group: `@home`, but not `@-` and not `@{u}`.
pub(super) fn is_group(text: &str) -> bool {
    let name = text.strip_prefix('@').unwrap_or_default();
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
}

/// Returns the items of a group that comes with the program.
pub(super) fn shipped(name: &str) -> Option<&'static [&'static str]> {
    let (_, items) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Some(items)
}
