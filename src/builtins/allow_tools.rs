//! `allow_tools` and `deny_tools`: lists of tools, by whole name.

use super::{Argument, Prepared, Shipped, Surroundings};
use crate::event::Contract;
use crate::executor::Matcher;
use crate::wire::Output;

pub(super) const ALLOW_TOOLS: Shipped = Shipped {
    name: "allow_tools",
    about: "Denies every tool that is not listed",
    arguments: PATTERNS,
    details: "It denies and never approves: a listed tool goes on to the other hooks and to whoever \
              is asked.",
    example: "pre_tool_use:\n  - { type: builtin, command: allow_tools, args: [\"read_file|list_files\", \"mcp__docs__.*\"] }",
    suits: guards_tools,
    inline: true,
    prepare: |_, args| {
        let listed = matchers(args)?;
        let names = args.join("`, `");
        Ok(Box::new(move |input| {
            let tool = input.tool();
            let allowed = !tool.is_empty() && listed.iter().any(|matcher| matcher.matches(tool));
            Ok((!allowed).then(|| {
                Output::deny(format!(
                    "tool `{tool}` is not on the list of allowed tools: `{names}`"
                ))
            }))
        }))
    },
};

pub(super) const DENY_TOOLS: Shipped = Shipped {
    name: "deny_tools",
    about: "Denies every tool that is listed",
    arguments: PATTERNS,
    details: "",
    example: "pre_tool_use:\n  - { type: builtin, command: deny_tools, args: [\"shell|bash\", \"mcp__.*__delete_.*\"] }",
    suits: guards_tools,
    inline: true,
    prepare: |_: &Surroundings, args: &[String]| -> Result<Prepared, String> {
        let listed = matchers(args)?;
        Ok(Box::new(move |input| {
            let tool = input.tool();
            if tool.is_empty() {
                return Ok(Some(Output::deny("the call names no tool")));
            }
            Ok(listed
                .iter()
                .find(|matcher| matcher.matches(tool))
                .map(|matcher| Output::deny(format!("tool `{tool}` is denied by `{matcher}`"))))
        }))
    },
};

const PATTERNS: &[Argument] = &[Argument {
    usage: "PATTERN...",
    optional: false,
    about: "A regular expression over the whole tool name, case-sensitive, as in `matcher`.",
}];

fn guards_tools(contract: &Contract) -> bool {
    contract.tool_matched && contract.may_block && contract.event != crate::Event::PostToolUse
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
