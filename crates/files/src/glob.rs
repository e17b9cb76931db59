//! Words with `*`, compared with texts.

/// Returns whether a pattern, in which `*` stands for any letters, fits the whole of a text.
pub fn glob(pattern: &str, text: &str) -> bool {
    like(pattern, text, |own, letter| own == letter)
}

/// Returns whether a pattern fits a text in any case of the letters from a to z.
pub fn glob_any_case(pattern: &str, text: &str) -> bool {
    like(pattern, text, |own, letter| own.eq_ignore_ascii_case(&letter))
}

/// Returns whether one of the patterns fits the whole of a text.
pub fn one_fits(patterns: impl IntoIterator<Item: AsRef<str>>, text: &str) -> bool {
    for pattern in patterns {
        if glob(pattern.as_ref(), text) {
            return true;
        }
    }
    false
}

/// Returns whether a pattern fits the whole of a text, where letters are compared by `fits`.
pub fn like(pattern: &str, text: &str, fits: fn(char, char) -> bool) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // The part of the pattern behind its last `*`, and the text that it was last compared with.
    let mut last = None;
    loop {
        let rest = text.clone();
        match (pattern.next(), text.next()) {
            (Some('*'), _) => {
                last = Some((pattern.clone(), rest.clone()));
                text = rest;
            }
            (Some(own), Some(letter)) if fits(own, letter) => {}
            (None, None) => return true,
            _ => {
                let Some((start, mut next)) = last else { return false };
                if next.next().is_none() {
                    return false;
                }
                (pattern, text) = (start.clone(), next.clone());
                last = Some((start, next));
            }
        }
    }
}

/// Returns whether a text has one of these parts.
pub fn has_part(text: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| text.contains(part))
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
