//! Texts with fields in them, such as `{{session_id}}` or `${tool_input.path}`.

/// A part of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'t> {
    /// A text that stays.
    Text(&'t str),
    /// The text between the marks of a field.
    Field(&'t str),
    /// A field that does not end, with its first mark.
    Open(&'t str),
}

/// Splits a template into its parts. A field stands between `open` and `close`.
pub fn parts<'t>(template: &'t str, open: &str, close: &str) -> Vec<Part<'t>> {
    let (mut parts, mut rest) = (Vec::new(), template);
    while let Some(at) = rest.find(open) {
        let (before, from) = rest.split_at(at);
        parts.push(Part::Text(before));
        let Some((field, after)) = from[open.len()..].split_once(close) else {
            parts.push(Part::Open(from));
            return without_empty(parts);
        };
        parts.push(Part::Field(field));
        rest = after;
    }
    parts.push(Part::Text(rest));
    without_empty(parts)
}

/// Fills a page: each `{{name}}` in it becomes the value of that name.
pub fn filled(page: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    for part in parts(page, "{{", "}}") {
        match part {
            Part::Text(text) | Part::Open(text) => filled.push_str(text),
            Part::Field(name) => {
                for (known, value) in values {
                    if *known == name {
                        filled.push_str(value);
                    }
                }
            }
        }
    }
    filled
}

fn without_empty(mut parts: Vec<Part<'_>>) -> Vec<Part<'_>> {
    parts.retain(|part| *part != Part::Text(""));
    parts
}

#[cfg(test)]
mod tests {
    use super::{Part::*, *};

    #[test]
    fn a_template_is_split_at_its_fields() {
        for (template, expected) in [
            ("", vec![]),
            ("a b", vec![Text("a b")]),
            ("{{a}}", vec![Field("a")]),
            ("x{{ a }}{{b}}y", vec![Text("x"), Field(" a "), Field("b"), Text("y")]),
            ("x{{a}}{{", vec![Text("x"), Field("a"), Open("{{")]),
            ("{{a {b}} }}", vec![Field("a {b"), Text(" }}")]),
        ] {
            assert_eq!(parts(template, "{{", "}}"), expected, "{template}");
        }
    }
}
