//! Files that the program itself can write are what it would write.
//!
//! To regenerate them, and the tables of the documentation: `UPDATE=1 cargo test generated`.

use std::path::Path;

use hookexec::config::key_tables;
use hookexec_files::section::Key;
use serde_json::{Value, json};

use crate::support::{ROOT, Sandbox, assert_generated};

#[test]
fn the_schemas_are_those_of_the_program() {
    let sandbox = Sandbox::new();
    for of in ["config", "cases", "input", "output", "verdict"] {
        let schema = sandbox.hookexec(["docs", "schema", of]).run().exits(0).stdout;
        let value: Value = serde_json::from_str(&schema).unwrap();
        jsonschema::draft7::meta::validate(&value).unwrap();
        assert_generated(&format!("schema/{of}.json"), &schema);
    }
}

#[test]
fn the_catalog_entries_name_the_addresses_of_the_schemas() {
    let read = |name: &str| -> Value {
        let path = std::path::Path::new(ROOT).join("schema").join(name);
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let entries = read("schemastore.json");
    for (entry, schema) in entries.as_array().unwrap().iter().zip(["config.json", "cases.json"]) {
        let file = |address: &Value| {
            let (_, file) = address.as_str().unwrap().rsplit_once('/').unwrap();
            file.to_owned()
        };
        assert_eq!(file(&entry["url"]), file(&read(schema)["$id"]));
    }
}

#[test]
fn the_tables_of_keys_are_those_that_are_read() {
    const HEAD: &str = "| key | value | when left out | meaning |\n|---|---|---|---|\n";
    const END: &str = "<!-- end -->";
    let mut pages = Vec::new();
    for page in ["docs/keys.md", "docs/audit.md", "docs/fleet.md"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        pages.push((page, std::fs::read_to_string(path).unwrap()));
    }
    for (name, keys) in key_tables() {
        let table: String = keys.iter().map(row).collect();
        let begin = format!("<!-- begin: keys of {name} -->\n");
        let place = pages.iter_mut().find(|(_, text)| text.contains(&begin));
        let (_, text) = place.unwrap_or_else(|| panic!("no page has the keys of {name}"));
        let (head, rest) = text.split_once(&begin).unwrap();
        let (_, tail) = rest.split_once(END).unwrap();
        *text = format!("{head}{begin}{HEAD}{table}{END}{tail}");
    }
    for (page, text) in pages {
        assert_generated(page, &text);
    }
}

fn row(Key { name, default, doc, schema }: &Key) -> String {
    format!("| `{name}` | {} | {default} | {doc} |\n", values(&schema()))
}

/// Returns in Markdown which values a schema allows.
fn values(schema: &Value) -> String {
    let join = |parts: &[Value], part: fn(&Value) -> String, separator| {
        let parts = parts.iter().map(part).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(separator)
    };
    let word = |word: &Value| word.as_str().filter(|it| !it.is_empty()).map(|it| format!("`{it}`"));
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().filter_map(word).collect::<Vec<_>>().join(", ");
    }
    if let Some(options) = schema["anyOf"].as_array() {
        return join(options, values, " or ");
    }
    if let Some(types) = schema["type"].as_array() {
        return join(types, |name| values(&json!({ "type": name })), " or ");
    }
    let reference = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    let kind = reference.or(schema["type"].as_str()).unwrap_or_default();
    match (kind, &schema["maximum"], &schema["items"]) {
        ("string" | "text", ..) => "text".to_owned(),
        ("boolean", ..) => "`true`, `false`".to_owned(),
        ("inherit_env", ..) => "`true`, `false`, or a list of names".to_owned(),
        ("environment", ..) => "names and texts".to_owned(),
        ("condition", ..) => "a [condition](configuration.md#conditions)".to_owned(),
        ("duration" | "size", ..) => format!("a [{kind}](keys.md#durations-and-sizes)"),
        ("integer", Value::Number(most), _) => format!("a number from 1 to {most}"),
        ("integer", ..) => "a whole number".to_owned(),
        ("array", _, Value::Array(_)) => "a list of texts".to_owned(),
        ("array", _, items @ Value::Object(_)) => match &*values(items) {
            "text" => "a list of texts".to_owned(),
            "a mapping" => "a list of mappings".to_owned(),
            items if items.starts_with("a ") => "a list of conditions".to_owned(),
            items => format!("a list of {items}"),
        },
        ("array", ..) => "a list".to_owned(),
        ("object" | "hooks", ..) => "a mapping".to_owned(),
        _ if schema.get("const").is_some() => String::new(),
        _ => "any value".to_owned(),
    }
}

/// The entries of a plugin are those of `install --scope project`: they call `hookexec` by name.
#[test]
fn the_plugins_hold_the_entries_that_install_writes() {
    for (agent, written, plugin) in [
        ("claude-code", ".claude/settings.json", "plugins/claude-code/hooks/hooks.json"),
        ("codex", ".codex/hooks.json", "plugins/codex/hooks/hooks.json"),
        ("gemini", ".gemini/settings.json", "plugins/gemini/hooks/hooks.json"),
    ] {
        let sandbox = Sandbox::new();
        let _ = sandbox.hookexec(["install", agent, "--scope", "project"]).run().exits(0);
        assert_generated(plugin, &sandbox.read(written));
    }
}

#[test]
fn the_plugins_have_the_version_of_the_program() {
    for manifest in [
        "claude-code/.claude-plugin/plugin.json",
        "codex/.codex-plugin/plugin.json",
        "gemini/gemini-extension.json",
        "opencode/package.json",
        "openclaw/package.json",
        "openclaw/openclaw.plugin.json",
        "pi/package.json",
    ] {
        let path = format!("plugins/{manifest}");
        let text = std::fs::read_to_string(Path::new(ROOT).join(&path)).unwrap();
        let version = format!("  \"version\": \"{}\",", env!("CARGO_PKG_VERSION"));
        let line = |line| if str::starts_with(line, "  \"version\":") { &version } else { line };
        let lines: Vec<&str> = text.lines().map(line).collect();
        assert!(lines.contains(&version.as_str()), "{path}");
        assert_generated(&path, &format!("{}\n", lines.join("\n")));
    }
}

/// One text for every agent that reads skills, and its examples pass.
#[test]
fn the_skill_is_the_same_in_every_plugin() {
    const SKILL: &str = "skills/hookexec/SKILL.md";
    let path = Path::new(ROOT).join("plugins/claude-code").join(SKILL);
    let skill = std::fs::read_to_string(path).unwrap();
    for plugin in ["codex", "gemini"] {
        assert_generated(&format!("plugins/{plugin}/{SKILL}"), &skill);
    }
    let sandbox = Sandbox::new();
    for file in ["hooks.yaml", "hooks.test.yaml"] {
        let (_, rest) = skill.split_once(&format!("```yaml\n# {file}\n")).unwrap();
        let _ = sandbox.write(file, rest.split_once("```").unwrap().0);
    }
    let _ = sandbox.hookexec(["check"]).run().exits(0);
    let done = sandbox.hookexec(["test"]).run().exits(0);
    assert!(!done.stdout.contains("never"), "{}", done.stdout);
    let input = r#"{"tool_name": "shell", "tool_input": {"command": "git push -f"}}"#;
    for (args, said) in [(&[][..], "deny"), (&["--no-run"], "would run  no-env")] {
        let explain = ["explain", "pre_tool_use", "--config", "hooks.yaml"];
        let done = sandbox.hookexec(explain.iter().chain(args)).stdin(input).run();
        assert!(done.stdout.contains(said), "{}{}", done.stdout, done.stderr);
    }
}
