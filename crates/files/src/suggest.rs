//! "Did you mean": one place for every name that a user can misspell.

/// Returns the candidate that `name` was probably meant to be.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(name);
    let mut allowed = (wanted.chars().count() / 3).max(1);
    let mut closest = None;
    for candidate in candidates {
        // To count edits takes time and memory for each pair of characters.
        if name.len().max(candidate.len()) >= 64 {
            continue;
        }
        let edits = strsim::damerau_levenshtein(&wanted, &plain(candidate));
        if edits < candidate.len() && (edits < allowed || edits == allowed && closest.is_none()) {
            (allowed, closest) = (edits, Some(candidate));
        }
    }
    closest
}

/// Returns a name without case and separators.
fn plain(name: &str) -> String {
    name.to_lowercase().replace(['-', ' ', '_'], "")
}

/// Returns the hint "did you mean ...?", when a candidate is near.
pub fn hint<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(name, candidates).map(question)
}

/// Returns the hint for an unknown name: "did you mean ...?" when a known one is near, else all known
/// names behind `listed`.
pub fn hint_or_list<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    listed: &str,
) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match closest(name, known.iter().copied()) {
        Some(meant) => question(meant),
        None => format!("{listed} {}", known.join(", ")),
    }
}

/// Returns the hint for a name that was probably meant to be `meant`.
pub fn question(meant: &str) -> String {
    format!("did you mean `{meant}`?")
}

/// Returns the tail of an error message that offers a suggestion, or nothing.
pub fn did_you_mean(suggestion: Option<&str>) -> String {
    match suggestion {
        Some(meant) => format!("; {}", question(meant)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{closest, hint_or_list};

    #[test]
    fn spelling_case_and_separators_are_forgiven() {
        let names = ["pre_tool_use", "post_tool_use", "stop"];
        assert_eq!(closest("PreToolUse", names), Some("pre_tool_use"));
        assert_eq!(closest("post-tool-use", names), Some("post_tool_use"));
        assert_eq!(closest("banana", names), None);
    }

    #[test]
    fn an_unknown_name_gets_the_near_one_or_all() {
        let hint = |name| hint_or_list(name, ["stop", "notification"], "known:");
        assert_eq!(hint("stopp"), "did you mean `stop`?");
        assert_eq!(hint("banana"), "known: stop, notification");
    }

    #[test]
    fn a_name_of_any_length_is_looked_up_at_once() {
        // Compared letter by letter, this would take gigabytes.
        assert_eq!(closest(&"stop".repeat(1 << 22), ["pre_tool_use", "stop"]), None);
        assert_eq!(closest("stoop", ["stop"]), Some("stop"));
        assert_eq!(closest("pre_tol_us", ["pre_tool_use"]), Some("pre_tool_use"));
    }
}
