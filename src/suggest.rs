//! "Did you mean": one place for every name that a user can misspell.

/// Returns the candidate that `name` was probably meant to be.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' ', '_'], "");
    let wanted = plain(name);
    let (length, letters) = (wanted.chars().count(), Letters::of(&wanted));
    let allowed = (length / 3).max(1);
    candidates
        .into_iter()
        // To count edits takes time and memory for each pair of letters, and names may be as many and
        // as long as all that a hook prints.
        .filter(|candidate| {
            !candidate.is_ascii() || letters.may_be_within(allowed, &Letters::of(candidate))
        })
        .map(|candidate| (plain(candidate), candidate))
        .filter(|(plain, _)| plain.chars().count().abs_diff(length) <= allowed)
        .map(|(plain, candidate)| (strsim::damerau_levenshtein(&wanted, &plain), candidate))
        .filter(|(edits, candidate)| *edits <= allowed && *edits < candidate.len())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Returns the hint "did you mean ...?", when a candidate is near.
pub fn hint<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(name, candidates).map(|meant| format!("did you mean `{meant}`?"))
}

/// How often each letter stands in a name, in either case; the last counts all that is no letter.
struct Letters([usize; 27]);

impl Letters {
    fn of(name: &str) -> Self {
        let mut counts = [0; 27];
        for letter in name.chars().filter(|letter| !matches!(letter, '-' | ' ' | '_')) {
            let letter = letter.to_ascii_lowercase();
            let place =
                if letter.is_ascii_lowercase() { letter as usize - 'a' as usize } else { 26 };
            counts[place] += 1;
        }
        Self(counts)
    }

    /// Returns whether so many edits could make one of the other: each changes two counts at most.
    fn may_be_within(&self, edits: usize, other: &Self) -> bool {
        let changed: usize = self.0.iter().zip(&other.0).map(|(a, b)| a.abs_diff(*b)).sum();
        changed <= 2 * edits
    }
}

/// Returns the tail of an error message that offers a suggestion, or nothing.
pub fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Letters, closest};

    proptest! {
        #[test]
        fn no_name_within_the_edits_is_passed_over(one in "[a-cX1]{0,8}", other in "[a-cX1]{0,8}") {
            let edits = strsim::damerau_levenshtein(&one.to_lowercase(), &other.to_lowercase());
            prop_assert!(Letters::of(&one).may_be_within(edits, &Letters::of(&other)));
        }
    }

    #[test]
    fn spelling_case_and_separators_are_forgiven() {
        let names = ["pre_tool_use", "post_tool_use", "stop"];
        assert_eq!(closest("PreToolUse", names), Some("pre_tool_use"));
        assert_eq!(closest("post-tool-use", names), Some("post_tool_use"));
        assert_eq!(closest("banana", names), None);
    }

    #[test]
    fn a_name_of_any_length_is_looked_up_at_once() {
        // Compared letter by letter, this would take gigabytes.
        assert_eq!(closest(&"stop".repeat(1 << 22), ["pre_tool_use", "stop"]), None);
        assert_eq!(closest("stoop", ["stop"]), Some("stop"));
        assert_eq!(closest("pre_tol_us", ["pre_tool_use"]), Some("pre_tool_use"));
    }
}
