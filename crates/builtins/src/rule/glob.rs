//! Words with `*`, compared with texts.

/// Returns whether a pattern, in which `*` stands for any letters, fits the whole of a text.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let Some((first, mut rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    while let Some((part, after)) = rest.split_once('*') {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
        rest = after;
    }
    text.len() >= rest.len() && text.ends_with(rest)
}

/// Returns whether a pattern fits a text in any case of the letters from a to z.
pub(super) fn glob_any_case(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.as_bytes(), text.as_bytes());
    // The part of the pattern behind its last `*`, and the text that it was last compared with.
    let mut last = None;
    loop {
        match (pattern.split_first(), text.split_first()) {
            (Some((b'*', rest)), _) => {
                last = Some((rest, text));
                pattern = rest;
            }
            (Some((wanted, rest)), Some((letter, others)))
                if wanted.eq_ignore_ascii_case(letter) =>
            {
                (pattern, text) = (rest, others);
            }
            (None, None) => return true,
            _ => {
                let Some((behind, [_, next @ ..])) = last else { return false };
                last = Some((behind, next));
                (pattern, text) = (behind, next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, text, fits) in [
            ("push", "push", true),
            ("push", "pushx", false),
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "ac", true),
            ("a*a", "a", false),
            ("*b*", "abc", true),
            ("*://*?*token=*", "https://x/?token=1", true),
            ("a*b*c", "axbxbc", true),
            ("a*b*c", "axcxb", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
            let text = text.to_uppercase();
            assert_eq!(glob_any_case(pattern, &text), fits, "{pattern} {text}");
        }
    }
}
