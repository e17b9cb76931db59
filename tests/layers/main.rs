//! The modules of the engine, from the bottom to the top: each imports only what is below it.
#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::fs;
use std::path::{Path, PathBuf};

const LAYERS: [&str; 18] = [
    "counts", "event", "wire", "answer", "describe", "matcher", "dialect", "config", "handler",
    "recorder", "handlers", "registry", "schema", "shipped", "executor", "asks", "lifecycle",
    "testing",
];

#[test]
fn no_module_imports_one_above_itself() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let import = regex::Regex::new(r"\bcrate::\{?(\w+)").unwrap();
    // `use crate::{one, two}` would hide the second from this test.
    let several = regex::Regex::new(r"\bcrate::\{[^}]*,").unwrap();
    let layer = |module: &str| LAYERS.iter().position(|layer| *layer == module);
    let mut upwards = Vec::new();
    for file in rust_files(&source) {
        let shown = file.strip_prefix(&source).unwrap();
        let module = shown.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if module == "lib"
            || shown.ends_with("tests.rs")
            || shown.iter().any(|part| part == "tests")
        {
            continue;
        }
        let own = layer(module).unwrap_or_else(|| panic!("`{module}` is not among the layers"));
        let text = fs::read_to_string(&file).unwrap();
        // Tests may look at everything.
        let code = text.split("\nmod tests").next().unwrap();
        let hidden = several.is_match(code) && !shown.ends_with("keys.rs");
        assert!(!hidden, "{}: write one `use` for each module", shown.display());
        for (number, line) in code.lines().enumerate() {
            let imports = import.captures_iter(line.split("//").next().unwrap());
            for above in imports.filter_map(|found| layer(found.get(1)?.as_str())) {
                if above > own {
                    let above = LAYERS[above];
                    upwards.push(format!(
                        "{}:{}: {module} -> {above}",
                        shown.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    assert!(upwards.is_empty(), "these import a module above their own:\n{}", upwards.join("\n"));
}

/// The files that read JSON with `serde_json` itself, and why no model's words are lost there.
const PLAIN_READERS: [(&str, &str); 18] = [
    ("crates/agents/src/settings.rs", "reads a constant"),
    ("crates/agents/src/transcript/mod.rs", "looks whether a line is JSON"),
    ("crates/builtins/src/http_post.rs", "looks whether a text is JSON"),
    (
        "crates/files/src/rpc/message.rs",
        "leaves results as they are written, and refuses keys that stand twice",
    ),
    ("crates/files/src/section.rs", "reads a constant"),
    (
        "crates/project/src/policy/archive.rs",
        "reads a type without any JSON from a value read strictly",
    ),
    (
        "crates/project/src/policy/store.rs",
        "reads a type without any JSON from a value read strictly",
    ),
    ("crates/project/src/trust/store.rs", "reads a type without any JSON"),
    ("crates/serve/src/mcp/call.rs", "gives another id to a message that was read strictly"),
    (
        "crates/serve/src/server/params.rs",
        "reads types without any JSON from a value read strictly",
    ),
    ("crates/setup/src/settings/backup.rs", "reads a type without any JSON"),
    (
        "crates/setup/src/settings/mod.rs",
        "reads settings as their agent does: the last of keys that stand twice counts",
    ),
    ("crates/setup/src/settings/text.rs", "looks whether a text is JSON"),
    ("crates/workbench/src/records.rs", "`Record` reads its values with `exact`"),
    ("src/answer.rs", "looks whether a text is JSON"),
    ("src/config/schema.rs", "reads a constant"),
    ("src/counts/store.rs", "reads a type without any JSON"),
    ("src/wire/output_reader.rs", "its types read their values with `exact`"),
];

#[test]
fn text_from_outside_goes_through_the_strict_reader() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["src", "crates"].map(|directory| rust_files(&root.join(directory))).concat();
    let is_code = |file: &PathBuf| !file.components().any(|part| part.as_os_str() == "tests");
    let reads = |file: &PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        code.contains("serde_json::from_") || code.contains("parse::<Value>")
    };
    let files = files.iter().filter(|file| is_code(file) && !file.ends_with("tests.rs"));
    let mut found: Vec<&str> = files
        .filter(|file| reads(file))
        .map(|file| file.strip_prefix(root).unwrap().to_str().unwrap())
        .collect();
    found.sort_unstable();
    let known = PLAIN_READERS.map(|(file, _)| file);
    assert_eq!(found, known, "use `wire::parse_strict`, or say here why `serde_json` will do");
}

#[test]
fn the_page_on_the_architecture_names_every_module_and_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let missing: Vec<_> =
        LAYERS.iter().filter(|module| !page.contains(&format!("`{module}`"))).collect();
    assert!(missing.is_empty(), "these modules are not on the page: {missing:?}");
    let path = regex::Regex::new("`((?:src|crates|tests|fuzz|docs)/[^`]+)`").unwrap();
    let paths: Vec<&str> =
        path.captures_iter(&page).map(|found| found.get(1).unwrap().as_str()).collect();
    assert!(paths.len() > 30, "{paths:?}");
    for named in paths.into_iter().filter(|path| !path.contains("NAME")) {
        assert!(root.join(named).exists(), "docs/architecture.md names `{named}`, which is gone");
    }
}

/// The packages, each with those that it may use beside `hookexec` and `hookexec-files`.
const PACKAGES: [(&str, &[&str]); 11] = [
    ("files", &[]),
    ("calls", &[]),
    ("remote", &[]),
    ("rules", &["calls"]),
    ("builtins", &["calls", "remote", "rules"]),
    ("project", &["builtins", "calls", "remote"]),
    ("agents", &["calls", "rules"]),
    ("setup", &["agents", "calls", "project", "rules"]),
    ("workbench", &["agents", "builtins", "calls", "project"]),
    ("serve", &["agents", "calls", "project", "remote"]),
    (
        "cli",
        &[
            "agents", "builtins", "calls", "project", "remote", "rules", "serve", "setup",
            "workbench",
        ],
    ),
];

#[test]
fn a_package_uses_only_those_below_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let mut directories: Vec<String> = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        directories.push(entry.unwrap().file_name().into_string().unwrap());
    }
    directories.sort();
    let mut named = PACKAGES.map(|(package, _)| package);
    named.sort_unstable();
    assert_eq!(directories, named);
    let used = regex::Regex::new(r"(?m)^hookexec-(\w+)").unwrap();
    for (package, allowed) in PACKAGES {
        let manifest = fs::read_to_string(crates.join(package).join("Cargo.toml")).unwrap();
        let (_, after) = manifest.split_once("[dependencies]").unwrap();
        let dependencies = after.split("[dev-dependencies]").next().unwrap();
        for found in used.captures_iter(dependencies) {
            let other = &found[1];
            let is_allowed = other == "files" || allowed.contains(&other);
            assert!(is_allowed, "hookexec-{package} must not use hookexec-{other}");
        }
    }
}

#[test]
fn nothing_is_hidden_but_the_helpers_of_macros() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["src", "crates"].map(|directory| rust_files(&root.join(directory))).concat() {
        let text = fs::read_to_string(&file).unwrap();
        for (_, after) in text.match_indices("doc(hidden)").map(|(at, _)| text.split_at(at)) {
            let item = after.lines().skip(1).find(|line| !line.starts_with("#[")).unwrap();
            let file = file.display();
            assert!(
                item.starts_with("macro_rules!"),
                "{file} hides `{item}`: make it public, or drop it"
            );
        }
    }
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let (directories, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let nested = directories.iter().flat_map(|directory| rust_files(directory));
    files
        .into_iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .chain(nested)
        .collect()
}
