//! `allow_tools` and `deny_tools`: lists of tools, by whole name.

use std::sync::Arc;

use super::{Surroundings, Work};
use crate::tools::TOOL_KINDS;
use hookexec::matcher::Matcher;
use hookexec::wire::Output;
use hookexec_files::text::is_invisible;

pub(super) fn prepare_allow(_: &Surroundings, args: &[String]) -> Result<Work, String> {
    let listed = matchers(args)?;
    let names = args.join("`, `");
    Ok(Arc::new(move |input| {
        let tool = input.tool();
        let is_listed = |name: &str| listed.iter().any(|matcher| matcher.matches(name));
        // `mcp__server__tool` can be read in several ways, and a tool can be of several kinds. An
        // agent's name that fits only one of them must not open the others.
        let (readings, kinds): (Vec<&String>, Vec<&String>) =
            input.tool_kinds.iter().partition(|kind| kind.starts_with("mcp__"));
        let all = |names: &[&String]| !names.is_empty() && names.iter().all(|name| is_listed(name));
        // The kinds leave out one that equals the tool's name: Kiro's `write` also edits.
        let is_kind = TOOL_KINDS.iter().any(|(kind, _)| *kind == tool);
        let allowed =
            !tool.is_empty() && (is_listed(tool) || !is_kind && (all(&readings) || all(&kinds)));
        if allowed {
            return Ok(None);
        }
        let reason = format!("tool `{tool}` is not on the list of allowed tools: `{names}`");
        Ok(Some(Output::deny(reason)))
    }))
}

pub(super) fn prepare_deny(_: &Surroundings, args: &[String]) -> Result<Work, String> {
    let listed = matchers(args)?;
    Ok(Arc::new(move |input| {
        let tool = input.tool();
        // A host that trims a name would take `shell\n` for `shell`.
        if tool.is_empty() || tool != tool.trim() || tool.contains(is_invisible) {
            return Ok(Some(Output::deny("the call names no tool")));
        }
        let names = || std::iter::once(tool).chain(input.tool_kinds.iter().map(String::as_str));
        Ok(listed
            .iter()
            .find(|matcher| names().any(|name| matcher.matches(name)))
            .map(|matcher| Output::deny(format!("tool `{tool}` is denied by `{matcher}`"))))
    }))
}

fn matchers(args: &[String]) -> Result<Vec<Matcher>, String> {
    if args.is_empty() {
        return Err("it needs at least one tool name or pattern".to_owned());
    }
    args.iter()
        .map(|arg| match arg.trim() {
            // An empty matcher matches everything: a list of one forgotten name would too.
            "" => Err("a pattern is empty; write `.*` for every tool".to_owned()),
            pattern => Matcher::new(pattern).map_err(|error| error.to_string()),
        })
        .collect()
}
