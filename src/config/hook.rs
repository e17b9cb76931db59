//! One hook: its keys, and what they mean for the event it is configured for.

use std::sync::Arc;

use super::condition::{Condition, Rule};
use super::diagnostic::Diagnostic;
use super::keys::{Defaults, HookKeys};
use super::kinds::Filled;
use super::limit::RunLimit;
use super::model::{Command, Hook, InheritEnv, Limits, OnError, Phase};
use super::node::{Node, Value};
use super::reader::{Fields, Reader};
use super::section::Kind;
use super::source::KeyLocations;
use crate::event::{Event, FailureMode};
use crate::matcher::Matcher;
use crate::wire::Mode;

/// What a hook takes over from where it stands.
pub(super) struct Place<'a> {
    pub(super) event: Event,
    pub(super) matcher: Matcher,
    pub(super) when: Option<Arc<Condition>>,
    pub(super) defaults: &'a Defaults<'a>,
}

impl Reader {
    /// Reads one hook; `None` when it is broken, which is reported.
    pub(super) fn hook(&mut self, node: &Node, place: &Place<'_>) -> Option<Hook> {
        let errors = self.errors();
        let mut keys: HookKeys<'_> = self.value(node, "")?;
        let fields = std::mem::take(&mut keys.fields);
        if fields.lacks("type") {
            let hint = "add `type:` with `command`, `builtin`, `process`, `http`, `mcp` or `model`";
            self.error_with_hint(node, "a hook needs a `type`", hint);
        }
        let kind = keys.kind.map(|kind| kind.0).unwrap_or_default();
        let command = self.hook_command(&fields);
        let (text, defaults) = (|text: Option<Filled>| text.map(|text| text.0), place.defaults);
        let phase = match (keys.background, keys.mutates) {
            (Some(true), _) => Phase::Background,
            (_, Some(true)) => Phase::Mutate,
            (_, Some(false)) => Phase::Judge,
            (_, None) => Phase::Validate,
        };
        let size = keys.max_output.as_ref().or(defaults.max_output.as_ref());
        let environment = keys.inherit_env.or_else(|| defaults.inherit_env.clone());
        let mut hook = Hook {
            event: place.event,
            matcher: place.matcher.clone(),
            kind,
            command,
            args: keys.args.unwrap_or_default(),
            name: text(keys.name),
            timeout: keys.timeout.or(defaults.timeout).unwrap_or(Hook::DEFAULT_TIMEOUT),
            env: keys.env.unwrap_or_default(),
            working_dir: text(keys.working_dir),
            shell: text(keys.shell).or_else(|| defaults.shell.as_ref().map(|it| it.0.clone())),
            inherit_env: environment.unwrap_or_default(),
            max_output: size.map_or(Hook::DEFAULT_MAX_OUTPUT, |it| it.0),
            on_error: keys.on_error,
            on_exit_code: None,
            strict_output: keys.strict_output.unwrap_or_default(),
            phase,
            enabled: keys.enabled.unwrap_or(true),
            limit: keys.limit,
            mode: keys.mode.unwrap_or_default(),
            rollout: keys.rollout,
            dialect: keys.dialect,
            side_effects: keys.side_effects.unwrap_or_default(),
            when: both(place.when.as_ref(), keys.when),
            with: keys.with,
            limits: Limits::none(),
            scripts: keys.scripts.unwrap_or_default(),
            untrusted: None,
            location: self.location(node),
            key_locations: self.key_locations(&fields),
        };
        self.misplaced(&hook, &fields);
        if fields.get("on_error").is_none()
            && let Some(wanted) = &defaults.on_error
        {
            hook.default_on_error(wanted.value);
        }
        if self.errors() == errors {
            return Some(hook);
        }
        self.broken_hooks.push(hook);
        None
    }

