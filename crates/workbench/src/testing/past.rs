//! Says what a policy would have done with calls of the past.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::habits::Habits;
use super::replay::{Replay, stays_here};
use hookexec::wire::{HookReport, HookStatus};
use hookexec::{Config, Decision, Event, Verdict};
use hookexec_agents::{NativeCall, Subject};

/// The outcome of a policy for a call that it does not leave as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "each caller handles all")]
pub enum PolicyOutcome {
    /// It denies the call, or what comes of it.
    Denied,
    /// It asks the user.
    Asked,
    /// It changes the arguments.
    Rewritten,
    /// It changes the response.
    Redacted,
}

/// Calls of the past, as a policy judges them.
#[derive(Debug, Default)]
pub struct Past {
    /// How many transcripts there were.
    pub transcripts: usize,
    /// How many calls there were.
    pub calls: usize,
    /// How many calls were allowed without a question.
    pub allowed: usize,
    /// The places that were not judged or met, by the reason.
    pub notes: BTreeMap<String, Note>,
    /// The commands of calls that go on as they are, if they are counted.
    pub habits: Option<Habits>,
    /// The places of the hooks that had an opinion.
    met: BTreeSet<String>,
    /// The calls that were denied, and whose results would not be there.
    denied: BTreeSet<String>,
    groups: BTreeMap<(PolicyOutcome, String, String), PastGroup>,
}

/// Something that is said of several places.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Note {
    /// How often it was the case.
    pub count: usize,
    /// The first places, each once.
    pub places: Vec<String>,
}

/// Calls of which the same hook said the same.
#[derive(Debug, Clone, Serialize)]
pub struct PastGroup {
    /// The effect on them.
    pub outcome: PolicyOutcome,
    /// How many there are.
    pub count: usize,
    /// The hook that does it, and empty for hookexec itself.
    pub hook: String,
    /// Where the hook is configured: `hooks.yaml:12`.
    pub source: String,
    /// The time of the example, the latest one.
    pub time: String,
    /// The tool of the example.
    pub tool: String,
    /// The part of the example that fits the rule, as the reason names it.
    pub fitting: Option<String>,
    /// The reason in the example.
    pub reason: Option<String>,
    /// The agent's payload of the example.
    pub payload: Option<Value>,
    /// The example, to judge it again.
    #[serde(skip)]
    pub subject: Subject,
}

impl Past {
    /// Judges a call that was made at `time`, or its result, and returns how; `None` for the result of a
    /// call that is denied.
    pub async fn add(
        &mut self,
        replay: &Replay,
        time: &str,
        call: Box<NativeCall>,
    ) -> Option<(Subject, Verdict)> {
        let is_before = call.event == Some(Event::PreToolUse);
        let id = call.input.tool_use_id.clone().unwrap_or_default();
        if !is_before && self.denied.remove(&id) {
            return None;
        }
        let subject = Subject::Native(call);
        let (verdict, missing) = replay.judge(&subject).await;
        self.calls += usize::from(is_before);
        for report in &verdict.hooks {
            if report.decision.is_some() || report.rewrote {
                self.met.insert(report.source.clone());
            }
        }
        if let Some((outcome, report)) = outcome_of(&verdict) {
            if is_before && outcome == PolicyOutcome::Denied {
                self.denied.insert(id);
            }
            self.add_example(time, &subject, &verdict, outcome, report);
            return Some((subject, verdict));
        }
        self.allowed += usize::from(is_before && verdict.decision == Some(Decision::Allow));
        if let Some(habits) = &mut self.habits {
            let is_judged = missing.is_empty() && verdict.hooks.iter().all(lets_through);
            habits.add(subject.input(), &id, is_before, is_judged);
        }
        Some((subject, verdict))
    }

    /// Adds a call with this outcome to its group, as an example of it.
    fn add_example(
        &mut self,
        time: &str,
        subject: &Subject,
        verdict: &Verdict,
        outcome: PolicyOutcome,
        report: Option<&HookReport>,
    ) {
        let input = subject.input();
        let (hook, source) = match report {
            Some(report) => (report.name.clone(), report.source.clone()),
            None => Default::default(),
        };
        let (fitting, pattern) = report.and_then(fit).unzip();
        let key = (outcome, source.clone(), pattern.unwrap_or_default().to_owned());
        let group = PastGroup {
            outcome,
            count: 1,
            hook,
            source,
            time: time.to_owned(),
            tool: input.tool().to_owned(),
            fitting: fitting.map(str::to_owned),
            reason: report.and_then(|report| report.reason.clone()).or(verdict.message.clone()),
            payload: input.native.clone(),
            subject: subject.clone(),
        };
        self.add_group(key, group);
    }

