//! One hook: its keys, and what they mean for the event it is configured for. Keys that only its type
//! knows are kept as they are written, and the type reads them when its handler is built.

use std::collections::BTreeMap;
use std::sync::Arc;

use hookexec_files::kinds::Filled;
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::{Entry, Fields, Reader};
use hookexec_files::section::Kind;
use hookexec_files::source::Location;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::condition::{Condition, Form};
use super::document::parent_of;
use super::failed::BuildError;
use super::keys::{Defaults, HookKeys};
use super::limit::RunLimit;
use super::model::{Command, Hook, InheritEnv, KeyLocations, Limits, OnError, Phase};
use crate::event::{Event, FailureMode};
use crate::matcher::Matcher;
use crate::wire::Mode;

/// The parts that a hook takes over from its place in the file.
pub(super) struct Place<'a> {
    pub(super) event: Event,
    pub(super) matcher: Matcher,
    pub(super) matcher_location: Option<Location>,
    pub(super) when: Option<Arc<Condition>>,
    pub(super) defaults: &'a Defaults<'a>,
    pub(super) groups: &'a Arc<Groups>,
}

/// The types whose keys are all known here: any other key is a mistake.
const WITHOUT_OWN_KEYS: [&str; 7] =
    ["command", "builtin", "process", "http", "mcp", "model", "receiver"];

/// The keys by which a rule is known even if its type is missing or wrong.
pub(super) const RULE_KEYS: [&str; 4] = ["deny", "ask", "allow", "commands"];

/// Reads one hook as far as it is sound; `None` when it is not a mapping.
pub(super) fn read_hook<'n>(
    reader: &mut Reader,
    node: &'n Node<'n>,
    place: &Place<'_>,
) -> Option<Hook> {
    let (mut keys, own) = read_keys(reader, node, place)?;
    let fields = std::mem::take(&mut keys.fields);
    let mut hook = Hook {
        command: hook_command(reader, &fields),
        key_locations: key_locations(reader, &fields, place),
        ..Hook::of_keys(keys, own, place, reader.location(node))
    };
    misplaced(reader, &hook, &fields);
    if fields.get("on_error").is_none()
        && let Some(wanted) = &place.defaults.on_error
    {
        hook.default_on_error(wanted.0);
    }
    Some(hook)
}

/// Reads the keys that every hook may have, and keeps those that only its type knows.
fn read_keys<'n>(
    reader: &mut Reader,
    node: &'n Node<'n>,
    place: &Place<'_>,
) -> Option<(HookKeys<'n>, OwnKeys)> {
    let kind = node.get("type");
    let name = kind.and_then(Node::as_text).unwrap_or("command");
    if WITHOUT_OWN_KEYS.contains(&name) {
        if let Some(key) = RULE_KEYS.into_iter().find(|key| node.get(key).is_some()) {
            let message = format!("a hook with `{key}` needs `type: rule`");
            let hint = format!("write `type: rule`, or remove `{key}`");
            return reader.refuse_with_hint(kind.unwrap_or(node), message, hint);
        }
        return Some((reader.value(node, "")?, OwnKeys::default()));
    }
    let mut fields = reader.open_fields(node, "a hook")?;
    let own = fields.split_off(HookKeys::NAMES);
    let own = OwnKeys::new(node, &own, Arc::clone(place.groups));
    Some((HookKeys::of(reader, fields), own))
}

/// Refuses keys that the hook's event or type has no use for.
fn misplaced(reader: &mut Reader, hook: &Hook, fields: &Fields<'_>) {
    let event = hook.event;
    let may_block = event.contract().may_block;
    if let Some(wanted @ (OnError::Block | OnError::Ask)) = hook.on_error
        && !may_block
    {
        let word = if wanted == OnError::Block { "block" } else { "ask" };
        let message = format!("`on_error: {word}` on `{event}`, which can't be blocked");
        refuse(reader, fields, "on_error", message, "use `warn` or `ignore` here");
    }
    // In the shadow its answer would not count anyway.
    if hook.phase == Phase::Background && may_block && hook.mode != Mode::Shadow {
        let hint = "a hook in the background can't block; remove `background`, or say `mode: \
                    shadow` when its answer is not wanted";
        let message = format!("`background` on `{event}`, which waits for its hooks' answers");
        refuse(reader, fields, "background", message, hint);
    }
    if hook.mode != Mode::Enforce && event == Event::Approval {
        let hint = "remove `mode`; to switch the hook off, say `enabled: false`";
        let message = format!("`mode` on `{event}`, where a person answers");
        refuse(reader, fields, "mode", message, hint);
    }
    if hook.phase == Phase::Judge && event.contract().transforms {
        let hint = "remove `mutates`, or move the hook to an event that it judges";
        let message = format!("`mutates: false` on `{event}`, which exists to rewrite");
        refuse(reader, fields, "mutates", message, hint);
    }
    if hook.limit.is_some() && !RunLimit::is_for(event.contract()) {
        let hint = "a limit never switches a guard off; to deny calls beyond a number, use the \
                    builtin `limit_calls`";
        let message = format!("`limit` on `{event}`, where a hook may be a guard");
        refuse(reader, fields, "limit", message, hint);
    }
}

