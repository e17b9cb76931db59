//! The `permissions` of Claude Code's settings, as far as hooks of ours mean the same.
//!
//! The lists need no order: a denial wins over an ask, and an ask over an allow, as in Claude Code.

use hookexec::config::{Command, Diagnostic};
use hookexec::internal::builtins::{Shipped, Surroundings};
use hookexec::internal::reading::{Node, Reader};

use super::json::{list, object, string};
use super::yaml::{Group, Hook};

/// The lists, and the builtin that takes their rules about commands.
const LISTS: [(&str, &str); 3] =
    [("deny", "deny_commands"), ("ask", "ask_commands"), ("allow", "allow_commands")];

/// Tools whose name alone is the rule. `Edit` and `Read` stand for other tools, too.
const TOOLS: [&str; 4] = ["Bash", "WebFetch", "WebSearch", "Task"];

/// Returns the hooks for `permissions`. A rule without a counterpart is a warning.
pub(super) fn groups<'n>(permissions: &'n Node<'n>, reader: &mut Reader) -> Vec<Group> {
    let Some(lists) = object(reader, permissions, "`permissions`") else { return Vec::new() };
    let (mut groups, mut is_whole) = (Vec::new(), true);
    for (name, builtin) in LISTS {
        let Some((_, key, rules)) = lists.iter().find(|(list, ..)| *list == name) else { continue };
        if name == "allow" && !is_whole {
            // It might allow what the missing rule denies.
            let message = "the rules of `permissions.allow` are not taken over, because a rule of \
                           `deny` or `ask` is not";
            let hint = "write `allow_commands` by hand";
            reader.report(key, Diagnostic::warning(message).hint(hint));
            continue;
        }
        let (found, all) = of_list(name, key, rules, builtin, reader);
        groups.extend(found);
        is_whole &= all;
    }
    for (name, key, _) in lists.iter() {
        if !LISTS.iter().any(|(list, _)| *list == name) {
            let message = format!("`permissions.{name}` is not taken over");
            reader.report(key, Diagnostic::warning(message));
        }
    }
    groups
}

/// Returns the hooks for the list `name`, and whether they stand for every rule of it.
fn of_list<'n>(
    name: &str,
    key: &Node<'_>,
    rules: &'n Node<'n>,
    builtin: &str,
    reader: &mut Reader,
) -> (Vec<Group>, bool) {
    let location = reader.location(key);
    let (mut commands, mut tools) = (Vec::new(), Vec::new());
    let errors = reader.errors();
    let mut is_whole = true;
    for node in list(reader, rules, &format!("`permissions.{name}`")) {
        let Some(rule) = string(reader, node, "a permission rule") else { continue };
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
    let group = |matcher: Option<&str>, builtin: &str, args: Vec<String>| {
        let mut hook = Hook::new(location.clone(), "builtin", Command::Text(builtin.to_owned()));
        hook.set("args", args.clone());
        let (location, matcher) = (location.clone(), matcher.map(str::to_owned));
        (!args.is_empty()).then(|| Group { location, matcher, condition: None, hooks: vec![hook] })
    };
    let groups = [group(Some("shell"), builtin, commands), group(None, "deny_tools", tools)];
    (groups.into_iter().flatten().collect(), is_whole && reader.errors() == errors)
}

/// Returns the pattern of `deny_tools` that stands for a rule, `None` if `builtin` reads the rule
/// as it is, or why nothing stands for it and what to do.
fn counterpart(rule: &str, builtin: &str) -> Result<Option<String>, (String, &'static str)> {
    let denies = builtin == "deny_commands";
    let is_command = rule.starts_with("Bash(") && rule.ends_with(')') && rule != "Bash(*)";
    if is_command {
        let args = [rule.to_owned()];
        let known = Shipped::named(builtin);
        let prepared = known.map(|it| it.prepare(&Surroundings::of_process(), &args).map(drop));
        let hint = "write what it means as hooks by hand (`hookexec docs commands`)";
        return match prepared {
            Some(Err(problem)) => Err((problem, hint)),
            _ => Ok(None),
        };
    }
    let tool = rule.strip_suffix("(*)").unwrap_or(rule);
    if rule.starts_with("Read(") || rule.starts_with("Edit(") || rule.starts_with("Write(") {
        let hint = "to deny every access to a path, reading and writing, use the builtin \
                    `protect_paths`";
        return Err(("no hook means exactly the same for paths".to_owned(), hint));
    }
    if !denies {
        let hint = "leave it in the settings of Claude Code";
        return Err(("hookexec has no list that asks about or allows such calls".to_owned(), hint));
    }
    if TOOLS.contains(&tool) {
        return Ok(Some(tool.to_owned()));
    }
    let is_plain =
        |text: &str| text.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it));
    if let Some(name) = rule.strip_prefix("mcp__") {
        let name = name.strip_suffix("__*").unwrap_or(name);
        if is_plain(name) && !name.is_empty() {
            // `mcp__server` is every tool of the server.
            let whole = name.contains("__") && !rule.ends_with("__*");
            let rest = if whole { "" } else { "__.*" };
            return Ok(Some(format!("mcp__{name}{rest}")));
        }
    }
    let hint = "write a hook with a `matcher` and a `when:` by hand";
    Err(("hookexec has no list with exactly this meaning".to_owned(), hint))
}
