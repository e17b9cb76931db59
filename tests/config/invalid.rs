//! Every file of `tests/configs/invalid` is refused; the text that says why is kept beside it.

use crate::registry::everything;
use std::path::{Path, PathBuf};

use hookexec::{Config, Executor};
use hookexec_project::LoadOptions;

/// Returns the files of a directory, in the order of their names.
pub(crate) fn files(directory: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|name| name == "yaml" || name == "json"))
        .collect();
    files.sort();
    files
}

/// Returns where the texts about the files of a directory of `tests/configs` are kept: beside them.
pub(crate) fn snapshots(directory: &str) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("../configs/{directory}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

#[test]
fn every_invalid_file_says_what_is_wrong_and_where() {
    let files = files("tests/configs/invalid");
    assert!(files.len() >= 40, "{}", files.len());
    let mut settings = snapshots("invalid");
    for file in files {
        let problems = match Config::load_file(&file) {
            Ok(config) => Executor::builder(config)
                .registry(everything())
                .build()
                .expect_err(&file.to_string_lossy()),
            Err(problems) => problems,
        };
        assert!(problems.has_errors());
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        settings.set_input_file(&file);
        settings.bind(|| insta::assert_snapshot!(name, problems.render(false)));
    }
}

#[test]
fn problems_are_data_too() {
    let problems = Config::load_file("tests/configs/invalid/missing-type.yaml").unwrap_err();
    insta::assert_json_snapshot!(problems, @r#"
        [
          {
            "path": "tests/configs/invalid/missing-type.yaml",
            "line": 3,
            "column": 7,
            "end_line": 3,
            "end_column": 26,
            "severity": "error",
            "message": "a hook needs a `type`",
            "hint": "add `type:` with `rule`, `command`, `builtin`, `process`, `http`, `mcp` or `model`"
          }
        ]
        "#);
    let problems = Config::load_file(Path::new("tests/configs/none.yaml")).unwrap_err();
    insta::assert_json_snapshot!(problems, @r#"
        [
          {
            "path": "tests/configs/none.yaml",
            "severity": "error",
            "message": "the file does not exist"
          }
        ]
        "#);
}

#[test]
fn colour_is_only_there_when_asked_for() {
    let problems = Config::load_file("tests/configs/invalid/missing-type.yaml").unwrap_err();
    assert!(!problems.render(false).contains('\u{1b}'));
    assert!(problems.render(true).contains('\u{1b}'));
}

#[test]
fn a_misspelt_command_is_one_problem_and_a_missing_one_too() {
    let directory = tempfile::tempdir().unwrap();
    for (hook, message) in [
        ("{ type: command, comand: a }", "unknown key `comand` in a hook"),
        ("{ type: command }", "a hook needs a `command`"),
    ] {
        std::fs::write(directory.path().join("hooks.yaml"), format!("stop:\n- {hook}\n")).unwrap();
        let mut options = LoadOptions::default();
        options.isolated = true;
        options.managed_dir = Some(directory.path().into());
        let check = hookexec_project::check(&options, everything());
        let told: Vec<&str> = check.problems.iter().map(|problem| &*problem.message).collect();
        assert_eq!(told, [message]);
    }
}

#[test]
fn problems_of_reading_and_of_building_come_out_at_once_in_the_order_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hooks.yaml");
    let text = "\
processes: { broken: { comand: [x] } }
stop:
- { type: comand, command: a }
- { type: command, command: b, timeout: 0 }
- { type: builtin, command: nothing_of_this_name }
- { type: process, command: broken }
- { type: command, command: c }
";
    std::fs::write(&path, text).unwrap();
    let mut options = LoadOptions::default();
    options.isolated = true;
    options.managed_dir = Some(directory.path().into());
    let check = hookexec_project::check(&options, everything());
    let told: Vec<(usize, &str)> = check
        .problems
        .iter()
        .map(|problem| (problem.location.as_ref().unwrap().line(), &*problem.message))
        .collect();
    let lines: Vec<usize> = told.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 3, 4, 5], "{told:?}");
    assert_eq!(told[1].1, "unknown hook type `comand`");
}
