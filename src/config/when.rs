//! Reads `when:`.

use super::condition::{Condition, Field, Leaf, Test};
use super::diagnostic::Diagnostic;
use super::matcher::looks_around;
use super::node::{Node, Value};
use super::reader::{Fields, Reader};
use crate::pattern::Pattern;
use crate::suggest;
use crate::wire::Input;

/// The keys of a condition: a join, or a field and one operator.
pub(super) const KEYS: [&str; 9] =
    ["all", "any", "not", "field", "equals", "in", "regex", "glob", "exists"];
const JOINS: [&str; 3] = ["all", "any", "not"];
const OPERATORS: [&str; 5] = ["equals", "in", "regex", "glob", "exists"];

const HINT: &str =
    "write `{ field: tool_input.cmd, regex: '^rm ' }`, or join several with `all`, `any`, `not`";

impl Reader {
    /// Reads a condition; `None` when it is broken, which is reported.
    pub(super) fn condition(&mut self, node: &Node) -> Option<Condition> {
        if matches!(node.value, Value::List(_)) {
            self.error_with_hint(
                node,
                "a condition must be a mapping, not a list",
                "write `all: [...]` when every one must hold, `any: [...]` when one is enough",
            );
            return None;
        }
        let errors = self.errors();
        let fields = self.fields(node, "a condition", &KEYS)?;
        let joins: Vec<_> = fields.iter().filter(|(name, ..)| JOINS.contains(name)).collect();
        let condition = match joins.as_slice() {
            [] => self.leaf(node, &fields, errors).map(Condition::Leaf),
            [(name, _, value)] if fields.iter().count() == 1 => match *name {
                "all" => self.conditions(value, "all").map(Condition::All),
                "any" => self.conditions(value, "any").map(Condition::Any),
                _ => self.condition(value).map(|part| Condition::Not(Box::new(part))),
            },
            [(name, key, _), ..] => {
                if self.errors() == errors {
                    self.error_with_hint(
                        key,
                        format!("`{name}` stands alone: nothing else goes beside it"),
                        "put every part into one `all: [...]`",
                    );
                }
                None
            }
        };
        condition.filter(|_| self.errors() == errors)
    }

    fn conditions(&mut self, node: &Node, name: &str) -> Option<Vec<Condition>> {
        let Value::List(items) = &node.value else {
            self.error_with_hint(
                node,
                format!("`{name}` must be a list of conditions, not {}", node.kind()),
                format!("write `{name}: [ {{ field: ..., equals: ... }} ]`"),
            );
            return None;
        };
        if items.is_empty() {
            self.error(node, format!("`{name}` is empty"));
            return None;
        }
        let parts: Vec<Condition> = items.iter().filter_map(|item| self.condition(item)).collect();
        (parts.len() == items.len()).then_some(parts)
    }

    /// Reads a leaf; what it lacks is not reported when one of its keys was wrong already.
    fn leaf(&mut self, node: &Node, fields: &Fields<'_>, errors: usize) -> Option<Leaf> {
        let field = if let Some(value) = fields.get("field") {
            self.condition_field(value)
        } else {
            if self.errors() == errors {
                self.error_with_hint(node, "a condition needs a `field`", HINT);
            }
            None
        };
        let operators: Vec<_> =
            fields.iter().filter(|(name, ..)| OPERATORS.contains(name)).collect();
        let test = match operators.as_slice() {
            [] => {
                if self.errors() == errors {
                    let hint = format!("add one of {}", OPERATORS.join(", "));
                    self.error_with_hint(node, "a condition needs an operator", hint);
                }
                None
            }
            [(name, _, value)] => self.test(name, value),
            [_, (name, key, _), ..] => {
                self.error_with_hint(
                    key,
                    format!("a second operator, `{name}`, in one condition"),
                    "write two conditions and join them with `all`",
                );
                None
            }
        };
        Some(Leaf::new(field?, test?))
    }

