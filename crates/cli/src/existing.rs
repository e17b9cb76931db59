//! Tests to begin with, for a hooks file that is there already.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use hookexec::config::Hook;
use hookexec::internal::Selection;
use hookexec::wire::JsonObject;
use hookexec::{Config, Executor, Input, Registry};

use super::CommandError;
use super::import::inline;

/// What is above the cases.
const HEAD: &str = include_str!("starter/existing.test.yaml");

/// Returns cases that reach each matcher of the hooks file at `path`.
pub(super) fn cases(path: &Path) -> Result<String, CommandError> {
    let config = Config::load_file(path).map_err(CommandError::config)?;
    let builder = Executor::builder(config).registry(Registry::with_shipped_builtins());
    let executor = builder.build().map_err(CommandError::config)?;
    let (mut text, mut seen) = (HEAD.to_owned(), BTreeSet::new());
    for hook in executor.hooks() {
        let tool = hook.event.contract().tool_matched.then(|| tool(hook));
        if seen.insert((hook.event, tool.clone())) {
            text.push_str(&case(&executor, hook, tool.as_deref()));
        }
    }
    if seen.is_empty() {
        let message = format!("{} configures no hooks to test", path.display());
        return Err(CommandError::usage(message).hint("move it away, and `init` writes one"));
    }
    Ok(text)
}

fn case(executor: &Executor, hook: &Hook, tool: Option<&str>) -> String {
    let event = hook.event;
    let (name, given, input) = match tool {
        Some(tool) => (
            format!("{event} of {tool}"),
            format!("{{ tool_name: {}, tool_input: {{}} }}", inline(tool)),
            Input::for_tool(tool, JsonObject::new()),
        ),
        None => (event.to_string(), "{}".to_owned(), Input::default()),
    };
    let reached = executor.explain(event, &input);
    let reached = reached.iter().filter(|hook| hook.selection == Selection::Runs);
    let names: BTreeSet<String> = reached.map(|hook| inline(&hook.name)).collect();
    let mut text = format!("  - name: {}\n    event: {event}\n    input: {given}\n", inline(&name));
    if !names.is_empty() {
        text.push_str("    stubs:\n");
    }
    for name in &names {
        let _ = writeln!(text, "      {name}: {{}}");
    }
    let names: Vec<String> = names.into_iter().collect();
    let _ = writeln!(text, "    expect: {{ decision: none, ran: [{}] }}", names.join(", "));
    text
}

/// Returns a tool that the hook's matcher matches, where one is easily found.
fn tool(hook: &Hook) -> String {
    let written = hook.matcher.as_str();
    let guess = written.replace(".*", "x");
    let mut guesses = written.split('|').chain([guess.as_str(), "shell"]);
    let found = guesses.find(|name| !name.is_empty() && hook.matcher.matches(name));
    found.unwrap_or("shell").to_owned()
}
