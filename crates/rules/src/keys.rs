//! The keys of a rule.

use hookexec_files::kinds::At;
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;
use hookexec_files::{section, words};
use serde_json::{Value as Json, json};

use super::uses::Touch;

section! {
    /// The keys of a rule, beside those of every hook.
    pub(super) RuleKeys<'n>, "a rule":
    deny "deny": At<'n, String>, "none", "the call is denied; the value is the reason";
    ask "ask": At<'n, String>, "none", "a person is asked; the value is the reason";
    allow "allow": At<'n, bool>, "none", "`true`: the call is allowed";
    commands "commands": Items<'n>, "all", "patterns of commands";
    targets "targets": Items<'n>, "all", "what a command deletes or changes: paths";
    files "files": Items<'n>, "all", "files and addresses that the call touches";
    touched "touched": Items<'n>, "all",
        "the use of `files` and `targets`: `read`, `write`, `edit`, `delete`; `change` is the last three";
    tools "tools": Items<'n>, "all", "names and kinds of tools";
    any "any": Sets<'n>, "none", "several sets of these keys, of which one is enough";
    except "except": SetKeys<'n>, "none", "what the rule is not for, in these keys";
    otherwise "otherwise": At<'n, Otherwise>, "no opinion",
        "with `allow`: the answer to every call that the rule concerns and does not allow";
    uncertain "uncertain": At<'n, Uncertain>, "`ask`",
        "the answer if it can't be known whether the rule applies";
}

section! {
    /// The keys of a set of conditions.
    pub(super) SetKeys<'n>, "a set of conditions":
    commands "commands": Items<'n>, "all", "patterns of commands";
    targets "targets": Items<'n>, "all", "what a command deletes or changes: paths";
    files "files": Items<'n>, "all", "files and addresses that the call touches";
    touched "touched": Items<'n>, "all", "the use of `files` and `targets`";
    tools "tools": Items<'n>, "all", "names and kinds of tools";
}

impl<'n> RuleKeys<'n> {
    /// Returns the conditions of the rule itself, then those of `any` and of `except`.
    pub(super) fn sets(mut self) -> Vec<SetKeys<'n>> {
        let mut sets = vec![self.take_own()];
        sets.extend(self.any.unwrap_or_default().0);
        sets.extend(self.except);
        sets
    }

    /// Takes the conditions of the rule itself.
    pub(super) fn take_own(&mut self) -> SetKeys<'n> {
        SetKeys {
            commands: self.commands.take(),
            targets: self.targets.take(),
            files: self.files.take(),
            touched: self.touched.take(),
            tools: self.tools.take(),
            ..SetKeys::default()
        }
    }
}

impl<'n> SetKeys<'n> {
    /// Returns its keys.
    pub(super) fn keys(&mut self) -> [&mut Option<Items<'n>>; 5] {
        let Self { commands, targets, files, touched, tools, .. } = self;
        [commands, targets, files, touched, tools]
    }

    /// Returns whether every call meets it.
    pub(super) fn is_empty(&mut self) -> bool {
        self.keys().iter().all(|key| key.is_none())
    }
}

/// A list of texts, or one.
#[derive(Default, Clone)]
pub(super) struct Items<'n>(pub(super) Vec<At<'n, String>>);

/// A list of sets of conditions.
#[derive(Default)]
pub(super) struct Sets<'n>(pub(super) Vec<SetKeys<'n>>);

/// The answer of an allow to what it does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Otherwise {
    Ask,
    Deny,
}

/// The answer of a deny or ask if it can't be known whether it applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Uncertain {
    #[default]
    Ask,
    Deny,
    None,
}

words! { Otherwise: "ask" => Self::Ask, "deny" => Self::Deny }
words! { Uncertain: "ask" => Self::Ask, "deny" => Self::Deny, "none" => Self::None }
words! { Touch:
    "read" => Self::READ, "write" => Self::WRITE, "edit" => Self::EDIT, "delete" => Self::DELETE,
    "change" => Self::CHANGE
}

impl<'n> Kind<'n> for Items<'n> {
    fn read(reader: &mut Reader, node: &'n Node<'n>, what: &str) -> Option<Self> {
        let nodes = node.one_or_many();
        if nodes.is_empty() {
            let message = format!("{what} is empty");
            return reader.refuse_with_hint(node, message, "remove it, or add an item");
        }
        let mut what = what.to_owned();
        if matches!(node.value, Value::List(_)) {
            what.insert_str(0, "an item of ");
        }
        let items: Vec<_> = nodes.iter().filter_map(|node| reader.value(node, &what)).collect();
        if items.len() == nodes.len() { Some(Self(items)) } else { None }
    }

    fn schema() -> Json {
        json!({ "anyOf": [String::schema(), <Vec<String>>::schema()] })
    }
}

impl<'n> Kind<'n> for Sets<'n> {
    fn read(reader: &mut Reader, node: &'n Node<'n>, what: &str) -> Option<Self> {
        let nodes = reader.list(node, what)?;
        if nodes.is_empty() {
            let message = format!("{what} is empty");
            return reader.refuse_with_hint(node, message, "remove it, or add a set of conditions");
        }
        let mut sets = Vec::new();
        for node in nodes {
            let Some(mut set) = reader.value::<SetKeys<'_>>(node, what) else { continue };
            if set.is_empty() {
                let hint = "remove it: every call would meet it";
                reader.error_with_hint(node, "a set of conditions is empty", hint);
            }
            sets.push(set);
        }
        if sets.len() == nodes.len() { Some(Self(sets)) } else { None }
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": SetKeys::schema() })
    }
}
