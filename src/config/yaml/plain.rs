//! Plain YAML, straight from the parser that the library is made around.
//!
//! The way through the library's deserializer costs twice what the parser does, and most files need
//! none of what it adds. Whatever is not plain is left to it: anchors, tags, merge keys, keys that are
//! no text, numbers other than simple integers, limits, and every mistake. So nothing is refused
//! here, and what is read is what the library would have read, which tests hold together.

use std::borrow::Cow;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span, StrInput};

use super::super::node::{Node, Value};
use super::{MAX_DEPTH, MAX_NODES, container};

/// How much text is read here; the library's other limits are far above it.
const MAX_SIZE: usize = 1 << 20;

/// Returns the tree of `text`, or `None` when it has to go the long way.
pub(super) fn parse(text: &str) -> Option<Node<'_>> {
    if text.len() > MAX_SIZE {
        return None;
    }
    let mut options = Options::default();
    options.set_emit_comments(false);
    let parser = Parser::new_from_str_with_options(text, options);
    let mut plain = Plain { text, parser, nodes: 0 };
    plain.expect(|event, _| *event == Event::StreamStart)?;
    plain.expect(|event, _| matches!(event, Event::DocumentStart(_, None)))?;
    let (event, span) = plain.next()?;
    let root = plain.node(event, &span, 0)?;
    // After a `...` the library has rules of its own.
    plain.expect(|event, span| *event == Event::DocumentEnd && span.is_empty())?;
    plain.expect(|event, _| *event == Event::StreamEnd)?;
    Some(root)
}

struct Plain<'t> {
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    nodes: usize,
}

impl<'t> Plain<'t> {
    fn next(&mut self) -> Option<(Event<'t>, Span)> {
        self.parser.next()?.ok()
    }

    fn expect(&mut self, is_expected: impl FnOnce(&Event<'t>, &Span) -> bool) -> Option<()> {
        let (event, span) = self.next()?;
        is_expected(&event, &span).then_some(())
    }

    /// Reads the value that begins with `event`, inside of `depth` others.
    fn node(&mut self, event: Event<'t>, span: &Span, depth: usize) -> Option<Node<'t>> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return None;
        }
        let span = span.byte_range()?;
        match event {
            Event::Scalar(content, style, 0, None) => {
                let value = match style {
                    ScalarStyle::Plain => scalar(content),
                    _ => Some(Value::Text(content)),
                };
                Some(Node { value: value?, span })
            }
            Event::SequenceStart(_, 0, None) if depth < MAX_DEPTH => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break,
                        (event, place) => items.push(self.node(event, &place, depth + 1)?),
                    }
                }
                let span = container(span, items.iter(), self.text);
                Some(Node { value: Value::List(items), span })
            }
            Event::MappingStart(_, 0, None) if depth < MAX_DEPTH => {
                let mut entries = Vec::new();
                loop {
                    let key = match self.next()? {
                        (Event::MappingEnd, _) => break,
                        (event, place) => self.node(event, &place, depth + 1)?,
                    };
                    key.as_text().filter(|key| *key != "<<")?;
                    let (event, place) = self.next()?;
                    entries.push((key, self.node(event, &place, depth + 1)?));
                }
                let span = container(span, entries.iter().map(|(_, value)| value), self.text);
                Some(Node { value: Value::Map(entries), span })
            }
            _ => None,
        }
    }
}

