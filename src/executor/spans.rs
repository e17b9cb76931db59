//! The spans of `tracing`: one for each event, and below it one for each run of a hook.
//!
//! Fields have the names of OpenTelemetry's conventions for generative AI where these have one. They
//! have no `gen_ai.operation.name` for hooks: `execute_tool` and `chat` belong to the span of the host.

use tracing::Span;
use tracing::field::{Empty, display};
use tracing::level_filters::LevelFilter;

use super::outcome::Outcome;
use super::select::Bound;
use crate::event::Event;
use crate::wire::{Decision, Input};

/// Returns whether a subscriber may want spans.
pub(super) fn are_read() -> bool {
    LevelFilter::current() >= LevelFilter::INFO
}

/// Returns the span of an event about `input`, which begins in the span of the caller.
pub(super) fn of_event(event: Event, input: &Input) -> Span {
    tracing::info_span!(
        "hookexec.event",
        hookexec.event = event.name(),
        hookexec.decision = Empty,
        gen_ai.conversation.id = input.session_id,
        gen_ai.agent.name = input.agent_name,
        gen_ai.request.model = input.model_id,
        gen_ai.tool.name = input.tool_name,
        gen_ai.tool.call.id = input.tool_use_id,
    )
}

/// Returns the span of one run of a hook.
pub(super) fn of_hook(bound: &Bound, event: Option<&Span>) -> Span {
    tracing::info_span!(
        parent: event.and_then(Span::id),
        "hookexec.hook",
        hookexec.hook = %bound.hook.label(),
        hookexec.type = bound.hook.kind,
        hookexec.source = %bound.hook.location,
        hookexec.status = Empty,
        hookexec.decision = Empty,
        hookexec.error = Empty,
    )
}

/// Writes a decision into the span of an event or of a hook.
pub(super) fn tell_decision(span: &Span, decision: Option<Decision>) {
    span.record("hookexec.decision", decision.map(Decision::name));
}

/// Writes into the span of a hook how it ended.
pub(super) fn tell_outcome(span: &Span, outcome: &Outcome) {
    if span.is_disabled() {
        return;
    }
    // Each name is one word, as in a report.
    let status = format!("{:?}", outcome.status).to_lowercase();
    span.record("hookexec.status", display(status));
    span.record("hookexec.error", outcome.error.as_deref());
    let said = outcome.unenforced.as_deref().unwrap_or(&outcome.output);
    tell_decision(span, said.decision);
}
