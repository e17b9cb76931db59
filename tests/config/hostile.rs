//! Files that are no configuration at all, or mean harm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hookexec::Config;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

fn refusal(path: &Path) -> String {
    let problems = Config::load_file(path).unwrap_err();
    problems.render(false).replace(&*path.to_string_lossy(), "FILE")
}

#[test]
fn a_path_that_leads_to_no_readable_file() {
    let directory = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(refusal(&directory.path().join("missing.yaml")), @"
        error: the file does not exist
        --> FILE
        ");
    insta::assert_snapshot!(refusal(directory.path()), @"
        error: this is a directory, not a file
        --> FILE
         = help: name the file in it
        ");
    let unreadable = directory.path().join("unreadable.yaml");
    fs::write(&unreadable, "hooks: {}").unwrap();
    fs::set_permissions(&unreadable, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&unreadable).is_err() {
        insta::assert_snapshot!(refusal(&unreadable), @"
        error: no permission to read this file
        --> FILE
         = help: check its mode and owner
        ");
    }
    let through_a_file = unreadable.join("hooks.yaml");
    assert!(refusal(&through_a_file).contains("Not a directory"));
}

#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("huge.yaml");
    // Sparse: it costs neither time nor room to make.
    fs::File::create(&path).unwrap().set_len(50 << 20).unwrap();
    insta::assert_snapshot!(refusal(&path), @"
        error: the file is larger than 1 MiB
        --> FILE
         = help: a configuration is small; is this the right file?
        ");
    // One that has no end.
    assert!(refusal(Path::new("/dev/zero")).contains("larger than 1 MiB"));
}

#[test]
fn nesting_and_repetition_have_an_end() {
    let brackets = "[".repeat(100_000);
    let braces = "{a: ".repeat(100_000);
    let items = "- ".repeat(100_000);
    let keys: Vec<String> = (0..1_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let keys = keys.concat();
    let chain: String = (1..500)
        .map(|n| format!("- &a{n} {}*a{}{}\n", "[".repeat(20), n - 1, "]".repeat(20)))
        .fold("- &a0 x\n".to_owned(), |text, line| text + &line);
    let conditions = format!(
        "stop: {{ type: command, command: a, when: {} {{ field: a, exists: true }} {} }}",
        "{ not: ".repeat(2_000),
        "}".repeat(2_000)
    );
    for text in [brackets, braces, items, keys, chain, conditions] {
        let problems = Config::from_yaml(&text, "deep.yaml").unwrap_err().render(false);
        assert!(problems.contains("nested deeper than 24 levels"), "{problems}");
    }
}

#[test]
fn a_file_of_nothing_but_mistakes_has_an_end_too() {
    let keys: Vec<String> = (0..20_000).map(|number| format!("key{number}: 1\n")).collect();
    let line = format!("stop: [{}]", "{ type: command, command: a, x: 1 }, ".repeat(4_000));
    for (text, mistakes) in [(keys.concat(), 20_000), (line, 4_000)] {
        let problems = Config::from_yaml(&text, "many.yaml").unwrap_err();
        assert_eq!(problems.iter().count(), mistakes);
        let rest = format!("... and {} more\n", mistakes - 50);
        assert!(problems.render(false).ends_with(&rest));
        assert!(serde_json::to_string(&problems).is_ok());
    }
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let text = "stop: { type: command, command: a, \"x\\e[31m\\a\\u202e\": \"\\e]0;x\\a\" }";
    let shown = Config::from_yaml(text, "x.yaml").unwrap_err().render(false);
    let control = shown.chars().find(|letter| letter.is_control() && *letter != '\n');
    assert_eq!(control, None, "{shown:?}");
    assert!(!shown.contains('\u{202e}'));
}

#[test]
fn patterns_cannot_take_stack_or_memory() {
    let nested = "{a,".repeat(20_000) + &"}".repeat(20_000);
    for (operator, pattern, problem) in [
        ("glob", nested.as_str(), "it opens more than 64 braces"),
        ("regex", "(a{1000}){1000}", "it is too large: it repeats too much, too often"),
    ] {
        let when = format!("{{ field: a, {operator}: \"{pattern}\" }}");
        let text = format!("stop: {{ type: command, command: a, when: {when} }}");
        let problems = Config::from_yaml(&text, "large.yaml").unwrap_err().render(false);
        assert!(problems.contains(problem), "{problems}");
    }
}

/// The inputs that failed once.
const FAILED_BEFORE: FileFailurePersistence =
    FileFailurePersistence::Direct("tests/proptest-regressions/hostile.txt");

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: Some(Box::new(FAILED_BEFORE)), ..ProptestConfig::with_cases(256) })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hooks.yaml");
        fs::write(&path, &bytes).unwrap();
        if let Err(problems) = Config::load_file(&path) {
            prop_assert!(!problems.render(true).is_empty());
            prop_assert!(serde_json::to_string(&problems).is_ok());
        }
    }

    /// Words of the language in any order come further than bytes do.
    #[test]
    fn arbitrary_words_never_panic(words in proptest::collection::vec(prop::sample::select(WORDS), 0..60)) {
        let text: String = words.concat();
        if let Err(problems) = Config::from_yaml(&text, "hooks.yaml") {
            prop_assert!(!problems.render(false).is_empty());
            prop_assert!(serde_json::to_string(&problems).is_ok());
        }
    }
}

const WORDS: &[&str] = &[
    "\n",
    "\n  ",
    "\n    ",
    "\n- ",
    "\n  - ",
    "\t",
    ": ",
    ": ",
    ", ",
    "- ",
    "[",
    "]",
    "{ ",
    " }",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "!x ",
    "'",
    "\"",
    "\\",
    "|\n",
    ">-\n",
    "# c\n",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "? ",
    "~",
    "é",
    "\u{feff}",
    "hooks",
    "pre_tool_use",
    "stop",
    "agents",
    "root",
    "processes",
    "defaults",
    "builtins",
    "matcher",
    "type",
    "command",
    "when",
    "all",
    "any",
    "not",
    "field",
    "equals",
    "in",
    "regex",
    "glob",
    "exists",
    "timeout",
    "on_error",
    "block",
    "intercept",
    "observe",
    "priority",
    "env",
    "with",
    "args",
    "1",
    "-1",
    "0x1f",
    "1e999",
    ".inf",
    ".nan",
    "0777",
    "5s",
    "true",
    "yes",
    "null",
    "a(",
    "**/x",
    "x: 1",
    "stop: { type: command, command: a }",
];
