//! Every file in `examples/` is sound, and decides what its sidecar in `tests/cases/` says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::registry::everything;
use crate::support::Sandbox;

/// One event, and what must come of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    event: String,
    input: Value,
    /// The exit code.
    exit: i32,
    /// A part of the verdict: every key given here must be there with this value, at any depth.
    #[serde(default)]
    verdict: serde_json::Map<String, Value>,
    /// Keys that the verdict must not have.
    #[serde(default)]
    absent: Vec<String>,
    /// Files below the home directory, with what they hold in the end.
    #[serde(default)]
    home: BTreeMap<PathBuf, String>,
    /// Files of the project that are there from the start.
    #[serde(default)]
    project: BTreeMap<PathBuf, String>,
}

fn root() -> &'static Path {
    Path::new(crate::support::ROOT)
}

/// Returns the YAML files in `directory`, in the order of their names, without those of test cases.
fn yaml_files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .filter(|path| !path.to_str().unwrap().ends_with(".test.yaml"))
        .collect();
    files.sort();
    files
}

fn examples() -> Vec<PathBuf> {
    let files = yaml_files(&root().join("examples"));
    assert!(files.len() >= 2, "{files:?}");
    files
}

/// Asserts that `part` is a part of `whole`.
#[track_caller]
fn assert_part(part: &Value, whole: &Value, path: &str) {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            for (key, value) in part {
                let found = whole.get(key).unwrap_or_else(|| panic!("{path}.{key} is missing"));
                assert_part(value, found, &format!("{path}.{key}"));
            }
        }
        (Value::Array(part), Value::Array(whole)) => {
            assert_eq!(part.len(), whole.len(), "{path}: {whole:?}");
            for (index, (value, found)) in part.iter().zip(whole).enumerate() {
                assert_part(value, found, &format!("{path}[{index}]"));
            }
        }
        _ => assert_eq!(part, whole, "{path}"),
    }
}

#[test]
fn every_example_is_sound_and_fits_the_schema() {
    let schema = jsonschema::validator_for(&everything().config_schema()).unwrap();
    let directories = std::fs::read_dir(root().join("examples")).unwrap();
    let directories = directories.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let below = directories.flat_map(|directory| yaml_files(&directory));
    for example in examples().into_iter().chain(below) {
        let text = std::fs::read_to_string(&example).unwrap();
        let document: Value = serde_saphyr::from_str(&text).unwrap();
        let problems: Vec<String> =
            schema.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(problems, Vec::<String>::new(), "{}", example.display());
        let sandbox = Sandbox::new();
        let done = sandbox
            .hookexec(["check", "--isolated", "--config", example.to_str().unwrap()])
            .run()
            .exits(0);
        assert!(done.stdout.ends_with(" 0 errors, 0 warnings\n"), "{done:#?}");
    }
}

#[test]
fn every_example_decides_the_events_of_its_cases() {
    for example in examples() {
        let name = example.file_name().unwrap().to_str().unwrap();
        let sidecar = root().join("tests/cases").join(name);
        let cases = std::fs::read_to_string(&sidecar)
            .unwrap_or_else(|_| panic!("examples/{name} needs its events in tests/cases/{name}"));
        let cases: Vec<Case> = serde_saphyr::from_str(&cases).unwrap();
        assert!(!cases.is_empty(), "{name}");
        for case in cases {
            let title = format!("{name}: {}", case.name);
            println!("{title}");
            let sandbox = Sandbox::new();
            for (path, text) in &case.project {
                sandbox.write(path, text);
            }
            let done = sandbox
                .hookexec([
                    "run".as_ref(),
                    case.event.as_ref(),
                    "--config".as_ref(),
                    example.as_os_str(),
                ])
                .stdin(case.input.to_string())
                .run()
                .exits(case.exit);
            let verdict = done.json_line();
            assert_part(&Value::Object(case.verdict), &verdict, &title);
            for key in &case.absent {
                assert_eq!(verdict.get(key), None, "{title}: `{key}` in {verdict}");
            }
            for (path, text) in &case.home {
                let found = std::fs::read_to_string(sandbox.home().join(path)).unwrap();
                assert_eq!(&found, text, "{title}: {}", path.display());
            }
        }
    }
}

#[test]
fn the_recipes_pass_their_cases_and_stand_on_their_page() {
    let page = std::fs::read_to_string(root().join("docs/recipes.md")).unwrap();
    let recipes = yaml_files(&root().join("examples/recipes"));
    assert!(recipes.len() >= 15, "{recipes:?}");
    for recipe in recipes {
        let name = recipe.file_name().unwrap().to_str().unwrap();
        assert!(page.contains(&format!("`{name}`")), "docs/recipes.md lacks {name}");
        let sandbox = Sandbox::new();
        let cases = recipe.with_extension("test.yaml");
        sandbox.write("hooks.yaml", &std::fs::read_to_string(&recipe).unwrap());
        sandbox.write("hooks.test.yaml", &std::fs::read_to_string(cases).unwrap());
        let tested = sandbox.hookexec(["test", "--min-coverage", "100"]).run();
        assert_eq!(tested.code(), Some(0), "{name}: {}{}", tested.stdout, tested.stderr);
    }
}
