//! One hook: its keys, and what they mean for the event it is configured for.

use std::sync::Arc;

use super::condition::Condition;
use super::defaults::Defaults;
use super::diagnostic::Diagnostic;
use super::model::{Command, Hook, InheritEnv, OnError, SideEffects};
use super::node::{Node, Value};
use super::reader::{Fields, Reader};
use super::source::KeyLocations;
use crate::dialect::Dialect;
use crate::event::{Contract, Event, FailureMode};
use crate::matcher::Matcher;
use crate::wire::Mode;

/// The keys of a hook.
pub(super) const KEYS: [&str; 21] = [
    "type",
    "command",
    "args",
    "name",
    "timeout",
    "env",
    "working_dir",
    "shell",
    "inherit_env",
    "max_output",
    "on_error",
    "strict_output",
    "mutates",
    "background",
    "enabled",
    "mode",
    "dialect",
    "side_effects",
    "when",
    "with",
    "scripts",
];

/// The values of `mode`.
pub(super) const MODE: [(&str, Mode); 3] =
    [("enforce", Mode::Enforce), ("warn", Mode::Warn), ("shadow", Mode::Shadow)];

/// The values of `side_effects`.
pub(super) const SIDE_EFFECTS: [(&str, SideEffects); 3] = [
    ("none", SideEffects::None),
    ("idempotent", SideEffects::Idempotent),
    ("external", SideEffects::External),
];

/// The values of `on_error`.
pub(super) const ON_ERROR: [(&str, OnError); 4] = [
    ("block", OnError::Block),
    ("ask", OnError::Ask),
    ("warn", OnError::Warn),
    ("ignore", OnError::Ignore),
];

/// The hook types that come with the crate.
pub(super) const SHIPPED_TYPES: [&str; 3] = ["command", "builtin", "process"];

/// What a hook takes over from where it stands.
pub(super) struct Place<'a> {
    pub(super) event: Event,
    pub(super) matcher: Matcher,
    pub(super) when: Option<Arc<Condition>>,
    pub(super) defaults: &'a Defaults,
}

impl Reader {
    /// Reads one hook; `None` when it is broken, which is reported.
    pub(super) fn hook(&mut self, node: &Node, place: &Place<'_>) -> Option<Hook> {
        let errors = self.errors();
        if self.of_docker_agent(node) {
            return None;
        }
        let fields = self.fields(node, "a hook", &KEYS)?;
        let contract = place.event.contract();
        let defaults = place.defaults;

        if fields.lacks("type") {
            self.error_with_hint(
                node,
                "a hook needs a `type`",
                "add `type: command`, `type: builtin` or `type: process`",
            );
        }
        let kind = fields.get("type").and_then(|value| self.filled_text(value, "`type`"));
        let kind = kind.unwrap_or_default();
        let mut hook = Hook {
            matcher: place.matcher.clone(),
            command: self.hook_command(node, &fields, &kind),
            location: self.location(node),
            key_locations: self.key_locations(&fields),
            inherit_env: defaults.inherit_env.clone().unwrap_or_default(),
            ..Hook::new(place.event, kind, Command::Text(String::new()))
        };
        for (name, _, value) in fields.iter() {
            match name {
                "args" => hook.args = self.texts(value, "`args`").unwrap_or_default(),
                "name" => hook.name = self.filled_text(value, "`name`"),
                "env" => hook.env = self.environment(value).unwrap_or_default(),
                "working_dir" => hook.working_dir = self.filled_text(value, "`working_dir`"),
                "shell" => hook.shell = self.filled_text(value, "`shell`"),
                "inherit_env" => {
                    hook.inherit_env = self.inherit_env(value).unwrap_or_default();
                }
                "strict_output" => {
                    hook.strict_output = self.boolean(value, "`strict_output`").unwrap_or_default();
                }
                "mutates" => hook.mutates = self.boolean(value, "`mutates`").unwrap_or_default(),
                "enabled" => hook.enabled = self.boolean(value, "`enabled`").unwrap_or_default(),
                "mode" => hook.mode = self.choice(value, "`mode`", &MODE).unwrap_or_default(),
                "side_effects" => {
                    let wanted = self.choice(value, "`side_effects`", &SIDE_EFFECTS);
                    hook.side_effects = wanted.unwrap_or_default();
                }
                "scripts" => hook.scripts = self.texts(value, "`scripts`").unwrap_or_default(),
                "with" => hook.with = self.hook_parameters(value, &hook.kind),
                _ => {}
            }
        }
        hook.shell = hook.shell.or_else(|| defaults.shell.clone());
        hook.timeout = self
            .optional(&fields, "timeout", Self::duration)
            .or(defaults.timeout)
            .unwrap_or(Hook::DEFAULT_TIMEOUT);
        hook.max_output = self
            .optional(&fields, "max_output", Self::size)
            .or(defaults.max_output)
            .unwrap_or(Hook::DEFAULT_MAX_OUTPUT);
        hook.dialect = self.dialect(&fields, contract, &hook.kind);
        hook.background = self.background(&fields, contract, hook.mode);
        match (fields.get("on_error"), defaults.on_error) {
            (Some(value), _) => hook.on_error = self.on_error(value, contract),
            (None, Some(wanted)) => hook.default_on_error(wanted),
            (None, None) => {}
        }
        hook.when = self.both_conditions(&fields, place.when.as_ref());
        if self.errors() == errors {
            return Some(hook);
        }
        self.broken_hooks.push(hook);
        None
    }

