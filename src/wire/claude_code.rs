//! Keys of an answer that only Claude Code understands. Some belong to a decision: such a key counts only
//! together with that decision of the hook that gave it.

use super::{Decision, JsonObject};

/// Returns the decision that a key belongs to.
pub(crate) fn decision_of(key: &str) -> Option<Decision> {
    match key {
        // The value `defer`, which every other agent takes for an ask.
        "permissionDecision" => Some(Decision::Ask),
        "updatedPermissions" => Some(Decision::Allow),
        _ => None,
    }
}

/// Adds the keys of a later answer, which decides `theirs`, to those of one that decides `mine`. A key that
/// belongs to a decision stays with it; if both decide so, it stays if both give it.
pub(crate) fn absorb(
    keys: &mut JsonObject,
    mine: Option<Decision>,
    later: JsonObject,
    theirs: Option<Decision>,
) {
    keys.retain(|key, _| {
        decision_of(key).is_none() || mine > theirs || mine == theirs && later.contains_key(key)
    });
    for (key, value) in later {
        if decision_of(&key).is_none() || theirs > mine {
            keys.entry(key).or_insert(value);
        }
    }
}