fn refuse(reader: &mut Reader, fields: &Fields<'_>, key: &str, message: String, hint: &str) {
    if let Some(node) = fields.get(key) {
        reader.error_with_hint(node, message, hint);
    }
}

fn hook_command(reader: &mut Reader, fields: &Fields<'_>) -> Option<Command> {
    let Some(value) = fields.get("command") else {
        // A misspelt key is reported as such, and not as a missing command as well.
        let is_misspelt = !fields.lacks("command");
        return if is_misspelt { Some(Command::Text(String::new())) } else { None };
    };
    if matches!(value.value, Value::List(_)) {
        return Some(Command::Argv(read_argv(reader, value)?));
    }
    let Filled(text) = reader.value(value, "`command`")?;
    Some(Command::Text(text))
}

/// Reads a program and its arguments.
pub(super) fn read_argv(reader: &mut Reader, node: &Node) -> Option<Vec<String>> {
    let argv: Vec<String> = reader.value(node, "`command`")?;
    if argv.first().is_none_or(|program| program.trim().is_empty()) {
        let hint = "the first item is the program: `[python3, check.py]`";
        return reader.refuse_with_hint(node, "`command` is empty", hint);
    }
    Some(argv)
}

fn key_locations(reader: &Reader, fields: &Fields<'_>, place: &Place<'_>) -> KeyLocations {
    let mut places = Vec::new();
    if let Some(location) = &place.matcher_location {
        places.push(("matcher", location.clone()));
    }
    for (name, _, value) in fields.iter() {
        if let Some(key) = HookKeys::KEYS.iter().find(|key| key.name == name) {
            places.push((key.name, reader.location(value)));
        }
    }
    KeyLocations(places)
}

/// Joins the condition of a matcher entry with that of its hook.
fn both(outer: Option<&Arc<Condition>>, inner: Option<Condition>) -> Option<Arc<Condition>> {
    let Some(inner) = inner else { return outer.cloned() };
    Some(Arc::new(match outer {
        Some(outer) => Condition(Form::All(vec![Condition::clone(outer), inner])),
        None => inner,
    }))
}

impl Kind<'_> for InheritEnv {
    const SCHEMA: &'static str = r##"{ "$ref": "#/definitions/inherit_env" }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        match &node.value {
            Value::Bool(true) => Some(Self::All),
            Value::Bool(false) => Some(Self::None),
            Value::List(_) => Some(Self::Only(reader.value(node, what)?)),
            _ => {
                let hint = "`true`, `false` or a list of names: `[PATH, HOME]`";
                reader.refuse_with_hint(node, format!("{what} can't be {}", node.kind()), hint)
            }
        }
    }
}

/// The `groups:` of a file, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups(BTreeMap<String, Vec<String>>);

/// The keys of one hook that only its type knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OwnKeys {
    mapping: Option<Arc<Node<'static>>>,
    groups: Arc<Groups>,
}