    /// Refuses a hook of a type that only docker-agent has; its keys would each be a mistake here.
    fn of_docker_agent(&mut self, node: &Node) -> bool {
        let entries = node.as_map().unwrap_or_default();
        let named = |name: &str| entries.iter().find(|(key, _)| key.as_text() == Some(name));
        let Some((_, value)) = named("type") else { return false };
        let kind = value.as_text().filter(|kind| ["model", "evaluator"].contains(kind));
        // A program may have registered a type of this name, with its parameters in `with`.
        let Some(kind) = kind.filter(|kind| named(kind).is_some()) else { return false };
        self.error_with_hint(
            value,
            format!("only docker-agent runs hooks of type `{kind}`, so this file is refused"),
            "remove the hook from the file that hookexec reads, or write a `command` in its place",
        );
        true
    }

    fn optional<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        read: impl Fn(&mut Self, &Node, &str) -> Option<T>,
    ) -> Option<T> {
        read(self, fields.get(key)?, &format!("`{key}`"))
    }

    fn hook_command(&mut self, node: &Node, fields: &Fields<'_>, kind: &str) -> Option<Command> {
        let Some(value) = fields.get("command") else {
            // A host's own type may need nothing but `with`.
            let needed = kind.is_empty() || SHIPPED_TYPES.contains(&kind);
            if needed && fields.lacks("command") {
                let wanted = match kind {
                    "builtin" => "the name of the builtin: `command: protect_paths`",
                    "process" => "the name of an entry of `processes:`: `command: weather`",
                    _ => "what to run: `command: ./check.sh` or `command: [python3, check.py]`",
                };
                self.error_with_hint(node, "a hook needs a `command`", format!("add {wanted}"));
            }
            return None;
        };
        if !matches!(value.value, Value::List(_)) {
            if kind == "command" {
                self.cut_command(value);
            }
            return self.filled_text(value, "`command`").map(Command::Text);
        }
        if kind == "builtin" || kind == "process" {
            self.error_with_hint(
                value,
                format!("the `command` of a {kind} hook is a name, not a list"),
                "what it takes goes into `args`",
            );
            return None;
        }
        let argv = self.texts(value, "`command`")?;
        if argv.first().is_none_or(|program| program.trim().is_empty()) {
            self.error_with_hint(
                value,
                "`command` is empty",
                "the first item is the program: `[python3, check.py]`",
            );
            return None;
        }
        Some(Command::Argv(argv))
    }

    /// Warns of a command that YAML ends in the middle of a quoted text, at what it takes for a
    /// comment.
    fn cut_command(&mut self, node: &Node) {
        let Some(text) = node.as_text() else { return };
        let (written, rest) = self.line_from(node);
        if written == text && rest.trim_start().starts_with('#') && has_open_quote(text) {
            let problem = Diagnostic::warning("YAML ends this command before the ` #`");
            let hint = "put the whole command in quotes, or write it below `command: |`";
            self.report(node, problem.hint(hint));
        }
    }

    fn hook_parameters(&mut self, value: &Node, kind: &str) -> Option<serde_json::Value> {
        if SHIPPED_TYPES.contains(&kind) {
            self.error_with_hint(
                value,
                format!("`with` has no meaning for a {kind} hook"),
                "it holds the parameters of hook types that a program registers; use `args`",
            );
            return None;
        }
        self.json(value)
    }

    /// Reads `inherit_env`: `true`, `false` or a list of names.
    pub(super) fn inherit_env(&mut self, node: &Node) -> Option<InheritEnv> {
        match &node.value {
            Value::Bool(true) => Some(InheritEnv::All),
            Value::Bool(false) => Some(InheritEnv::None),
            Value::List(_) => self.texts(node, "`inherit_env`").map(InheritEnv::Only),
            _ => {
                self.error_with_hint(
                    node,
                    format!("`inherit_env` can't be {}", node.kind()),
                    "`true`, `false` or a list of names: `[PATH, HOME]`",
                );
                None
            }
        }
    }

    fn background(&mut self, fields: &Fields<'_>, contract: &Contract, mode: Mode) -> bool {
        let Some(value) = fields.get("background") else { return false };
        let background = self.boolean(value, "`background`").unwrap_or_default();
        // In the shadow its answer would not count anyway.
        if background && contract.may_block && mode != Mode::Shadow {
            self.error_with_hint(
                value,
                format!("`background` on `{}`, which waits for its hooks' answers", contract.event),
                "a hook in the background can't block; remove `background`, or say `mode: shadow` when its answer is not wanted",
            );
        }
        background
    }

    fn dialect(&mut self, fields: &Fields<'_>, contract: &Contract, kind: &str) -> Option<Dialect> {
        let value = fields.get("dialect")?;
        let dialect = self.choice(value, "`dialect`", &Dialect::NAMES)?;
        if kind != "command" {
            self.error_with_hint(
                value,
                format!("`dialect` has no meaning for a {kind} hook"),
                "it is for the scripts of command hooks",
            );
        } else if !dialect.knows(contract.event) {
            self.error_with_hint(
                value,
                format!("{} has no event for `{}`", dialect.title(), contract.event),
                "without `dialect` the hook reads what docs/events.md says",
            );
        }
        Some(dialect)
    }

    /// Reads the hook's own `on_error`.
    fn on_error(&mut self, value: &Node, contract: &Contract) -> Option<OnError> {
        let wanted = self.choice(value, "`on_error`", &ON_ERROR)?;
        if !contract.may_block && matches!(wanted, OnError::Block | OnError::Ask) {
            let word = if wanted == OnError::Block { "block" } else { "ask" };
            self.error_with_hint(
                value,
                format!("`on_error: {word}` on `{}`, which can't be blocked", contract.event),
                "use `warn` or `ignore` here",
            );
            return None;
        }
        Some(wanted)
    }

    fn key_locations(&self, fields: &Fields<'_>) -> KeyLocations {
        let known = |name: &str| KEYS.iter().copied().find(|key| *key == name);
        fields
            .iter()
            .filter_map(|(name, _, value)| Some((known(name)?, self.location(value))))
            .collect()
    }

    fn both_conditions(
        &mut self,
        fields: &Fields<'_>,
        outer: Option<&Arc<Condition>>,
    ) -> Option<Arc<Condition>> {
        let inner = fields.get("when").and_then(|value| self.condition(value)).map(Arc::new);
        match (outer, inner) {
            (Some(outer), Some(inner)) => {
                let parts = vec![Condition::clone(outer), Condition::clone(&inner)];
                Some(Arc::new(Condition::All(parts)))
            }
            (outer, inner) => inner.or_else(|| outer.cloned()),
        }
    }
}

/// Returns whether a shell would look for the end of a quoted text behind `text`.
fn has_open_quote(text: &str) -> bool {
    let mut open = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (open, letter) {
            (Some('\''), '\\') => {}
            (_, '\\') => drop(letters.next()),
            (None, '"' | '\'') => open = Some(letter),
            (Some(quote), _) if quote == letter => open = None,
            _ => {}
        }
    }
    open.is_some()
}

impl Hook {
    /// Applies `defaults.on_error`, which can only make an event stricter.
    ///
    /// Where the event can't do what the default asks for, a failure is a warning.
    pub(super) fn default_on_error(&mut self, wanted: OnError) {
        let contract = self.event.contract();
        match (wanted, contract.failure) {
            (OnError::Block, _) if contract.may_block => self.on_error = Some(OnError::Block),
            // A failure is a denial already; only exit codes become stricter.
            (OnError::Ask, FailureMode::Closed) => self.on_exit_code = Some(OnError::Ask),
            (OnError::Ask, _) if contract.may_block => self.on_error = Some(OnError::Ask),
            (OnError::Ignore, FailureMode::Open) => self.on_error = Some(OnError::Ignore),
            (_, FailureMode::Open) => self.on_error = Some(OnError::Warn),
            _ => {}
        }
    }
}