    /// Refuses keys that the hook's event or type has no use for.
    fn misplaced(&mut self, hook: &Hook, fields: &Fields<'_>) {
        let event = hook.event;
        let may_block = event.contract().may_block;
        let mut refuse = |key: &str, message: String, hint: &str| {
            if let Some(node) = fields.get(key) {
                self.error_with_hint(node, message, hint);
            }
        };
        if let Some(wanted @ (OnError::Block | OnError::Ask)) = hook.on_error
            && !may_block
        {
            let word = if wanted == OnError::Block { "block" } else { "ask" };
            let message = format!("`on_error: {word}` on `{event}`, which can't be blocked");
            refuse("on_error", message, "use `warn` or `ignore` here");
        }
        // In the shadow its answer would not count anyway.
        if hook.phase == Phase::Background && may_block && hook.mode != Mode::Shadow {
            refuse(
                "background",
                format!("`background` on `{event}`, which waits for its hooks' answers"),
                "a hook in the background can't block; remove `background`, or say `mode: shadow` \
                 when its answer is not wanted",
            );
        }
        if hook.mode != Mode::Enforce && event == Event::Approval {
            refuse(
                "mode",
                format!("`mode` on `{event}`, where a person answers"),
                "remove `mode`; to switch the hook off, say `enabled: false`",
            );
        }
        if hook.rollout.is_some() {
            if event == Event::Approval {
                let message = format!("`rollout` on `{event}`, where a person answers");
                refuse("rollout", message, "remove `rollout`");
            }
            if fields.get("mode").is_some() {
                let hint = "remove `mode`: the answer counts on this part of the machines, and the \
                            hook is in shadow on the others";
                refuse("rollout", "`rollout` beside `mode`".to_owned(), hint);
            }
            if hook.name.is_none() {
                let hint = "add `name: no-rm`: the name decides which machines come first";
                refuse("rollout", "a hook with `rollout` needs a `name`".to_owned(), hint);
            }
        }
        if hook.phase == Phase::Judge && event.contract().transforms {
            let message = format!("`mutates: false` on `{event}`, which exists to rewrite");
            refuse(
                "mutates",
                message,
                "remove `mutates`, or move the hook to an event that it judges",
            );
        }
        if hook.limit.is_some() && !RunLimit::is_for(event.contract()) {
            refuse(
                "limit",
                format!("`limit` on `{event}`, where a hook may be a guard"),
                "a limit never switches a guard off; to deny calls beyond a number, use the builtin \
                 `limit_calls`",
            );
        }
    }

    fn hook_command(&mut self, fields: &Fields<'_>) -> Option<Command> {
        let Some(value) = fields.get("command") else {
            // A misspelt key is reported as such, and not as a missing command as well.
            let is_misspelt = !fields.lacks("command");
            return if is_misspelt { Some(Command::Text(String::new())) } else { None };
        };
        if !matches!(value.value, Value::List(_)) {
            self.cut_command(value);
            return Filled::read(self, value, "`command`").map(|text| Command::Text(text.0));
        }
        let hint = "the first item is the program: `[python3, check.py]`";
        self.argv(value, Some(hint)).map(Command::Argv)
    }

    /// Reads a program and its arguments.
    pub(super) fn argv(&mut self, node: &Node, hint: Option<&str>) -> Option<Vec<String>> {
        let argv = Vec::<String>::read(self, node, "`command`")?;
        if argv.first().is_none_or(|program| program.trim().is_empty()) {
            let problem = Diagnostic::error("`command` is empty");
            self.report(node, Diagnostic { hint: hint.map(str::to_owned), ..problem });
            return None;
        }
        Some(argv)
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

    fn key_locations(&self, fields: &Fields<'_>) -> KeyLocations {
        let known = |name: &str| HookKeys::KEYS.iter().find(|key| key.name == name);
        let place = |(name, _, value)| Some((known(name)?.name, self.location(value)));
        KeyLocations(fields.iter().filter_map(place).collect())
    }
}

/// Joins the condition of a matcher entry with that of its hook.
fn both(outer: Option<&Arc<Condition>>, inner: Option<Rule>) -> Option<Arc<Condition>> {
    match (outer, inner) {
        (Some(outer), Some(inner)) => {
            Some(Arc::new(Condition(Rule::All(vec![outer.0.clone(), inner]))))
        }
        (outer, inner) => inner.map(Condition).map(Arc::new).or_else(|| outer.cloned()),
    }
}

impl Kind<'_> for InheritEnv {
    const SCHEMA: &'static str = r##"{ "$ref": "#/definitions/inherit_env" }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        match &node.value {
            Value::Bool(true) => Some(Self::All),
            Value::Bool(false) => Some(Self::None),
            Value::List(_) => reader.value(node, what).map(Self::Only),
            _ => {
                let hint = "`true`, `false` or a list of names: `[PATH, HOME]`";
                reader.refuse_with_hint(node, format!("{what} can't be {}", node.kind()), hint)
            }
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
            (OnError::Block, _) if contract.may_block => {
                self.on_error = Some(OnError::Block);
            }
            // A failure is a denial already; only exit codes become stricter.
            (OnError::Ask, FailureMode::Closed) => self.on_exit_code = Some(OnError::Ask),
            (OnError::Ask, _) if contract.may_block => self.on_error = Some(OnError::Ask),
            (OnError::Ignore, FailureMode::Open) => self.on_error = Some(OnError::Ignore),
            (_, FailureMode::Open) => self.on_error = Some(OnError::Warn),
            _ => {}
        }
    }
}