impl OwnKeys {
    pub(super) fn new(hook: &Node, entries: &[Entry<'_>], groups: Arc<Groups>) -> Self {
        let mut own = Vec::with_capacity(entries.len());
        for (_, key, value) in entries {
            own.push((key.to_static(), value.to_static()));
        }
        let value = Value::Map(own);
        let mapping = Some(Arc::new(Node { value, span: hook.span.clone() }));
        Self { mapping, groups }
    }
}

impl Groups {
    /// Returns the items of a group that the file of the hook defines.
    pub fn get(&self, name: &str) -> Option<&[String]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Returns the names of the groups.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl Hook {
    /// Returns a hook of the given event and type with every setting at its default.
    pub fn new(event: Event, kind: impl Into<String>, command: Command) -> Self {
        let (defaults, groups) = (Defaults::default(), Arc::default());
        let place = Place {
            event,
            matcher: Matcher::everything(),
            matcher_location: None,
            when: None,
            defaults: &defaults,
            groups: &groups,
        };
        let (keys, own) = (HookKeys::default(), OwnKeys::default());
        let hook = Self::of_keys(keys, own, &place, Location::default());
        Self { kind: kind.into(), command: Some(command), ..hook }
    }

    /// Returns the hook that has these keys, but for its command.
    fn of_keys(keys: HookKeys<'_>, own: OwnKeys, place: &Place<'_>, location: Location) -> Self {
        let defaults = place.defaults;
        let phase = match (keys.background, keys.mutates) {
            (Some(true), _) => Phase::Background,
            (_, Some(true)) => Phase::Mutate,
            (_, Some(false)) => Phase::Judge,
            (_, None) => Phase::Validate,
        };
        let size = keys.max_output.as_ref().or(defaults.max_output.as_ref());
        let environment = keys.inherit_env.or_else(|| defaults.inherit_env.clone());
        Self {
            event: place.event,
            matcher: place.matcher.clone(),
            kind: keys.kind.map(|text| text.0).unwrap_or_default(),
            command: None,
            args: keys.args.unwrap_or_default(),
            name: keys.name.map(|text| text.0),
            timeout: keys.timeout.or(defaults.timeout).unwrap_or(Self::DEFAULT_TIMEOUT),
            env: keys.env.unwrap_or_default(),
            working_dir: keys.working_dir.map(|text| text.0),
            shell: keys.shell.or_else(|| defaults.shell.clone()).map(|text| text.0),
            inherit_env: environment.unwrap_or_default(),
            max_output: size.map_or(Self::DEFAULT_MAX_OUTPUT, |size| size.0),
            on_error: keys.on_error,
            on_exit_code: None,
            strict_output: keys.strict_output.unwrap_or_default(),
            phase,
            enabled: keys.enabled.unwrap_or(true),
            limit: keys.limit,
            mode: keys.mode.unwrap_or_default(),
            dialect: keys.dialect,
            side_effects: keys.side_effects.unwrap_or_default(),
            when: both(place.when.as_ref(), keys.when),
            with: keys.with,
            own,
            limits: Limits::none(),
            scripts: keys.scripts.unwrap_or_default(),
            untrusted: None,
            location,
            key_locations: KeyLocations::default(),
        }
    }

    /// Applies `defaults.on_error`, which can only make an event stricter.
    ///
    /// Where the event can't do what the default asks for, a failure is a warning.
    pub(super) fn default_on_error(&mut self, wanted: OnError) {
        let contract = self.event.contract();
        match (wanted, contract.failure) {
            (OnError::Block, _) if contract.may_block => {
                self.on_error = Some(OnError::Block);
            }
            // A failure is a denial already; only exit codes become stricter.
            (OnError::Ask, FailureMode::Closed) => self.on_exit_code = Some(OnError::Ask),
            (OnError::Ask, _) if contract.may_block => self.on_error = Some(OnError::Ask),
            (_, FailureMode::Open) => self.on_error = Some(OnError::Warn),
            _ => {}
        }
    }

    /// Reads the keys of the hook's type with `read`, for example as a mapping that
    /// `hookexec_files::section` declares.
    ///
    /// # Errors
    /// All mistakes that the reader was told, each at its place.
    pub fn read_own_keys<'h, T>(
        &'h self,
        read: impl FnOnce(&mut Reader, &'h Node<'h>) -> Option<T>,
    ) -> Result<T, BuildError> {
        static NONE: Node<'static> = Node { value: Value::Map(Vec::new()), span: 0..0 };
        let mut reader = Reader::new(Arc::clone(self.location.file()));
        let value = read(&mut reader, self.own.mapping.as_deref().unwrap_or(&NONE));
        reader.finish(value).map_err(BuildError::of_problems)
    }

    /// Reads the parameters in `with`; without it they are an empty object.
    ///
    /// # Errors
    /// The mistakes that serde finds in them, at `with`.
    pub fn parameters<P: DeserializeOwned>(&self) -> Result<P, BuildError> {
        let with = self.with.clone().unwrap_or_else(|| json!({}));
        P::deserialize(with).map_err(|error| BuildError::new(format!("`with`: {error}")).at("with"))
    }

    /// Returns the names of the keys that are written, first those that only the hook's type knows.
    pub fn written_keys(&self) -> impl Iterator<Item = &str> {
        let own = self.own.mapping.as_deref().and_then(Node::as_map).unwrap_or_default();
        let own = own.iter().filter_map(|(key, _)| key.as_text());
        own.chain(self.key_locations.0.iter().map(|(key, _)| *key))
    }

    /// Returns the groups that the hook's file defines.
    pub fn groups(&self) -> &Groups {
        &self.own.groups
    }

    /// Returns the mistakes of the keys that a hook of its type does not take. `known` are those that
    /// it takes.
    pub(crate) fn unknown_own_keys(&self, known: &[&str]) -> Option<BuildError> {
        let mapping = self.own.mapping.as_deref()?;
        let mut reader = Reader::new(Arc::clone(self.location.file()));
        reader.parent_of = parent_of;
        let known = [HookKeys::NAMES, known].concat();
        let fields = reader.fields(mapping, "a hook", &known);
        reader.finish(fields).err().map(BuildError::of_problems)
    }
}

impl Kind<'_> for Groups {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let mut groups = BTreeMap::new();
        for (name, key, value) in reader.open_fields(node, what)?.iter() {
            if !name.starts_with('@') || name.len() < 2 {
                let hint = format!("write `\"@{}\"`", name.trim_start_matches('@'));
                reader.error_with_hint(key, format!("the group `{name}` needs an `@`"), hint);
            }
            groups.insert(name.to_owned(), reader.value(value, &format!("`{name}`"))?);
        }
        Some(Self(groups))
    }

    fn schema() -> serde_json::Value {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^@." },
            "additionalProperties": <Vec<String>>::schema()
        })
    }
}
