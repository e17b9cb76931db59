//! The hooks of an event: what became of each of them, why, and how they decided together.

use hookexec::config::Hook;
use hookexec::describe::DescribeCall as _;
use hookexec::executor::{Course, Explanation, Selection};
use hookexec::wire::{HookReport, HookStatus, Mode};
use hookexec::{Event, Executor, Input, Verdict};
use hookexec_agents::Subject;
use hookexec_calls::KnownTools;
use serde::Serialize;
use serde_json::{Value, json};

/// Returns a configured hook as a row of a list.
pub fn configured(hook: &Hook) -> Value {
    let mut row = json!({
        "also": other_keys(hook),
        "event": hook.event,
        "file": hook.location.path().display().to_string(),
        "layer": hook.layer(),
        "line": hook.location.line(),
        "name": hook.label(),
        "timeout_ms": hook.timeout.as_millis(),
        "type": hook.kind,
    });
    if hook.event.contract().tool_matched {
        row["matcher"] = json!(hook.matcher.to_string());
    }
    if hook.command.is_some() {
        row["command"] = json!(hook.command);
    }
    row
}

/// Returns the keys that have no field of their own.
pub fn other_keys(hook: &Hook) -> Vec<String> {
    let mut keys = Vec::new();
    if !hook.enabled {
        keys.push("disabled".to_owned());
    }
    match hook.mode {
        Mode::Warn => keys.push("mode warn".to_owned()),
        Mode::Shadow => keys.push("mode shadow".to_owned()),
        Mode::Enforce => {}
    }
    for key in hook.written_keys() {
        let has_place =
            ["command", "enabled", "matcher", "mode", "name", "timeout", "type"].contains(&key);
        if !has_place {
            keys.push(key.to_owned());
        }
    }
    // That of the matcher entry.
    if hook.when.is_some() && hook.key_locations.get("when").is_none() {
        keys.push("when".to_owned());
    }
    keys
}

/// An event explained.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// The event.
    pub event: Event,
    /// The agent's own event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native: Option<&'static str>,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The events of the moment.
    #[serde(skip_serializing_if = "is_one")]
    pub events: Vec<Event>,
    /// The tool that is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The commands that the call runs, as rules and conditions read them: the programs that run one stand
    /// before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Every hook of the event, in config order.
    pub hooks: Vec<ExplainedHook>,
    /// How many hooks are configured for other events.
    pub of_other_events: usize,
    /// How the hooks decided. Missing when nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub course: Option<Course>,
    /// Missing when nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

fn is_one(events: &[Event]) -> bool {
    events.len() == 1
}

/// A hook explained.
#[derive(Debug, Serialize)]
pub struct ExplainedHook {
    /// Which hook it is, and whether it would run.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// Its report, when it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<HookReport>,
    /// The effect of its answer on the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

/// The effect of a hook's decision on the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It is the verdict.
    Decides,
    /// A stricter decision won.
    Overruled,
    /// The hook's mode keeps its answer from counting.
    NotEnforced,
}

impl Explained {
    /// Explains what an executor makes of an event. `ran` is the verdict, if it ran, and how it came about.
    pub fn new(
        executor: &Executor,
        subject: &Subject,
        ran: Option<(Verdict, Option<Course>)>,
    ) -> Self {
        let (event, native, agent) = match subject {
            Subject::Own(event, _) => (*event, None, None),
            Subject::Native(call) => {
                let event = call.event.unwrap_or(Event::Notification);
                (event, Some(call.native.name), Some(call.agent.to_string()))
            }
        };
        let (verdict, course) = ran.unzip();
        let mut reports = Vec::new();
        if let Some(verdict) = &verdict {
            reports.extend(&verdict.hooks);
        }
        let (mut hooks, mut of_other_events) = (Vec::new(), 0);
        for explanation in subject.explain(executor) {
            if matches!(explanation.selection, Selection::OtherEvent(_)) {
                of_other_events += 1;
                continue;
            }
            let report = take_report(&explanation, &mut reports).cloned();
            let mut effect = None;
            if let (Some(report), Some(verdict)) = (&report, &verdict) {
                effect = effect_of(report, verdict);
            }
            hooks.push(ExplainedHook { explanation, report, effect });
        }
        Self {
            event,
            native,
            agent,
            events: subject.events(),
            tool: subject.input().tool_name.clone(),
            commands: commands_of(subject.input()),
            hooks,
            of_other_events,
            course: course.flatten(),
            verdict,
        }
    }
}

/// Returns the commands of a call, each as one line.
fn commands_of(input: &Input) -> Vec<String> {
    let mut lines = Vec::new();
    for command in KnownTools.describe(input).commands {
        let mut line = String::new();
        for wrapper in &command.wrappers {
            line.extend([wrapper, ": "]);
        }
        let words = command.assignments.iter().chain([&command.program]).chain(&command.args);
        lines.push(line + &words.cloned().collect::<Vec<_>>().join(" "));
    }
    lines
}

fn effect_of(report: &HookReport, verdict: &Verdict) -> Option<Effect> {
    // What the report says of a failure's decision is what its failure means for the event.
    let decision = report.decision?;
    Some(if report.mode.is_some_and(|mode| mode != Mode::Enforce) {
        Effect::NotEnforced
    } else if Some(decision) == verdict.decision {
        Effect::Decides
    } else {
        Effect::Overruled
    })
}

/// Returns why a hook had no opinion, if it says that.
pub fn why_no_opinion(report: &HookReport) -> Option<&str> {
    if report.status != HookStatus::Ok || report.decision.is_some() {
        return None;
    }
    report.reason.as_deref()
}

/// Takes the report of a hook out of those of the same executor and event that are `left`; `None` if the
/// hook did not run. Reports are in config order, as explanations are: of two identical ones, the first
/// belongs to the first hook.
pub(crate) fn take_report<'v>(
    explanation: &Explanation,
    left: &mut Vec<&'v HookReport>,
) -> Option<&'v HookReport> {
    // A hook that does not match the original input may match a rewritten one. These never run.
    if matches!(
        explanation.selection,
        Selection::OtherEvent(_) | Selection::Disabled | Selection::DuplicateOf(_)
    ) {
        return None;
    }
    let place = left.iter().position(|report| {
        report.name == explanation.name
            && report.source == explanation.source
            && report.kind == explanation.kind
    })?;
    Some(left.remove(place))
}