    fn condition_field(&mut self, node: &Node) -> Option<Field> {
        let written = self.filled_text(node, "`field`")?;
        match Field::parse(&written) {
            Ok(field) => {
                let top = field.top();
                let known =
                    [&Input::FIELDS[..], &Input::CARRIED, &Input::OF_CONTROL_EVENTS].concat();
                if !known.contains(&top) {
                    let warning = format!("no input of ours has a field `{top}`");
                    let hint = match suggest::closest(top, Input::FIELDS) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => {
                            format!("a tool's arguments are below `tool_input`: `tool_input.{top}`")
                        }
                    };
                    self.report(node, Diagnostic::warning(warning).hint(hint));
                }
                Some(field)
            }
            Err(cause) => {
                self.error_with_hint(
                    node,
                    format!("`field: {written}`: {cause}"),
                    "write keys joined by dots (`tool_input.cmd`) or a JSON pointer (`/tool_input/cmd`)",
                );
                None
            }
        }
    }

    fn test(&mut self, operator: &str, node: &Node) -> Option<Test> {
        match operator {
            "equals" => self.json(node).map(Test::Equals),
            "in" => {
                let Value::List(items) = &node.value else {
                    self.error_with_hint(
                        node,
                        format!("`in` must be a list, not {}", node.kind()),
                        "for one value use `equals`",
                    );
                    return None;
                };
                if items.is_empty() {
                    self.error(node, "`in` is empty: the condition could never hold");
                    return None;
                }
                Some(Test::In(items.iter().filter_map(|item| self.json(item)).collect()))
            }
            "regex" => {
                let text = self.text(node, "`regex`")?;
                let pattern = Pattern::new(&text);
                let hint = looks_around(&text).then_some("join conditions with `all` and `not`");
                self.pattern(node, "regular expression", pattern, hint).map(Test::Regex)
            }
            "glob" => {
                let text = self.text(node, "`glob`")?;
                self.pattern(node, "glob", Test::glob(&text), None)
            }
            _ => self.boolean(node, "`exists`").map(Test::Exists),
        }
    }

    fn pattern<T>(
        &mut self,
        node: &Node,
        what: &str,
        pattern: Result<T, String>,
        hint: Option<&str>,
    ) -> Option<T> {
        let problem = |cause| Diagnostic {
            hint: hint.map(str::to_owned),
            ..Diagnostic::error(format!("not a valid {what}: {cause}"))
        };
        pattern.map_err(|cause| self.report(node, problem(cause))).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::source::SourceFile;
    use super::super::yaml;
    use super::*;

    fn read(text: &str) -> Result<Condition, String> {
        let mut reader = Reader::new(Arc::new(SourceFile::new("when.yaml", text)));
        let condition = reader.condition(&yaml::parse(text).unwrap());
        condition.ok_or_else(|| reader.into_problems().to_string())
    }

    fn input() -> Input {
        let text = r#"{"session_id":"s1","cwd":"/p","hook_event_name":"pre_tool_use","tool_name":"shell",
            "tool_input":{"cmd":"rm -rf /","argv":["rm","-rf","/"],"path":"/home/u/.env.local","count":3,"ratio":3.0,
            "big":12345678901234567890123,"small":1e2,"nearly":10.000000000000000000000000000001,"zero":-0,"flag":true,"nothing":null,"a.b":"dotted","":1,"lines":"/p/\n/../.env","deep":{"x":[1,{"y":"z"}]}}}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_truth_table() {
        let cases = [
            // equals: types count, spellings of numbers do not
            ("{ field: tool_name, equals: shell }", true),
            ("{ field: tool_name, equals: Shell }", false),
            ("{ field: tool_input.count, equals: 3 }", true),
            ("{ field: tool_input.count, equals: 3.0 }", true),
            ("{ field: tool_input.ratio, equals: 3 }", true),
            ("{ field: tool_input.small, equals: 100 }", true),
            ("{ field: tool_input.small, equals: 10 }", false),
            ("{ field: tool_input.count, equals: '3' }", false),
            ("{ field: tool_input.count, equals: -3 }", false),
            ("{ field: tool_input.big, equals: 12345678901234567890123 }", true),
            ("{ field: tool_input.big, equals: 12345678901234567890124 }", false),
            ("{ field: tool_input.big, equals: 12345678901234567890123.0 }", true),
            ("{ field: tool_input.nearly, equals: 10 }", true),
            ("{ field: tool_input.nearly, equals: 11 }", false),
            ("{ field: tool_input.zero, equals: 0 }", true),
            ("{ field: tool_input.flag, equals: true }", true),
            ("{ field: tool_input.flag, equals: 'true' }", false),
            ("{ field: tool_input.nothing, equals: null }", true),
            ("{ field: tool_input.argv, equals: [rm, -rf, /] }", true),
            ("{ field: tool_input.argv, equals: [rm, -rf] }", false),
            ("{ field: tool_input.deep, equals: { x: [1.0, { y: z }] } }", true),
            // in
            ("{ field: session_id, in: [s0, s1] }", true),
            ("{ field: session_id, in: [s0] }", false),
            ("{ field: tool_input.count, in: ['3', 4] }", false),
            // regex: unanchored; looks into lists, not into mappings
            (r"{ field: tool_input.cmd, regex: '^(rm|dd)\b' }", true),
            ("{ field: tool_input.cmd, regex: 'rf' }", true),
            ("{ field: tool_input.cmd, regex: '^rf' }", false),
            ("{ field: tool_input.argv, regex: '^-rf$' }", true),
            ("{ field: tool_input.count, regex: '^3$' }", true),
            ("{ field: tool_input.deep, regex: 'z' }", false),
            ("{ field: tool_input.nothing, regex: '' }", false),
            // glob: `*` stays within a directory
            ("{ field: tool_input.path, glob: '**/.env*' }", true),
            ("{ field: tool_input.path, glob: '*.local' }", false),
            ("{ field: tool_input.path, glob: '/home/*/.env*' }", true),
            ("{ field: tool_input.path, glob: '/home/*' }", false),
            ("{ field: tool_input.path, glob: '/home/**' }", true),
            ("{ field: tool_input.path, glob: '/home/u/.{env,git}*' }", true),
            // what a glob goes across may hold a line's end; in a `regex` the author says
            ("{ field: tool_input.lines, glob: '**/.env*' }", true),
            ("{ field: tool_input.lines, glob: '/p/*/../.env' }", true),
            ("{ field: tool_input.lines, regex: '^/p.*env$' }", false),
            ("{ field: tool_input.lines, regex: '(?s)^/p.*env$' }", true),
            // exists
            ("{ field: tool_input.cmd, exists: true }", true),
            ("{ field: tool_input.cmd, exists: false }", false),
            ("{ field: tool_input.nothing, exists: true }", true),
            ("{ field: tool_input.absent, exists: true }", false),
            ("{ field: tool_input.absent, exists: false }", true),
            // a missing field matches nothing else
            ("{ field: tool_input.absent, equals: null }", false),
            ("{ field: tool_input.absent, in: [null] }", false),
            ("{ field: tool_input.absent, regex: '' }", false),
            ("{ field: tool_input.absent, glob: '**' }", false),
            ("{ not: { field: tool_input.absent, equals: x } }", true),
            ("{ not: { field: tool_input.absent, exists: false } }", false),
            // paths
            ("{ field: /tool_input/cmd, equals: 'rm -rf /' }", true),
            ("{ field: /tool_input/a.b, equals: dotted }", true),
            ("{ field: tool_input.a.b, exists: true }", false),
            ("{ field: tool_input.argv.0, equals: rm }", true),
            ("{ field: tool_input.argv.3, exists: true }", false),
            ("{ field: tool_input.deep.x.1.y, equals: z }", true),
            ("{ field: tool_name.x, exists: true }", false),
            // joins
            ("{ all: [{ field: tool_name, equals: shell }, { field: cwd, equals: /p }] }", true),
            ("{ all: [{ field: tool_name, equals: shell }, { field: cwd, equals: /q }] }", false),
            ("{ any: [{ field: tool_name, equals: x }, { field: cwd, equals: /p }] }", true),
            ("{ any: [{ field: tool_name, equals: x }, { field: cwd, equals: /q }] }", false),
            (
                "{ not: { any: [{ field: tool_name, equals: x }, { not: { field: cwd, exists: true } }] } }",
                true,
            ),
        ];
        let input = input();
        for (text, expected) in cases {
            let condition = read(text).unwrap();
            assert_eq!(condition.holds(&input), expected, "{text}");
            assert_eq!(condition.explain(&input).holds, expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        let cases = [
            ("[]", "a condition must be a mapping, not a list"),
            ("x", "a condition must be a mapping, not text"),
            ("{}", "a condition needs a `field`"),
            ("{ field: cwd }", "a condition needs an operator"),
            ("{ equals: a }", "a condition needs a `field`"),
            ("{ field: cwd, equals: 1, regex: b }", "a second operator, `regex`, in one condition"),
            ("{ field: cwd, equal: 1 }", "unknown key `equal` in a condition"),
            ("{ field: a..b, exists: true }", "`field: a..b`: a part of the path is empty"),
            ("{ field: /, exists: true }", "`field: /`: a part of the path is empty"),
            ("{ field: '', exists: true }", "`field` is empty"),
            ("{ field: cwd, in: [] }", "`in` is empty: the condition could never hold"),
            ("{ field: cwd, in: x }", "`in` must be a list, not text"),
            ("{ field: cwd, regex: 'a(' }", "not a valid regular expression: unclosed group"),
            (
                "{ field: cwd, glob: 'a[' }",
                "not a valid glob: unclosed character class; missing ']'",
            ),
            ("{ field: cwd, exists: 1 }", "`exists` must be `true` or `false`, not a number"),
            ("{ all: [] }", "`all` is empty"),
            (
                "{ any: { field: cwd, exists: true } }",
                "`any` must be a list of conditions, not a mapping",
            ),
            (
                "{ all: [{ field: cwd, exists: true }], field: cwd }",
                "`all` stands alone: nothing else goes beside it",
            ),
        ];
        for (text, message) in cases {
            let problems = read(text).unwrap_err();
            assert_eq!(problems, format!("when.yaml:1: {message}"), "{text}");
        }
    }

    #[test]
    fn a_trace_shows_which_leaf_failed_and_what_was_seen() {
        let condition = read(
            "{ all: [{ field: tool_input.cmd, regex: '^git' }, { not: { field: tool_input.dry, equals: true } }] }",
        )
        .unwrap();
        assert_eq!(
            condition.explain(&input()).to_string(),
            "no  all\n\
             no    tool_input.cmd regex \"^git\"  (is \"rm -rf /\")\n\
             yes   not\n\
             no      tool_input.dry equals true  (is missing)"
        );
        assert_eq!(
            condition.to_string(),
            "all(tool_input.cmd regex \"^git\", not(tool_input.dry equals true))"
        );
    }
}
