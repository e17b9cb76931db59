//! Lone surrogates in JSON: lenient writers write them, and strict parsers refuse them.

/// Replaces each `\uD800`-`\uDFFF` escape that is not half of a pair by `\uFFFD`, in place.
pub fn repair_lone_surrogates(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(offset) = bytes.get(at..).and_then(|rest| rest.iter().position(|&b| b == b'\\'))
    {
        at += offset;
        match (unit(bytes, at), unit(bytes, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(0xD800..=0xDFFF), _) => {
                bytes[at + 2..at + 6].copy_from_slice(b"FFFD");
                at += 6;
            }
            _ => at += 2,
        }
    }
}

/// Returns the number in the escape at `at`, if it is one such as `\ud800`.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        repair_lone_surrogates(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn only_lone_surrogates_are_repaired() {
        for (text, expected) in [
            (r#""a\ud800b""#, r#""a\uFFFDb""#),
            (r#""\udc00""#, r#""\uFFFD""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\uFFFD\ud83d\ude00""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\ud800""#, r#""\\\uFFFD""#),
            (r#""\ud8""#, r#""\ud8""#),
            (r#""\ud800\n""#, r#""\uFFFD\n""#),
            ("\"\\", "\"\\"),
            (r#""\u00e9""#, r#""\u00e9""#),
        ] {
            assert_eq!(repaired(text), expected, "{text}");
        }
    }
}