    /// Adds what another thread found in other transcripts. Their number is the caller's to set, and the
    /// denied calls matter only while their own transcript is read.
    pub fn merge(&mut self, other: Self) {
        self.calls += other.calls;
        self.allowed += other.allowed;
        self.met.extend(other.met);
        for (about, other) in other.notes {
            let note = self.notes.entry(about).or_default();
            note.count += other.count;
            for place in other.places {
                note.add(place);
            }
        }
        if let Some(habits) = other.habits {
            self.habits.get_or_insert_default().merge(habits);
        }
        for (key, group) in other.groups {
            self.add_group(key, group);
        }
    }

    /// Notes that something is the case at a place.
    pub fn note(&mut self, about: &str, place: String) {
        let note = self.notes.entry(about.to_owned()).or_default();
        note.count += 1;
        note.add(place);
    }

    fn add_group(&mut self, key: (PolicyOutcome, String, String), group: PastGroup) {
        let Some(known) = self.groups.get_mut(&key) else {
            self.groups.insert(key, group);
            return;
        };
        let count = known.count + group.count;
        // The same example whichever thread came first.
        if (&known.time, &known.fitting) < (&group.time, &group.fitting) {
            *known = group;
        }
        known.count = count;
    }

    /// Returns the groups, the largest first.
    pub fn groups(&self) -> Vec<&PastGroup> {
        let mut groups: Vec<&PastGroup> = self.groups.values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.count));
        groups
    }

    /// Returns how many calls had this outcome.
    pub fn count(&self, outcome: PolicyOutcome) -> usize {
        let groups = self.groups.values().filter(|group| group.outcome == outcome);
        groups.map(|group| group.count).sum()
    }

    /// Notes the hooks for tools in `config` that could not run, or never had an opinion.
    pub fn note_unmet(&mut self, config: &Config) {
        for hook in &config.hooks {
            let source = hook.location.text();
            let about = if !stays_here(hook) {
                "not run, since they have side effects or send what they see"
            } else if !self.met.contains(&source) {
                "never had an opinion"
            } else {
                continue;
            };
            // Nothing in a transcript asks for an approval.
            let is_asked = hook.event.contract().tool_matched
                && !matches!(hook.event, Event::PermissionRequest | Event::Approval);
            if hook.enabled && is_asked {
                self.note(about, format!("{} ({source})", hook.label()));
            }
        }
    }
}

impl Note {
    fn add(&mut self, place: String) {
        if self.places.len() < 100 && !self.places.contains(&place) {
            self.places.push(place);
        }
    }
}

/// Returns the effect of a verdict on a call, and the hook that caused it first; `None` if the call goes on as
/// it is.
fn outcome_of(verdict: &Verdict) -> Option<(PolicyOutcome, Option<&HookReport>)> {
    let outcome = match verdict.decision {
        Some(Decision::Deny) => PolicyOutcome::Denied,
        Some(Decision::Ask) => PolicyOutcome::Asked,
        _ if verdict.updated_tool_response.is_some() => PolicyOutcome::Redacted,
        _ if verdict.updated_input.is_some() => PolicyOutcome::Rewritten,
        _ => return None,
    };
    let is_decision = matches!(outcome, PolicyOutcome::Denied | PolicyOutcome::Asked);
    for report in &verdict.hooks {
        let did_it = if is_decision { report.decision == verdict.decision } else { report.rewrote };
        if did_it && report.mode.is_none() {
            return Some((outcome, Some(report)));
        }
    }
    Some((outcome, None))
}

/// Returns whether a hook answered, and has nothing against the call, whether or not its answer counts.
fn lets_through(report: &HookReport) -> bool {
    let has_failed = matches!(report.status, HookStatus::Error | HookStatus::Failed);
    !has_failed && !report.rewrote && matches!(report.decision, None | Some(Decision::Allow))
}

/// Returns what fits, and the pattern, of the reason of a rule, as in "`git push` fits `git push|pull`" and
/// "`.env` is in `@secrets`". The package of rules words its reasons so, and writes no backtick of
/// the call into them.
fn fit(report: &HookReport) -> Option<(&str, &str)> {
    if report.kind != "rule" {
        return None;
    }
    let reason = report.reason.as_deref()?;
    let split = reason
        .split_once("` fits `")
        .or(reason.split_once("` is in `"))
        .or(reason.split_once("` holds `"));
    let (before, behind) = split?;
    Some((before.rsplit('`').next()?, behind.split('`').next()?))
}
