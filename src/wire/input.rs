//! The input of an event: what a hook reads.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::field::{Field, Fields};
use super::{ApprovalQuestion, JsonObject, WireError, field};
use crate::event::Event;

/// Declares the fields of [`Input`], each named by its key, and what needs every field.
macro_rules! input {
    ($(#[$meta:meta])* { $($(#[$doc:meta])* $name:ident: $type:ty;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
        #[non_exhaustive]
        #[must_use]
        pub struct Input {
            $($(#[$doc])* #[serde(skip_serializing_if = "Field::is_left_out")] pub $name: $type,)*
            /// Every other key: `parent_session_id`, `usage`, `worktree_path`, a host's own.
            #[serde(flatten)]
            #[cfg_attr(feature = "schema", schemars(skip))]
            pub extra: JsonObject,
        }

        impl Input {
            /// The keys with a field; every other key is kept in [`extra`](Self::extra).
            pub const FIELDS: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Returns the input that a JSON object describes. Values are moved, so numbers keep their
            /// digits in every field. A field that is `null` counts as absent.
            ///
            /// # Errors
            /// When a field has a value of the wrong type.
            pub fn from_json(object: JsonObject) -> Result<Self, WireError> {
                let mut fields = Fields(object);
                Ok(Self { $($name: fields.take(stringify!($name))?,)* extra: fields.0 })
            }

            /// Returns the top-level field `name` as JSON, or `None` when it is not set.
            pub fn field(&self, name: &str) -> Option<Cow<'_, Value>> {
                match name {
                    $(stringify!($name) => self.$name.show(),)*
                    _ => self.extra.get(name).map(Cow::Borrowed),
                }
            }
        }
    };
}

input! {
    /// The input of one event: what a hook reads as one JSON object.
    ///
    /// `session_id`, `cwd` and, for a hook, `hook_event_name` are always present in the JSON; every other
    /// field is left out when it is not set, as docker-agent does. Numbers keep the digits they came with.
    {
        /// The session the event belongs to.
        session_id: String;
        /// The agent's working directory; if it is empty,
        /// [`Executor::dispatch`](crate::Executor::dispatch) fills in its own.
        cwd: String;
        /// The event; set by [`Executor::dispatch`](crate::Executor::dispatch).
        hook_event_name: Option<Event>;
        /// Whether the hook was called for this event before, and is asked once more, only to judge what
        /// other hooks made of the input. A hook that counts events ignores these calls.
        repeated: bool;

        /// The agent's name.
        agent_name: Option<String>;
        /// The model in use.
        model_id: Option<String>;
        /// The turn.
        turn_id: Option<String>;
        /// The model call within the turn, from 1.
        iteration: Option<u64>;
        /// The newest message of the user.
        last_user_message: Option<String>;

        /// The tool; required on events matched by tool.
        tool_name: Option<String>;
        /// The call's id.
        tool_use_id: Option<String>;
        /// The tool's arguments.
        tool_input: Option<JsonObject>;
        /// Further names of the tool that are the same for every agent: its kinds, such as `shell`, or
        /// `edit` and `write`; `mcp__server__tool`. A matcher matches any of them, too.
        tool_kinds: Vec<String>;
        /// The tool's category, as the host names it.
        tool_category: Option<String>;
        /// Whether the tool only reads.
        tool_read_only: Option<bool>;
        /// The tool's response; an empty string is a response, too.
        tool_response: Option<Value>;
        /// Whether the tool call failed.
        tool_error: Option<bool>;
        /// How long the tool ran, in milliseconds.
        tool_duration_ms: Option<u64>;

        /// How a session began (`startup`, `resume`, `clear`, `compact`) or a compaction (`manual`,
        /// `auto`, `overflow`).
        source: Option<String>;
        /// Why a session or a turn ended.
        reason: Option<String>;
        /// The text of the user's prompt.
        prompt: Option<String>;
        /// The model's final response text.
        stop_response: Option<String>;
        /// `error` or `warning`.
        notification_level: Option<String>;
        /// The notification's text.
        notification_message: Option<String>;

        /// The messages of the model request (`before_llm_call`).
        messages: Option<Vec<Value>>;
        /// The tool definitions of the model request (`before_llm_call`).
        tools: Option<Vec<Value>>;
        /// The options of the model request (`before_llm_call`).
        options: Option<JsonObject>;
        /// The model's response (`after_llm_call`).
        response: Option<Value>;

        /// The question to a person about the call (`approval`).
        approval: Option<Box<ApprovalQuestion>>;
        /// How an approval was decided: `allow`, `deny`, `canceled` (`on_tool_approval_decision`).
        approval_decision: Option<String>;
        /// Who decided it (`on_tool_approval_decision`).
        approval_source: Option<String>;
        /// The summary of a compaction (`after_compaction`).
        summary: Option<String>;
        /// The verdict of the hooks: `decision` and `message`. Only hooks that run after the verdict get
        /// it: those in the background, and observers.
        verdict: Option<JsonObject>;
        /// The payload as the coding agent sent it, if an adapter translated it. A hook's rewrite removes it.
        native: Option<Value>;
    }
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = field::exact_object(deserializer)?;
        Self::from_json(object).map_err(serde::de::Error::custom)
    }
}

impl Input {
    /// Returns the input of a tool call.
    pub fn for_tool(name: impl Into<String>, arguments: JsonObject) -> Self {
        Self { tool_name: Some(name.into()), tool_input: Some(arguments), ..Self::default() }
    }

    /// Returns the input of a call of the tool `name`, without arguments; [`arg`](Self::arg) adds
    /// them.
    pub fn call(name: impl Into<String>) -> Self {
        Self::for_tool(name, JsonObject::new())
    }

    /// Sets an argument of the tool.
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.tool_input.get_or_insert_default().insert(name.into(), value.into());
        self
    }

    /// Sets the session.
    pub fn with_session(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Returns the tool's name, or an empty string.
    pub fn tool(&self) -> &str {
        self.tool_name.as_deref().unwrap_or_default()
    }

    /// Lists that hookexec makes of a tool call (`calls`). What a host says under
    /// these keys is not shown to hooks.
    pub const OF_CALLS: [&'static str; 2] = ["commands", "files"];

    /// Keys of Claude Code's payload, which hooks find under the same names in
    /// [`extra`](Self::extra).
    pub const CARRIED: [&'static str; 7] = [
        "transcript_path", "permission_mode", "stop_hook_active", "agent_id", "agent_type",
        "notification_type", "custom_instructions",
    ];

    /// Keys of docker-agent's `before_agent_run` and `after_agent_complete` in
    /// [`extra`](Self::extra).
    pub const OF_CONTROL_EVENTS: [&'static str; 6] =
        ["task_input", "previous_output", "output", "conversation", "invocation_id", "step_id"];

    /// Further keys of the payload that a hook of Claude Code's dialect reads.
    const OF_PAYLOADS: [&'static str; 8] = [
        "compact_summary", "duration_ms", "error", "is_interrupt", "last_assistant_message",
        "message", "model", "trigger",
    ];

    /// Returns whether a hook that is given this input may read `key` in it.
    pub(crate) fn may_have_key(&self, key: &str) -> bool {
        let carried = [Self::CARRIED.as_slice(), &Self::OF_CONTROL_EVENTS, &Self::OF_PAYLOADS];
        Self::FIELDS.contains(&key)
            || Self::OF_CALLS.contains(&key)
            || carried.iter().any(|keys| keys.contains(&key))
            || self.extra.contains_key(key)
            || self.native.as_ref().is_some_and(|native| native.get(key).is_some())
    }

    /// Returns the value that `path` leads to from the top of the JSON, key by key; an array is
    /// entered by index.
    pub fn lookup<S: AsRef<str>>(&self, path: &[S]) -> Option<Cow<'_, Value>> {
        fn enter<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
            match value {
                Value::Object(object) => object.get(key),
                Value::Array(items) => items.get(key.parse::<usize>().ok()?),
                _ => None,
            }
        }
        fn descend<'v, S: AsRef<str>>(mut value: &'v Value, path: &[S]) -> Option<&'v Value> {
            for key in path {
                value = enter(value, key.as_ref())?;
            }
            Some(value)
        }
        let (first, rest) = path.split_first()?;
        let Some((second, deeper)) = rest.split_first() else { return self.field(first.as_ref()) };
        // Large fields are read in place: a copy of a transcript for each condition would be slow.
        let second = second.as_ref();
        let entered = match first.as_ref() {
            "tool_input" => Some(self.tool_input.as_ref()?.get(second)?),
            "options" => Some(self.options.as_ref()?.get(second)?),
            "messages" => Some(self.messages.as_ref()?.get(second.parse::<usize>().ok()?)?),
            "tools" => Some(self.tools.as_ref()?.get(second.parse::<usize>().ok()?)?),
            _ => None,
        };
        if let Some(value) = entered {
            return descend(value, deeper).map(Cow::Borrowed);
        }
        match self.field(first.as_ref())? {
            Cow::Borrowed(value) => descend(value, rest).map(Cow::Borrowed),
            Cow::Owned(value) => descend(&value, rest).cloned().map(Cow::Owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_the_json_is_known_as_far_as_it_is_asked_for() {
        let input = Input::call("shell").arg("cmd", "ls");
        let length = serde_json::to_vec(&input).unwrap().len();
        assert!(hookexec_files::json::is_longer_than(&input, length - 1));
        assert!(!hookexec_files::json::is_longer_than(&input, length));
    }

    #[test]
    fn the_three_common_keys_are_always_there_and_nothing_else() {
        let input = Input { hook_event_name: Some(Event::Stop), ..Input::default() };
        assert_eq!(
            serde_json::to_string(&input).unwrap(),
            r#"{"session_id":"","cwd":"","hook_event_name":"stop"}"#
        );
    }

    #[test]
    fn unknown_keys_and_long_numbers_survive() {
        let text = r#"{"session_id":"s","cwd":"","tool_input":{"n":12345678901234567890123},"id":99999999999999999999999,"x":[1.50]}"#;
        let input: Input = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&input).unwrap(), text);
    }

    #[test]
    fn a_field_of_the_wrong_type_is_named() {
        for (text, problem) in [
            (
                r#"{"tool_name":5}"#,
                "`tool_name` can't be read: it must be a string, not the number 5",
            ),
            (r#"{"tool_kinds":["a",null]}"#, "it must be an array of strings, not null"),
            (r#"{"iteration":1.5}"#, "it must be a whole number, not the number 1.5"),
            (r#"{"hook_event_name":"stopp"}"#, "did you mean `stop`?"),
        ] {
            let error = serde_json::from_str::<Input>(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        let null: Input = serde_json::from_str(r#"{"tool_name":null,"own":null}"#).unwrap();
        assert_eq!((null.tool_name, null.extra.len()), (None, 1));
    }

    #[test]
    fn a_path_leads_through_objects_and_arrays() {
        let text = r#"{"tool_input":{"edits":[{"path":"a"}]},"native":{"x":{"y":7}},"messages":[{"role":"user"}]}"#;
        let input: Input = serde_json::from_str(text).unwrap();
        let at = |path: &[&str]| input.lookup(path).map(|value| value.to_string());
        assert_eq!(at(&["tool_input", "edits", "0", "path"]).as_deref(), Some("\"a\""));
        assert_eq!(at(&["native", "x", "y"]).as_deref(), Some("7"));
        assert_eq!(at(&["messages", "0", "role"]).as_deref(), Some("\"user\""));
        assert_eq!(at(&["messages", "1", "role"]), None);
        assert_eq!(at(&["session_id", "x"]), None);
        assert_eq!(at(&[]), None);
    }

    #[test]
    fn every_field_of_the_json_can_be_looked_up() {
        let text = r#"{"session_id":"s","cwd":"/","hook_event_name":"stop","repeated":true,"agent_name":"a","model_id":"m","turn_id":"t",
            "iteration":1,"last_user_message":"u","tool_name":"n","tool_use_id":"i","tool_input":{"a":1},"tool_kinds":["shell"],"tool_category":"c",
            "tool_read_only":true,"tool_response":"","tool_error":false,"tool_duration_ms":5,"source":"s","reason":"r","prompt":"p",
            "stop_response":"s","notification_level":"l","notification_message":"m","messages":[],"tools":[],"options":{},
            "response":{},"approval":{"id":"i","digest":"d","expires":"e","reasons":[{"reason":"r"}]},"approval_decision":"allow","approval_source":"user","summary":"s","verdict":{"decision":"deny"},"native":{"x":1},"other":2}"#;
        let document: JsonObject = serde_json::from_str(text).unwrap();
        let input: Input = serde_json::from_str(text).unwrap();
        for (key, value) in &document {
            assert_eq!(input.field(key).as_deref(), Some(value), "{key}");
            assert!(key == "other" || Input::FIELDS.contains(&key.as_str()), "{key}");
        }
        assert_eq!(document.len(), Input::FIELDS.len() + 1);
        assert_eq!(serde_json::to_value(&input).unwrap(), Value::Object(document));
    }
}
