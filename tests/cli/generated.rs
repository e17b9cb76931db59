//! Files that the program itself can write are what it would write.
//!
//! To regenerate them: `UPDATE=1 cargo test --test cli generated`.

use crate::support::{ROOT, Sandbox, assert_generated};

#[test]
fn the_schemas_are_those_of_the_program() {
    let sandbox = Sandbox::new();
    for of in ["config", "cases", "input", "output", "verdict"] {
        let schema = sandbox.hookexec(["schema", of]).run().exits(0).stdout;
        let value: serde_json::Value = serde_json::from_str(&schema).unwrap();
        jsonschema::draft7::meta::validate(&value).unwrap();
        assert_generated(&format!("schema/{of}.json"), &schema);
    }
}

#[test]
fn the_catalog_entries_name_the_addresses_of_the_schemas() {
    let read = |name: &str| -> serde_json::Value {
        let path = std::path::Path::new(ROOT).join("schema").join(name);
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let entries = read("schemastore.json");
    for (entry, schema) in entries.as_array().unwrap().iter().zip(["config.json", "cases.json"]) {
        let file = |address: &serde_json::Value| {
            let (_, file) = address.as_str().unwrap().rsplit_once('/').unwrap();
            file.to_owned()
        };
        assert_eq!(file(&entry["url"]), file(&read(schema)["$id"]));
    }
}

#[test]
fn the_events_page_holds_the_contract_table() {
    let table = embedded("docs/events.md", &["events", "--format", "markdown"]);
    assert_eq!(table.lines().count(), hookexec::Event::COUNT + 2);
}

#[test]
fn the_agents_page_says_what_each_agent_can_be_told() {
    let tables = embedded("docs/agents.md", &["agents", "--format", "markdown"]);
    assert_eq!(
        tables.lines().filter(|line| line.starts_with("### ")).count(),
        hookexec_agents::Agent::all().len()
    );
}

#[test]
fn the_builtins_page_describes_every_builtin() {
    let text = embedded("docs/builtins.md", &["builtins", "--format", "markdown"]);
    assert_eq!(
        text.lines().filter(|line| line.starts_with("### ")).count(),
        hookexec::builtins::shipped().len()
    );
}

#[test]
fn the_tables_of_keys_are_those_that_are_read() {
    const END: &str = "<!-- end -->";
    let mut pages = Vec::new();
    for page in ["docs/configuration.md", "docs/audit.md"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        pages.push((page, std::fs::read_to_string(path).unwrap()));
    }
    for (name, table) in hookexec::config::key_tables() {
        let begin = format!("<!-- begin: keys of {name} -->\n");
        let place = pages.iter_mut().find(|(_, text)| text.contains(&begin));
        let (_, text) = place.unwrap_or_else(|| panic!("no page has the keys of {name}"));
        let (head, rest) = text.split_once(&begin).unwrap();
        let (_, tail) = rest.split_once(END).unwrap();
        *text = format!("{head}{begin}{table}{END}{tail}");
    }
    for (page, text) in pages {
        assert_generated(page, &text);
    }
}

/// Checks the part of a page that a command printed, and returns what it prints.
fn embedded(page: &str, command: &[&str]) -> String {
    const END: &str = "<!-- end -->";
    let begin = format!("<!-- begin: hookexec {} -->\n", command.join(" "));
    let path = std::path::Path::new(crate::support::ROOT).join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let (head, rest) = text.split_once(&begin).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let sandbox = Sandbox::new();
    let printed = sandbox.hookexec(command).run().exits(0).stdout;
    assert_generated(page, &format!("{head}{begin}{printed}{END}{tail}"));
    printed
}
