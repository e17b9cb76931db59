//! Tests of this module.

use std::sync::Arc;

use super::super::condition::{Condition, found};
use super::*;
use crate::describe::{CallDescription, Command, DescribeCall, Memo};
use hookexec_files::source::SourceFile;
use hookexec_files::yaml;

fn read(text: &str) -> Result<Condition, String> {
    let file = Arc::new(SourceFile::new("when.yaml", text));
    let mut reader = Reader::new(Arc::clone(&file));
    let condition = Condition::read(&mut reader, &yaml::parse(&file, |_| false).unwrap(), "");
    condition.ok_or_else(|| {
        let problems = reader.problems;
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    })
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
        assert_eq!(condition.holds(&input, &Memo::default()), expected, "{text}");
        assert_eq!(condition.explain(&input, &Memo::default()).holds, expected, "{text}");
    }
}

/// Takes each word of an argument for a program.
#[derive(Debug)]
struct Words;

impl DescribeCall for Words {
    fn describe(&self, input: &Input) -> CallDescription {
        let mut description = CallDescription::default();
        let text = input.tool_input.as_ref().and_then(|arguments| arguments["command"].as_str());
        for word in text.unwrap_or_default().split_whitespace() {
            let program = word.to_owned();
            description.commands.push(Command { program, ..Command::default() });
        }
        description
    }

    fn kinds(&self, _: Option<&str>, _: &str) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn a_trace_shows_each_item_of_a_list() {
    let condition = read("{ any: commands, field: program, equals: rm }").unwrap();
    let input = Input::call("Bash").arg("command", "ls rm");
    assert_eq!(
        condition.explain(&input, &Memo::new(Some(&Words))).to_string(),
        "yes any of the commands\n\
         no    program equals \"rm\"  (is \"ls\")\n\
         yes   program equals \"rm\"  (is \"rm\")"
    );
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
        ("{ field: a..b, exists: true }", "`field: a..b` is not a valid path"),
        ("{ field: /, exists: true }", "`field: /` is not a valid path"),
        ("{ field: '', exists: true }", "`field` is empty"),
        ("{ field: cwd, in: [] }", "`in` is empty: the condition could never hold"),
        ("{ field: cwd, in: x }", "`in` must be a list, not text"),
        ("{ field: cwd, regex: 'a(' }", "not a valid regular expression: unclosed group"),
        ("{ field: cwd, glob: 'a[' }", "not a valid glob: unclosed character class; missing ']'"),
        ("{ field: cwd, exists: 1 }", "`exists` must be `true` or `false`, not a number"),
        ("{ all: [] }", "`all` is empty"),
        (
            "{ any: { field: cwd, exists: true } }",
            "`any` must be a list of conditions, not a mapping",
        ),
        ("{ any: command, field: program, equals: x }", "unknown value `command` for `any`"),
        ("{ any: commands }", "beside a list stands `where`, or one `field` and its operator"),
        ("{ any: commands, field: program }", "a condition needs an operator"),
        (
            "{ any: commands, all: files, field: program, equals: x }",
            "beside a list stands `where`, or one `field` and its operator",
        ),
        ("{ any: commands, where: { field: cwd, equals: x } }", "an item of the list has no `cwd`"),
        (
            "{ any: commands, where: { any: files, field: path, equals: x } }",
            "a condition on an item can't look at another list",
        ),
        (
            "{ field: commands.0.program, equals: x }",
            "`commands` is a list that is made when a condition asks for it",
        ),
        ("{ uncertain: command }", "unknown value `command` for `uncertain`"),
        (
            "{ uncertain: commands, field: cwd, exists: true }",
            "`uncertain` stands alone: nothing else goes beside it",
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
fn every_mistake_of_a_condition_is_reported_at_once() {
    let problems = read("{ field: a..b, regex: 'a(', colour: red }").unwrap_err();
    for part in ["unknown key `colour`", "is not a valid path", "unclosed group"] {
        assert!(problems.contains(part), "{problems}");
    }
}

#[test]
fn a_trace_shows_which_leaf_failed_and_what_was_seen() {
    let condition = read(
        "{ all: [{ field: tool_input.cmd, regex: '^git' }, { not: { field: tool_input.dry, equals: true } }] }",
    )
    .unwrap();
    assert_eq!(
        condition.explain(&input(), &Memo::default()).to_string(),
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

#[test]
fn a_glob_reads_paths_as_the_system_does() {
    for (glob, value, windows, linux) in [
        ("**/.env*", r"C:\work\.env", true, false),
        ("**/.env*", "/work/.ENV", true, false),
        ("C:/work/*", r"c:\work\x", true, false),
        ("C:/work/*", r"c:\work\x\y", false, false),
        ("**/.env*", "/work/.env", true, true),
    ] {
        for (slashes, expected) in [(true, windows), (false, linux)] {
            let pattern = Pattern::glob(glob, slashes).unwrap();
            let found = found(&pattern, &value.into(), slashes);
            assert_eq!(found, expected, "{glob} {value}");
        }
    }
}
