//! Files that the program itself can write are what it would write.
//!
//! To regenerate them: `UPDATE=1 cargo test --test cli generated`.

use crate::support::{Sandbox, assert_generated};

#[test]
fn the_schemas_are_those_of_the_program() {
    let sandbox = Sandbox::new();
    for of in ["input", "output", "verdict"] {
        let schema = sandbox.hookexec(["schema", of]).run().exits(0).stdout;
        let value: serde_json::Value = serde_json::from_str(&schema).unwrap();
        jsonschema::draft7::meta::validate(&value).unwrap();
        assert_generated(&format!("schema/{of}.json"), &schema);
    }
}

#[test]
fn the_events_page_holds_the_contract_table() {
    const BEGIN: &str = "<!-- begin: hookexec events --format markdown -->\n";
    const END: &str = "<!-- end -->";
    let page = include_str!("../../docs/events.md");
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let sandbox = Sandbox::new();
    let table = sandbox.hookexec(["events", "--format", "markdown"]).run().exits(0).stdout;
    assert_eq!(table.lines().count(), hookexec::Event::COUNT + 2);
    assert_generated("docs/events.md", &format!("{head}{BEGIN}{table}{END}{tail}"));
}
