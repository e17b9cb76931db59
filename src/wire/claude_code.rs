//! Keys of an answer that only Claude Code understands. Some belong to a decision: such a key counts only
//! together with that decision of the hook that gave it.

use super::{Decision, JsonObject, Verdict};

/// Why a key that belongs to a decision is ignored.
const NOT_ALONE: &str =
    "it counts only with the decision of its own hook, and another hook decided";

/// The keys that one hook gave, and what it decided.
pub(crate) struct ClaudeKeys<'k> {
    pub(crate) keys: &'k JsonObject,
    pub(crate) decision: Option<Decision>,
    /// The rank of the hook's layer.
    pub(crate) rank: usize,
}

/// Returns the decision that a key belongs to.
pub(crate) fn decision_of(key: &str) -> Option<Decision> {
    match key {
        // The value `defer`, which every other agent takes for an ask.
        "permissionDecision" => Some(Decision::Ask),
        "updatedPermissions" => Some(Decision::Allow),
        _ => None,
    }
}

/// Puts the keys that hooks gave into the verdict. They come with those of higher layers first, and the
/// first value of a key counts. Returns a remark on each other one, with the place of its hook.
pub(crate) fn pass_on(verdict: &mut Verdict, given: &[ClaudeKeys<'_>]) -> Vec<(usize, String)> {
    let mut ignored = Vec::new();
    for (place, hook) in given.iter().enumerate() {
        for (key, value) in hook.keys {
            if counts(key, hook, verdict.decision, given) {
                let first = verdict.claude_code.entry(key.clone()).or_insert_with(|| value.clone());
                if first != value {
                    let remark = format!("an earlier hook gives another `{key}`, which counts");
                    ignored.push((place, remark));
                }
            } else if decision_of(key) == verdict.decision
                && verdict.claude_code.get(key) != Some(value)
            {
                ignored.push((place, format!("`{key}` is ignored: {NOT_ALONE}")));
            }
        }
    }
    ignored
}

/// Returns whether a key counts if a hook gives it, where the verdict is `decided`. A key that belongs
/// to a decision is taken from the highest layer that decided so. A call is deferred if every hook that
/// asks defers it.
fn counts(
    key: &str,
    hook: &ClaudeKeys<'_>,
    decided: Option<Decision>,
    given: &[ClaudeKeys<'_>],
) -> bool {
    let Some(decision) = decision_of(key) else { return true };
    if decided != Some(decision) || hook.decision != decided {
        return false;
    }
    let mut deciders = given.iter().filter(|other| other.decision == decided);
    if decision == Decision::Ask && !deciders.clone().all(|other| other.keys.contains_key(key)) {
        return false;
    }
    deciders.next().is_some_and(|highest| highest.rank == hook.rank)
}

/// Takes over the keys of a later verdict. Those that belong to a decision stay with it, and if both
/// verdicts decide so, they stay if both give them.
pub(super) fn absorb(verdict: &mut Verdict, next: &mut Verdict) {
    let (mine, theirs) = (verdict.decision, next.decision);
    verdict.claude_code.retain(|key, _| {
        decision_of(key).is_none()
            || mine > theirs
            || mine == theirs && next.claude_code.contains_key(key)
    });
    for (key, value) in std::mem::take(&mut next.claude_code) {
        if decision_of(&key).is_none() || theirs > mine {
            verdict.claude_code.entry(key).or_insert(value);
        }
    }
}
