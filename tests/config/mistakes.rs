//! Mistakes in the YAML itself: each is reported on the line where it was made, with its cause.

use hookexec::Config;

/// A file, the line and column of its mistake, and what is said.
const MISTAKES: &[(&str, &str, &str)] = &[
    // Tabs.
    ("hooks:\n\tstop: []\n", "2:1", "a tab in the indentation"),
    ("stop:\n  - type: command\n\t  command: x\n", "3:1", "a tab in the indentation"),
    ("stop:\n  - type: command\n\n  \t  command: x\n", "4:3", "a tab in the indentation"),
    ("stop:\n  - command: |\n      foo\n\tbar\n", "4:1", "a tab in the indentation"),
    // Brackets.
    ("hooks: [\n- x\n", "1:8", "this `[` is still open on line 2"),
    ("stop: { type: command\nturn_end: []\n", "1:7", "this `{` is still open on line 2"),
    ("stop: [a, b\nturn_end: []\n", "1:7", "this `[` is still open on line 2"),
    ("stop:\n  - { command: x\n  - { command: y }\n", "2:5", "this `{` is never closed"),
    ("hooks: {\n  stop: [a\n", "2:9", "this `[` is never closed"),
    ("# {\na: '['\nb: |\n  {\nc: {", "5:4", "this `{` is never closed"),
    ("stop: [a, b}\n", "1:7", "this `[` is closed by a `}`"),
    ("{\n  \"a\": 1\n  \"b\": 2\n}\n", "3:6", "expected `,` or `}` before this"),
    ("a: [x {b,c}]\n", "1:7", "expected `,` or `]` before this"),
    ("a: { b: c: d }\n", "1:10", "expected `,` or `}` before this"),
    ("a: [b: c: d]\n", "1:9", "expected `,` or `]` before this"),
    ("a: { b: see #5, c: d }\n", "1:4", "this `{` is never closed"),
    // Indentation.
    (
        "stop:\n  - type: command\n  command: x\n",
        "3:3",
        "this line begins in the column of the `-` above it",
    ),
    (
        "stop:\n  - type: command\n   command: x\n",
        "3:4",
        "the indentation of this line fits no line above it",
    ),
    (
        "stop:\n  - type: command\n     command: x\n",
        "3:6",
        "this line continues the text of the line above it",
    ),
    (
        "hooks:\n  stop: []\n turn_end: []\n",
        "3:2",
        "the indentation of this line fits no line above it",
    ),
    // Spaces.
    ("pre_tool_use:\n  -matcher: shell\n   hooks: []\n", "2:3", "a `-` without a space behind it"),
    ("stop:\n  - type:command\n    command: x\n", "2:9", "a `:` without a space behind it"),
    ("stop:\n  -\u{a0}type: command\n    command: x\n", "2:4", "a no-break space (U+00A0)"),
    ("stop:\n\u{a0} - type: a\n   command: x\n", "2:1", "a no-break space (U+00A0)"),
    ("stop: []\nturn_end:\u{a0}[]\n", "2:10", "a no-break space (U+00A0)"),
    // Quotes.
    ("stop:\n  - command: \"abc\n    timeout: 5\n", "2:14", "this quote is never closed"),
    ("a: [b, 'c]\n", "1:8", "this quote is never closed"),
    ("a: 'it's'\n", "1:8", "text after the closing quote"),
    ("a: \"\\d\"\n", "1:4", "unknown escape"),
    ("a: b: c\n", "1:5", "a `: ` in a text without quotes"),
    ("a: @x\n", "1:4", "a text can't begin with `@` here"),
    // Others.
    ("a: - b\n", "1:4", "a list can't begin on the line of its key"),
    ("a: |x\n", "1:4", "text behind a `|` or `>`"),
    ("stop:\n  - type: a\n    command x\n    name: y\n", "3:5", "expected a `:` after this key"),
    ("a: b\n...\n]", "3:1", "misplaced bracket"),
    ("a: !!str 1\n", "1:4", "unknown tag `!!str`"),
    ("a: &x 1\n<<: *x\n", "2:1", "`<<` needs a mapping to merge"),
];

#[test]
fn each_mistake_is_reported_where_it_was_made() {
    for (text, place, message) in MISTAKES {
        let problems = Config::from_yaml(text, "x.yaml").unwrap_err();
        let problem = problems.iter().next().unwrap();
        let location = problem.location.as_ref().unwrap();
        let found = format!("{}:{}", location.line(), location.column());
        assert_eq!((&*found, &*problem.message), (*place, *message), "{text}");
        assert!(
            problem.hint.is_some() || message.contains("bracket") || message.contains("closed by")
        );
    }
}

#[test]
fn aliases_repeat_a_bounded_amount_of_text() {
    let text = format!("a: &a \"{}\\n\"\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(1_000));
    let problems = Config::from_yaml(&text, "x.yaml").unwrap_err().to_string();
    assert!(problems.contains("the aliases expand to more than"), "{problems}");
}

#[test]
fn a_merge_keeps_what_is_there_and_hides_no_event() {
    let text = "\
x: &base { type: command, command: a, name: base }
stop: [{ <<: *base, name: own }, { <<: [{ name: first }, *base], timeout: 3 }]
";
    // `x` is no key of the file; what it holds is read all the same.
    let problems = Config::from_yaml(text, "x.yaml").unwrap_err();
    assert!(problems.to_string().starts_with("x.yaml:1:1: unknown key `x`; "), "{problems}");
    let text = text.replace("x: &base", "turn_end: &base");
    let config = Config::from_yaml(&text, "x.yaml").unwrap();
    let names: Vec<Option<&str>> = config.hooks.iter().map(|hook| hook.name.as_deref()).collect();
    assert_eq!(names, [Some("base"), Some("own"), Some("first")]);
    let hidden = "stop: &s []\nhooks:\n  <<: { stop: *s }\n  stop: []\n";
    let problems = Config::from_yaml(hidden, "x.yaml").unwrap_err().to_string();
    assert_eq!(
        problems,
        "x.yaml:3:3: the key `stop` appears twice after this merge; write the hooks of both into one list"
    );
}
