//! The `permissions` of Claude Code's settings, as far as hooks of ours mean the same.
//!
//! The lists need no order: a denial wins over an ask, and an ask over an allow, as in Claude Code.

use hookexec::Event;
use hookexec::config::Diagnostic;
use hookexec::internal::builtins::{Shipped, Surroundings};
use hookexec::internal::reading::Node;

use super::hooks::{Group, Import};
use super::tree::{Mapping, Strict, made, object};

/// The lists, and the builtin that takes their rules about commands.
const LISTS: [(&str, &str); 3] =
    [("deny", "deny_commands"), ("ask", "ask_commands"), ("allow", "allow_commands")];

/// Tools whose name alone is the rule. `Edit` and `Read` stand for other tools, too.
const TOOLS: [&str; 4] = ["Bash", "WebFetch", "WebSearch", "Task"];

/// Why a rule has no counterpart, and what to do.
type Refusal = (String, &'static str);

/// Adds the hooks for `permissions`. A rule without a counterpart is a warning.
pub(super) fn add<'n>(permissions: &'n Node<'n>, import: &mut Import<'n>) {
    let Some(lists) = object(&mut import.reader, permissions, "`permissions`") else { return };
    let mut is_whole = true;
    for (name, builtin) in LISTS {
        let Some((_, key, rules)) = lists.iter().find(|(list, ..)| *list == name) else { continue };
        if name == "allow" && !is_whole {
            // It might allow what the missing rule denies.
            let message = "the rules of `permissions.allow` are not taken over, because a rule of \
                           `deny` or `ask` is not";
            let hint = "write `allow_commands` by hand";
            import.reader.report(key, Diagnostic::warning(message).hint(hint));
        } else {
            is_whole &= add_list(name, key, rules, builtin, import);
        }
    }
    for (name, key, _) in lists.iter() {
        if !LISTS.iter().any(|(list, _)| *list == name) {
            let message = format!("`permissions.{name}` is not taken over");
            import.reader.report(key, Diagnostic::warning(message));
        }
    }
}

/// Adds the hooks for the list `name`, and returns whether they stand for every rule of it.
fn add_list<'n>(
    name: &str,
    key: &Node<'_>,
    rules: &'n Node<'n>,
    builtin: &'static str,
    import: &mut Import<'n>,
) -> bool {
    let reader = &mut import.reader;
    let (mut commands, mut tools) = (Vec::new(), Vec::new());
    let errors = reader.errors();
    let mut is_whole = true;
    for node in reader.list(rules, &format!("`permissions.{name}`")).unwrap_or_default() {
        let Some(Strict(rule)) = reader.value(node, "a permission rule") else { continue };
        match counterpart(&rule, builtin) {
            Ok(None) => commands.push(rule),
            Ok(Some(pattern)) => tools.push(pattern),
            Err((why, hint)) => {
                let message = format!("the permission rule `{rule}` is not taken over: {why}");
                reader.report(node, Diagnostic::warning(message).hint(hint));
                is_whole = false;
            }
        }
    }
    is_whole &= reader.errors() == errors;
    let lists = [(builtin, Some("shell"), commands), ("deny_tools", None, tools)];
    for (builtin, matcher, args) in lists.into_iter().filter(|(.., args)| !args.is_empty()) {
        let place = key.span.clone();
        let mut hook = Mapping::new(place.clone());
        hook.set("type", "builtin");
        hook.set("command", builtin);
        hook.set("args", args);
        let matcher = matcher.map(|tool| made(&tool.into(), &place));
        let group = Group { place, matcher, condition: None, hooks: vec![hook] };
        import.add(Event::PreToolUse, group);
    }
    is_whole
}

/// Returns the pattern of `deny_tools` that stands for a rule; `None` if `builtin` reads the rule as it
/// is.
fn counterpart(rule: &str, builtin: &str) -> Result<Option<String>, Refusal> {
    if rule.starts_with("Bash(") && rule.ends_with(')') && rule != "Bash(*)" {
        let hint = "write what it means as hooks by hand (`hookexec docs commands`)";
        let shipped = Shipped::named(builtin);
        let args = [rule.to_owned()];
        let prepared = shipped.map(|shipped| shipped.prepare(&Surroundings::of_process(), &args));
        return prepared.transpose().map(|_| None).map_err(|problem| (problem, hint));
    }
    if rule.starts_with("Read(") || rule.starts_with("Edit(") || rule.starts_with("Write(") {
        let hint = "to deny every access to a path, reading and writing, use the builtin \
                    `protect_paths`";
        return Err(("no hook means exactly the same for paths".to_owned(), hint));
    }
    if builtin != "deny_commands" {
        let hint = "leave it in the settings of Claude Code";
        return Err(("hookexec has no list that asks about or allows such calls".to_owned(), hint));
    }
    let tool = rule.strip_suffix("(*)").unwrap_or(rule);
    if TOOLS.contains(&tool) {
        return Ok(Some(tool.to_owned()));
    }
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if let Some(name) = rule.strip_prefix("mcp__") {
        let server = name.strip_suffix("__*");
        let name = server.unwrap_or(name);
        if !name.is_empty() && name.chars().all(is_plain) {
            // `mcp__server` is every tool of the server.
            let is_tool = server.is_none() && name.contains("__");
            return Ok(Some(format!("mcp__{name}{}", if is_tool { "" } else { "__.*" })));
        }
    }
    let hint = "write a hook with a `matcher` and a `when:` by hand";
    Err(("hookexec has no list with exactly this meaning".to_owned(), hint))
}