/// Returns the value of a scalar without quotes; `None` when that takes more than a look at it.
fn scalar(content: Cow<'_, str>) -> Option<Value<'_>> {
    if content.is_empty() || content == "~" || content.eq_ignore_ascii_case("null") {
        return Some(Value::Null);
    }
    for flag in [true, false] {
        if content.eq_ignore_ascii_case(if flag { "true" } else { "false" }) {
            return Some(Value::Bool(flag));
        }
    }
    if !may_be_number(&content) {
        return Some(Value::Text(content));
    }
    let digits = content.bytes().all(|byte| byte.is_ascii_digit());
    let simple = digits && content.len() < 19 && (content == "0" || !content.starts_with('0'));
    simple.then(|| content.parse().ok().map(Value::Number)).flatten()
}

/// Returns whether any reader of YAML might take `content` for a number.
fn may_be_number(content: &str) -> bool {
    let of_numbers = |byte: u8| byte.is_ascii_hexdigit() || b"+-._oxOX".contains(&byte);
    match content.bytes().find(|byte| !b"+-.".contains(byte)) {
        Some(b'0'..=b'9') => content.bytes().all(of_numbers),
        Some(b'i' | b'I' | b'n' | b'N') => {
            let named = content.trim_start_matches(['+', '-']);
            [".inf", ".nan"].iter().any(|name| named.eq_ignore_ascii_case(name))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::long;
    use super::*;

    /// Fails when the two ways read different things; returns whether the short one was taken.
    fn agrees(text: &str) -> bool {
        let Some(plain) = parse(text) else { return false };
        let long = long(text).map_err(|error| error.message);
        assert_eq!(format!("{:?}", Ok::<_, String>(plain)), format!("{long:?}"), "{text}");
        true
    }

    #[test]
    fn usual_files_go_the_short_way() {
        let text = "# A comment\n---\nhooks: # another\n  pre_tool_use:\n  - matcher: \"a|\\u0062\"\n    hooks:\n    \
            - { type: command, command: [./a.sh, '--x', -y, .z], timeout: 5, enabled: TRUE }\n    \
            - type: command\n      timeout: 500ms\n      name:\n      command: |\n        set -e\n        ./b.sh\n  stop: []\n";
        assert!(agrees(text));
        assert!(agrees("a: \u{e9} # \u{1f600}\nb: '\u{1f600}'\n\u{e9}: [\n  x y,\n  z\n  z ]\n"));
    }

    #[test]
    fn whatever_is_not_plain_goes_the_long_way() {
        for text in [
            "a: &x 1",
            "a: !!str 1",
            "a: {<<: {b: c}}",
            "1: a",
            "? [a]\n: b",
            "a: 0x1f",
            "a: 0777",
            "a: 1_000",
            "a: -3",
            "a: +3",
            "a: 1.5",
            "a: .5",
            "a: .inf",
            "a: -.NaN",
            "a: 1e3",
            "a: 0o7",
            "a: 0b1",
            "~: a",
            "a: 12345678901234567890",
            "a: *x",
            "a: [",
            "a:\n\tb: c",
            "a: b\n---\nc: d",
            "a: b\n...\n",
            "%YAML 1.2\n---\na: b",
            "",
            "a: b: c",
            "true: a",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
        for nested in ["[", "{a: ", "- "] {
            assert!(
                agrees(&nested.repeat(MAX_DEPTH)) || parse(&nested.repeat(MAX_DEPTH)).is_none()
            );
            assert!(parse(&nested.repeat(MAX_DEPTH + 1)).is_none());
        }
        assert!(parse(&"- a\n".repeat(MAX_NODES)).is_none());
        assert!(parse(&format!("a: {}", "b".repeat(MAX_SIZE))).is_none());
    }

    /// Pieces of which files are made, good and bad.
    fn piece() -> impl Strategy<Value = String> {
        let pieces = [
            "\n",
            "\n",
            "\n  ",
            "\n  ",
            "\n    ",
            "\n- ",
            "\n  - ",
            " ",
            "  ",
            ": ",
            ": ",
            ":",
            ",",
            ", ",
            "[",
            "]",
            "{",
            "}",
            "- ",
            "a",
            "b",
            "a: ",
            "b: ",
            "key: ",
            "'",
            "\"",
            "''",
            "\\",
            "\\n",
            "\\x41",
            "#",
            " # c",
            "|",
            "|-",
            "|2",
            ">",
            ">+",
            "&a ",
            "*a",
            "!!str ",
            "! ",
            "!x ",
            "<<: ",
            "<<",
            "=",
            "? ",
            "---",
            "\n---\n",
            "\n...\n",
            "%YAML 1.2",
            "\t",
            "\r\n",
            "\u{feff}",
            "\u{e9}",
            "\u{2028}",
            "\u{85}",
            "~",
            "null",
            "true",
            "False",
            "yes",
            "0",
            "7",
            "42",
            "007",
            "-1",
            "+1",
            "1_0",
            "0x1F",
            "0o17",
            "0b1",
            "1.5",
            "1.",
            ".5",
            ".",
            "..",
            "1e3",
            "1e999",
            ".inf",
            "-.INF",
            ".nan",
            "inf",
            "nan",
            "infinity",
            "5s",
            "2m",
            "1e",
            "0x",
            "12345678901234567890",
            "1:30",
            "@",
            "`",
            "%",
            "\0",
            "\u{7f}",
        ];
        prop::sample::select(pieces.to_vec()).prop_map(str::to_owned)
    }

    proptest! {
        #[test]
        fn both_ways_read_the_same(pieces in prop::collection::vec(piece(), 0..24)) {
            agrees(&pieces.concat());
        }

        #[test]
        fn both_ways_read_the_same_scalar(before in "[+.-]{0,2}", text in "[0-9a-fxob_.+eE-]{0,6}|[infatrueslNULL~.+-]{0,5}") {
            agrees(&format!("a: {before}{text}"));
            agrees(&format!("[{before}{text}]"));
            agrees(&format!("{before}{text}: a"));
        }
    }
}
