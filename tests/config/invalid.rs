//! Every file of `tests/configs/invalid` is refused; the text that says why is kept beside it.

use std::path::{Path, PathBuf};

use hookexec::Config;

/// Returns the files of a directory, in the order of their names.
pub(crate) fn files(directory: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|name| name == "yaml" || name == "json"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_invalid_file_says_what_is_wrong_and_where() {
    let files = files("tests/configs/invalid");
    assert!(files.len() >= 40, "{}", files.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../configs/invalid");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for file in files {
        let problems = Config::load_file(&file).expect_err(&file.to_string_lossy());
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
            "hint": "add `type: command`, `type: builtin` or `type: process`"
          }
        ]
        "#);
    let problems = Config::load_file(Path::new("tests/configs/none.yaml")).unwrap_err();
    insta::assert_json_snapshot!(problems, @r#"
        [
          {
            "path": "tests/configs/none.yaml",
            "severity": "error",
            "message": "there is no such file"
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
