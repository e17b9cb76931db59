//! How long the hooks of an event may take, computed from their timeouts.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::dispatch::Executor;
use super::parallel::Slots;
use super::select::{Bound, Plan};
use crate::config::{Diagnostic, Location};
use crate::event::Event;

/// The longest that the hooks of one event may take if each takes all of its `timeout`.
///
/// Rewriters run one after another, then the others at once, within their limits. Matchers and
/// conditions count as true. Not included: hooks that are asked again after a rewrite, hooks in the
/// background, and the time to stop a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WorstCase {
    /// The event.
    pub event: Event,
    /// The time.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub time: Duration,
    /// The time of only those hooks with a `timeout` in the file. The others have the time that the
    /// caller leaves.
    #[serde(skip)]
    pub stated: Duration,
    /// The deadline of the event: a hook that has not answered by then has failed.
    #[serde(rename = "deadline_seconds", serialize_with = "optional_seconds")]
    pub deadline: Option<Duration>,
    /// Where the first of the hooks is configured.
    #[serde(skip)]
    pub location: Location,
}

impl WorstCase {
    /// Returns the time until the verdict, computed from the file alone.
    pub fn stated_until_verdict(&self) -> Duration {
        self.deadline.map_or(self.stated, |deadline| self.stated.min(deadline))
    }

    /// Returns a warning when the deadline may pass before all hooks have answered.
    pub fn beyond_deadline(&self) -> Option<Diagnostic> {
        let deadline = self.deadline.filter(|deadline| *deadline < self.time)?;
        let (event, time) = (self.event, self.time);
        let problem = Diagnostic::warning(format!(
            "the hooks of `{event}` may take {time:?} together, and its `deadline` is {deadline:?}"
        ));
        let hint = "what has not answered by then has failed: lower the `timeout` of the hooks, or raise `deadline`";
        Some(problem.hint(hint).at(self.location.clone()))
    }
}

impl Executor {
    /// Returns how long the hooks of each event may take, without events that only have background
    /// hooks.
    pub(super) fn worst_cases(&self) -> Vec<WorstCase> {
        self.plans.iter().filter_map(|plan| self.worst_case(plan)).collect()
    }

    fn worst_case(&self, plan: &Plan) -> Option<WorstCase> {
        let mut hooks: Vec<&Bound> = Vec::new();
        let mut stated: Vec<&Bound> = Vec::new();
        for index in plan.all.iter() {
            let bound = &plan.hooks[*index];
            if !bound.hook.phase.is_answered() {
                continue;
            }
            hooks.push(bound);
            if bound.hook.states_timeout() {
                stated.push(bound);
            }
        }
        let location = hooks.first()?.hook.location.clone();
        Some(WorstCase {
            event: plan.contract.event,
            time: together(&hooks, self.max_parallel),
            stated: together(&stated, self.max_parallel),
            deadline: deadline_of(&hooks),
            location,
        })
    }
}

/// Returns the deadline by which all of `hooks` must have ended: the last of their own, if each has one.
fn deadline_of(hooks: &[&Bound]) -> Option<Duration> {
    let deadlines = hooks.iter().map(|bound| bound.hook.limits.deadline);
    deadlines.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// Returns how long hooks take if each takes all of its time.
fn together(hooks: &[&Bound], max_parallel: usize) -> Duration {
    let (rewriters, others): (Vec<&Bound>, Vec<&Bound>) =
        hooks.iter().copied().partition(|bound| bound.is_rewriter());
    let in_turn: Duration = rewriters.iter().map(|bound| bound.hook.timeout).sum();
    in_turn + at_once(others, Slots::new(max_parallel))
}

/// Returns how long hooks take that run at once, at most `slots` of them.
fn at_once(mut waiting: Vec<&Bound>, mut slots: Slots) -> Duration {
    let (mut now, mut running) = (Duration::ZERO, Vec::new());
    loop {
        let started = waiting.extract_if(.., |bound| slots.take(bound));
        running.extend(started.map(|bound| (now + bound.hook.timeout, bound)));
        let Some(next) = running.iter().map(|(end, _)| *end).min() else { return now };
        now = next;
        for (_, bound) in running.extract_if(.., |(end, _)| *end <= now) {
            slots.give_back(bound);
        }
    }
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

#[expect(clippy::ref_option, reason = "this is how serde calls it")]
fn optional_seconds<S: Serializer>(
    time: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn worst(text: &str) -> Vec<(Event, u64)> {
        let config = Config::from_yaml(text, "hooks.yaml").unwrap();
        let cases = Executor::builder(config).build().unwrap().worst_cases();
        cases.into_iter().map(|case| (case.event, case.time.as_secs())).collect()
    }

    fn hook(more: &str) -> String {
        format!("{{ type: command, command: 'true', on_error: block, {more} }}")
    }

    // The hooks are texts, which need Git Bash on Windows.
    #[cfg(unix)]
    #[test]
    fn rewriters_add_up_and_the_others_overlap() {
        let hooks = |names: [&str; 5]| {
            let hooks: Vec<String> = names.iter().map(|more| hook(more)).collect();
            format!("pre_tool_use:\n  - hooks: [{}]\n", hooks.join(", "))
        };
        let text = hooks([
            "timeout: 1, mutates: true",
            "timeout: 2, mutates: true",
            "timeout: 4",
            "timeout: 5",
            "timeout: 8, enabled: false",
        ]);
        assert_eq!(worst(&text), [(Event::PreToolUse, 8)]);
        // Two at once: 4 beside 5, then 6 when the 4 is over.
        let text =
            hooks(["timeout: 4", "timeout: 5", "timeout: 6", "timeout: 1, name: a", "timeout: 1"]);
        assert_eq!(worst(&format!("defaults: {{ max_parallel: 2 }}\n{text}"))[0].1, 10);
        assert_eq!(worst(&text)[0].1, 6);
    }

    // The hooks are texts, which need Git Bash on Windows.
    #[cfg(unix)]
    #[test]
    fn matchers_count_as_true_and_twins_run_once() {
        let entry = |matcher: &str, more: &str| {
            format!("  - {{ matcher: '{matcher}', hooks: [{}] }}\n", hook(more))
        };
        let rewriter = "mutates: true, timeout:";
        let text = format!(
            "pre_tool_use:\n{}{}{}{}",
            entry("shell|edit", &format!("{rewriter} 3")),
            entry("edit", &format!("{rewriter} 4")),
            entry("*", &format!("{rewriter} 1")),
            // The same as the first one: it runs once.
            entry("edit", &format!("{rewriter} 3")),
        );
        assert_eq!(worst(&text), [(Event::PreToolUse, 8)]);
        let text = "stop: [{ type: command, command: 'true', background: true }]\n";
        assert_eq!(worst(text), []);
    }
}
