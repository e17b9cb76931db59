//! Words of a rule that mean something else than their author may think.

use hookexec::config::{Diagnostic, Groups as OwnGroups, Hook};
use hookexec_files::kinds::At;
use hookexec_files::section::Kind as _;

use super::groups::{Groups, is_group, shipped};
use super::keys::RuleKeys;
use hookexec_calls::tools::kinds_anywhere;

/// Returns a warning for each word of a rule that is the name of a group without its `@`, for each group
/// that takes the place of a shipped one, and for `commands` beside a matcher of tools that run none.
pub fn doubts(hook: &Hook) -> Vec<Diagnostic> {
    if hook.kind != "rule" {
        return Vec::new();
    }
    let found = hook.read_own_keys(|reader, node| {
        let keys = RuleKeys::read(reader, node, "a rule")?;
        let mut found = Vec::new();
        if keys.commands.is_some()
            && let Some(mut names) = hook.matcher.names()
            && names.all(runs_no_command)
        {
            let matcher = hook.matcher.as_str();
            let message = format!("its `commands` fit nothing: `matcher: {matcher}` is of files");
            let problem = Diagnostic::warning(message).hint("leave the matcher out");
            found.push(problem.at(reader.location(node)));
        }
        let mut lists = Vec::new();
        for set in keys.sets() {
            lists.extend([set.commands, set.targets, set.files, set.tools]);
        }
        for list in lists.into_iter().flatten() {
            for item in list.0 {
                if let Some(doubt) = doubt(&item, hook.groups()) {
                    found.push(doubt.at(reader.location(item.node)));
                }
            }
        }
        Some(found)
    });
    found.unwrap_or_default()
}

/// Returns whether every tool of this name or kind does nothing but use files.
fn runs_no_command(name: &str) -> bool {
    const OF_FILES: [&str; 6] = ["read", "write", "edit", "list", "glob", "grep"];
    let kinds = kinds_anywhere(name);
    if kinds.is_empty() {
        return OF_FILES.contains(&name);
    }
    kinds.iter().all(|kind| OF_FILES.contains(&kind.as_str()))
}

fn doubt(item: &At<'_, String>, own: &OwnGroups) -> Option<Diagnostic> {
    for word in item.value.split([' ', '|', '!']) {
        if is_group(word) && own.get(word).is_some() && shipped(word).is_some() {
            let message =
                format!("`{word}` is the group of this file, without what the shipped one has");
            let hint = "give it another name, and list both";
            return Some(Diagnostic::warning(message).hint(hint));
        }
    }
    let group = format!("@{}", item.value);
    if is_group(&group) && Groups(own).has(&group) {
        let message = format!("`{}` is not the group `{group}`", item.value);
        return Some(Diagnostic::warning(message).hint(format!("write `\"{group}\"`")));
    }
    None
}
