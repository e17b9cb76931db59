//! The schema that editors use agrees with the program that reads the files.

use std::path::Path;

use serde_json::Value;

use super::invalid::files;
use crate::registry::everything;

fn parse(file: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(file).ok()?;
    let options = serde_saphyr::options! {
        strict_booleans: true,
        budget: serde_saphyr::budget! { max_nodes: 10_000 },
    };
    serde_saphyr::from_str_with_options(text.trim_start_matches('\u{feff}'), options).ok()
}

fn validator() -> jsonschema::Validator {
    let schema = everything().config_schema();
    jsonschema::draft7::meta::validate(&schema).unwrap();
    jsonschema::draft7::new(&schema).unwrap()
}

#[test]
fn every_valid_file_is_valid_by_the_schema() {
    let validator = validator();
    for file in files("tests/configs/valid") {
        let document = parse(&file).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", file.display());
    }
}

/// What no schema of this kind can say.
const NOT_BY_SCHEMA: [&str; 7] = [
    "agents-without-a-choice",
    "builtin-with-parameters",
    "dead-matchers",
    "limit-where-a-hook-rewrites",
    "rewriters-that-may-not-rewrite",
    "two-merges",
    "unknown-tag",
];

#[test]
fn invalid_files_are_invalid_by_the_schema_where_it_can_tell() {
    let validator = validator();
    let mut refused = 0;
    for file in files("tests/configs/invalid") {
        // What is no YAML at all, or has a key twice, is refused before.
        let Some(document) = parse(&file) else { continue };
        let name = file.file_stem().unwrap().to_str().unwrap();
        if NOT_BY_SCHEMA.contains(&name) {
            continue;
        }
        assert!(!validator.is_valid(&document), "{}", file.display());
        refused += 1;
    }
    assert!(refused >= 20, "{refused}");
}
