//! A hook in a few words, for lists.

use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_with_macros::skip_serializing_none;

use hookexec::config::{Command, Hook, Layer, Phase};
use hookexec::event::Event;
use hookexec::internal::RolloutBy;
use hookexec::wire::Mode;

/// What a list of hooks says of one of them.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
pub(crate) struct HookSummary<'h> {
    /// Its event.
    pub(crate) event: Event,
    /// Which tools it is for; missing on events without a tool.
    pub(crate) matcher: Option<String>,
    /// Its name, or what it runs.
    pub(crate) name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub(crate) kind: &'h str,
    /// What it runs.
    pub(crate) command: Option<&'h Command>,
    /// How long it may take.
    #[serde(rename = "timeout_ms", serialize_with = "milliseconds")]
    pub(crate) timeout: Duration,
    /// Whether it runs at all.
    pub(crate) enabled: bool,
    /// Whether it has a condition.
    pub(crate) conditional: bool,
    /// Whether it runs before the others.
    pub(crate) mutates: bool,
    /// Whether the event does not wait for it.
    pub(crate) background: bool,
    /// Where its answer counts, if not everywhere.
    pub(crate) rollout: Option<String>,
    /// The file it stands in.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// Who brought the file in.
    pub(crate) layer: Layer,
}

impl<'h> HookSummary<'h> {
    /// Sums up a hook.
    pub(crate) fn of(hook: &'h Hook) -> Self {
        Self {
            event: hook.event,
            matcher: hook.event.contract().tool_matched.then(|| hook.matcher.to_string()),
            name: hook.label(),
            kind: &hook.kind,
            command: hook.command.as_ref(),
            timeout: hook.timeout,
            enabled: hook.enabled,
            conditional: hook.when.is_some(),
            mutates: hook.phase == Phase::Mutate,
            background: hook.phase == Phase::Background,
            rollout: rollout(hook, ""),
            file: hook.location.path().display().to_string(),
            line: hook.location.line(),
            layer: hook.layer(),
        }
    }
}

/// Returns the rollout of a hook and what it means here, as `rollout 10 % by host: in shadow here`.
pub(crate) fn rollout(hook: &Hook, session: &str) -> Option<String> {
    let rollout = hook.rollout?;
    let here = match hook.mode_in(session) {
        _ if rollout.by == RolloutBy::Session && session.is_empty() => "",
        Mode::Enforce => ": enforced here",
        _ => ": in shadow here",
    };
    Some(format!("rollout {rollout}{here}"))
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    duration.as_millis().serialize(serializer)
}
