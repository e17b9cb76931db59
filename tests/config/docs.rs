//! The examples of the documentation are configurations.

use crate::registry::everything;
use hookexec::{Config, Executor};

/// Returns the YAML blocks of a page, each with the line it begins on.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in page.lines().enumerate() {
        match &mut open {
            None if line == "```yaml" => open = Some((index + 2, String::new())),
            None => {}
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    blocks
}

#[test]
fn every_example_is_read_and_has_nothing_to_warn_of() {
    let mut found = Vec::new();
    for name in ["configuration", "command-hooks", "hook-types", "import", "serve"] {
        let page = std::fs::read_to_string(format!("docs/{name}.md")).unwrap();
        found.extend(blocks(&page).into_iter().map(|(line, text)| (name, line, text)));
    }
    assert!(found.len() >= 12, "{}", found.len());
    for (name, line, text) in found {
        let config = Config::from_yaml(&text, format!("docs/{name}.md+{line}"));
        let config = config.unwrap_or_else(|problems| panic!("{}", problems.render(false)));
        assert!(config.warnings.is_empty(), "{}", config.warnings.render(false));
        let mut registry = everything();
        registry.record_by(hookexec_project::log::recorder);
        if let Err(problems) = Executor::builder(config).registry(registry).build() {
            panic!("{}", problems.render(false));
        }
    }
}

#[test]
fn every_key_is_in_the_documentation() {
    let mut page = std::fs::read_to_string("docs/keys.md").unwrap();
    for more in ["docs/audit.md", "docs/rules.md"] {
        page.push_str(&std::fs::read_to_string(more).unwrap());
    }
    let schema = everything().config_schema();
    for of in [
        "definitions/hook",
        "definitions/matcher_entry",
        "definitions/process",
        "properties/defaults",
        "properties/audit",
    ] {
        let mapping = schema.pointer(&format!("/{of}/properties")).unwrap();
        for key in mapping.as_object().unwrap().keys() {
            let named =
                page.contains(&format!("`{key}`")) || page.contains(&format!("\n  {key}: "));
            assert!(named, "{of}: {key}");
        }
    }
}
