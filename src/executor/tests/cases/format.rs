//! The format of `tests/cases/evaluation.yaml`.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::config::{Layer, OnError};
use crate::event::Event;

/// What stands for the placeholder of a withheld response.
pub(super) const WITHHELD: &str = "<withheld>";

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    #[serde(rename = "scenario")]
    pub(super) id: String,
    pub(super) title: String,
    pub(super) fires: Fires,
    #[serde(default)]
    pub(super) tool: Option<String>,
    pub(super) input: String,
    #[serde(default)]
    pub(super) agent: Agent,
    /// The caller's limit, in seconds.
    #[serde(default = "caller_limit")]
    pub(super) within: f64,
    /// The `deadline` of a layer, in seconds.
    #[serde(default)]
    pub(super) deadlines: BTreeMap<String, f64>,
    pub(super) hooks: InOrder<HookCase>,
    pub(super) cases: Vec<Case>,
}

fn caller_limit() -> f64 {
    25.0
}

/// The moments that a scenario begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fires {
    ToolCall,
    ToolResponse,
    Prompt,
    Stop,
}

/// What the agent can do beside what all can.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Agent {
    /// Whether it would ask its user by itself.
    pub(super) asks: bool,
    pub(super) replaces_input: bool,
    pub(super) replaces_response: bool,
    /// Whether it takes other arguments along with an approval, as Claude Code does.
    pub(super) approves_with_arguments: bool,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            asks: false,
            replaces_input: true,
            replaces_response: true,
            approves_with_arguments: false,
        }
    }
}

/// One case of a scenario: what is different in it, and what is expected.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    #[serde(rename = "case")]
    pub(super) title: String,
    #[serde(default)]
    pub(super) input: Option<String>,
    #[serde(default)]
    pub(super) agent: Option<Agent>,
    #[serde(default)]
    pub(super) without: Vec<String>,
    #[serde(default)]
    pub(super) with: InOrder<HookCase>,
    /// Whether the event fires a second time, and the same is expected.
    #[serde(default)]
    pub(super) again: bool,
    pub(super) expect: Expected,
}

#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookCase {
    pub(super) on: Event,
    #[serde(default = "default_file")]
    pub(super) file: String,
    #[serde(default)]
    pub(super) command: Option<String>,
    #[serde(default)]
    pub(super) mutates: Option<bool>,
    #[serde(default, rename = "match")]
    pub(super) matcher: Option<String>,
    #[serde(default)]
    pub(super) when: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub(super) on_error: Option<OnErrorCase>,
    #[serde(default)]
    pub(super) background: bool,
    #[serde(default)]
    pub(super) observer: bool,
    /// How long a call takes, in seconds.
    #[serde(default = "call_time")]
    pub(super) takes: f64,
    /// In seconds.
    #[serde(default)]
    pub(super) timeout: Option<u32>,
    #[serde(default)]
    pub(super) does: Vec<super::rules::Rule>,
}

fn default_file() -> String {
    "hooks.yaml".to_owned()
}

fn call_time() -> f64 {
    0.1
}

#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OnErrorCase {
    Block,
    Warn,
    Ignore,
    Ask,
}

impl OnErrorCase {
    pub(super) fn key(self) -> OnError {
        match self {
            Self::Block => OnError::Block,
            Self::Warn => OnError::Warn,
            Self::Ignore => OnError::Ignore,
            Self::Ask => OnError::Ask,
        }
    }
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    pub(super) verdict: ExpectedVerdict,
    #[serde(default, rename = "final")]
    pub(super) last: Option<String>,
    #[serde(default)]
    pub(super) tool: Option<String>,
    #[serde(default)]
    pub(super) answer: Option<String>,
    /// How often the agent stops until its turn ends.
    #[serde(default)]
    pub(super) stops: Option<usize>,
    pub(super) calls: Vec<InOrder<CallCase>>,
    #[serde(default)]
    pub(super) reasons: Vec<String>,
    #[serde(default)]
    pub(super) reported: BTreeMap<String, Report>,
    #[serde(default)]
    pub(super) messages: Vec<String>,
    #[serde(default)]
    pub(super) limits: BTreeMap<String, f64>,
    #[serde(default)]
    pub(super) waited: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ExpectedVerdict {
    Allow,
    Ask,
    Deny,
    None,
}

/// A call of a hook: its input alone, or with what is special about it.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(untagged)]
pub(super) enum CallCase {
    Plain(String),
    Full(FullCall),
}

#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FullCall {
    input: String,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    repeated: bool,
}

impl CallCase {
    /// Returns the call in one line; `tool` is the tool unless the case names another one.
    pub(super) fn line(&self, hook: &str, tool: &str) -> String {
        match self {
            Self::Plain(input) => call_line(hook, tool, input, false),
            Self::Full(call) => {
                let tool = call.tool.as_deref().unwrap_or(tool);
                call_line(hook, tool, &call.input, call.repeated)
            }
        }
    }
}

pub(super) fn call_line(hook: &str, tool: &str, input: &str, repeated: bool) -> String {
    let repeated = if repeated { " (repeated)" } else { "" };
    format!("{hook}{repeated} <- {tool}: {input}")
}

/// What the line of a hook in the verdict says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// It rewrote, and should set `mutates`.
    SetMutates,
    /// It wanted to rewrite, and could not.
    RewriteIgnored,
    /// It gave no valid answer.
    Failed,
    /// It denied, which may not have counted.
    Denied,
}

/// Returns the layer in `layer/name`.
pub(super) fn layer_of(hook: &str) -> Layer {
    match hook.split('/').next() {
        Some("project") => Layer::Project,
        Some("user") => Layer::User,
        Some("managed") => Layer::Managed,
        _ => panic!("`{hook}` does not begin with a layer"),
    }
}

/// A mapping whose order is kept.
#[derive(Debug, Clone)]
pub(super) struct InOrder<T>(pub(super) Vec<(String, T)>);

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for InOrder<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrderVisitor(PhantomData))
    }
}

struct InOrderVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrderVisitor<T> {
    type Value = InOrder<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a mapping by `layer/name`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries: Vec<(String, T)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, T>()? {
            if entries.iter().any(|(known, _)| *known == key) {
                return Err(A::Error::custom(format!("the key `{key}` appears twice")));
            }
            entries.push((key, value));
        }
        Ok(InOrder(entries))
    }
}

impl Scenario {
    /// Returns the hooks of one of its cases.
    pub(super) fn hooks_of(&self, case: &Case) -> Vec<(String, HookCase)> {
        let mut hooks = self.hooks.0.clone();
        for gone in &case.without {
            assert!(hooks.iter().any(|(hook, _)| hook == gone), "{}: no `{gone}`", self.id);
        }
        hooks.retain(|(hook, _)| !case.without.contains(hook));
        for (name, changed) in &case.with.0 {
            match hooks.iter_mut().find(|(hook, _)| hook == name) {
                Some((_, hook)) => *hook = changed.clone(),
                None => hooks.push((name.clone(), changed.clone())),
            }
        }
        hooks
    }

    pub(super) fn tool(&self) -> &str {
        match self.fires {
            Fires::ToolCall | Fires::ToolResponse => self.tool.as_deref().unwrap_or("Bash"),
            Fires::Prompt | Fires::Stop => "",
        }
    }
}
