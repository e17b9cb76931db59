//! Keys of an answer that only Claude Code understands. Some belong to a decision: such a key counts only
//! together with that decision of the hook that gave it.

use super::{Decision, Verdict};

/// Returns the decision that a key belongs to.
pub(crate) fn decision_of(key: &str) -> Option<Decision> {
    match key {
        // The value `defer`, which every other agent takes for an ask.
        "permissionDecision" => Some(Decision::Ask),
        "updatedPermissions" => Some(Decision::Allow),
        _ => None,
    }
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
