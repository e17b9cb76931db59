//! Runs hooks that were written for Claude Code under any other agent.
//!
//! Such a hook reads an event in the words of Claude Code, and answers in those words. The
//! adapters translate an agent's payload to an [`Input`]; this module translates back.

mod arguments;
mod payload;

use crate::Agent;
use crate::tool_kinds::is_one_of;
use arguments::Call;
use hookexec::matcher::Matcher;
use hookexec::registry::{Dialect, NotInDialect, Payloads};
use hookexec::wire::InputChange;
use hookexec::{Decision, Event, Input, Output};
use hookexec_calls::tools::{self, TOOL_KINDS};

const NAME: &str = "claude-code";
const TITLE: &str = "Claude Code";

/// The words of Claude Code.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a dialect has no fields to add")]
pub struct ClaudeCode;

impl Dialect for ClaudeCode {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn project_variable(&self) -> Option<&'static str> {
        Some("CLAUDE_PROJECT_DIR")
    }

    fn knows(&self, event: Event) -> bool {
        Agent::ClaudeCode.events().iter().any(|row| row.event == Some(event))
    }

    fn exit_code_continues(&self, event: Event) -> bool {
        matches!(event, Event::Stop | Event::SubagentStop)
    }

    fn takes_text(&self, event: Event) -> bool {
        matches!(event, Event::SessionStart | Event::UserPromptSubmit)
    }

    fn tool_names(&self, input: &Input) -> Vec<String> {
        names(input)
    }

    fn payloads<'i>(
        &self,
        matcher: &Matcher,
        input: &'i Input,
    ) -> Result<Payloads<'i>, NotInDialect> {
        if payload::event_name(input).is_none() {
            return Err(NotInDialect(format!("{TITLE} has no such event")));
        }
        let views = views(matcher, input)?;
        Ok(Box::new(views.into_iter().map(move |(name, view)| payload::write(input, &name, &view))))
    }

    fn take_back(
        &self,
        matcher: &Matcher,
        input: &Input,
        output: &mut Output,
    ) -> Result<(), NotInDialect> {
        if output.hook_event_name.as_deref() == payload::event_name(input) {
            output.hook_event_name = None;
        }
        if output.allows_at_top && output.decision == Some(Decision::Allow) {
            output.decision = None;
        }
        keep_context(input, output);
        payload::take_back_response(input, output);
        let Some(change) = output.updated_input.take() else { return Ok(()) };
        let views = views(matcher, input)?;
        let [(_, view)] = &views[..] else {
            return Err(NotInDialect(format!(
                "it changed one of the {} calls that `{}` stands for in the words of {TITLE}, which can't be carried over",
                views.len(),
                input.tool(),
            )));
        };
        output.updated_input = Some(match &view.call {
            Some(call) => InputChange::Replace(
                call.take_back(change).map_err(|error| NotInDialect(error.to_string()))?,
            ),
            None => change,
        });
        Ok(())
    }
}

/// At `stop` Claude Code takes context that sends the model back to work. Passes it on unchanged.
fn keep_context(input: &Input, output: &mut Output) {
    let is_stop = input.hook_event_name.is_some_and(|event| event.contract().may_continue);
    let is_claude_code = input.native.is_some() && input.agent_name.as_deref() == Some(NAME);
    if is_stop
        && is_claude_code
        && let Some(context) = output.additional_context.take()
    {
        output.claude_code.insert("additionalContext".to_owned(), context.into());
    }
}

/// Returns the views of the call that `matcher` matches, each with the name to show.
fn views(matcher: &Matcher, input: &Input) -> Result<Vec<(String, View)>, NotInDialect> {
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for view in all_views(input)? {
        match view.names.iter().find(|name| matcher.matches(name)).cloned() {
            Some(name) => named.push((name, view)),
            None => others.push((view.names[0].clone(), view)),
        }
    }
    // If none is named, the matcher matched a name of another agent, or a kind.
    if named.is_empty() { Ok(others) } else { Ok(named) }
}

/// Returns the calls of the agent that this call stands for.
///
/// # Errors
/// When the agent's words can't express the call.
fn all_views(input: &Input) -> Result<Vec<View>, NotInDialect> {
    let names = names(input);
    if is_own(input) {
        return Ok(vec![View { names, call: None }]);
    }
    let kinds = kinds(input);
    if known(&kinds).is_empty() {
        // An event may have no tool, and a tool of an MCP server has its own arguments under any
        // agent.
        let tool = input.tool();
        if tool.is_empty() || !input.tool_kinds.is_empty() || tools::is_listed(tool) {
            return Ok(vec![View { names, call: None }]);
        }
        return Err(not_in_dialect(
            input,
            "no agent in the table of tools has it; say what it does in `tool_kinds`, or narrow the hook's matcher",
        ));
    }
    let arguments = input.tool_input.clone().unwrap_or_default();
    let calls = arguments::translate(input.tool(), &kinds, &arguments, &input.cwd)
        .map_err(|error| not_in_dialect(input, &error.to_string()))?;
    let mut views = Vec::new();
    for call in calls {
        let names = match call.tools {
            Some(tools) => tools.iter().map(|name| (*name).to_owned()).collect(),
            None => names.clone(),
        };
        views.push(View { names, call: Some(call) });
    }
    Ok(views)
}

/// One call of the other agent that this call stands for.
struct View {
    /// The agent's names of the tool; at least one, and the first is shown.
    names: Vec<String>,
    /// `None` when the call is as the agent itself would write it.
    call: Option<Call>,
}

/// Returns every name that the agent may give the tool.
fn names(input: &Input) -> Vec<String> {
    let kinds = if is_own(input) { Vec::new() } else { kinds(input) };
    let mut names: Vec<String> = known(&kinds).into_iter().map(|name| (*name).to_owned()).collect();
    names.extend(kinds.iter().filter(|kind| kind.starts_with("mcp__")).cloned());
    if names.is_empty() && is_one_of(&kinds, &["mcp"]) {
        // The server is unknown, but a guard for all servers must match.
        let tool = input.tool().rsplit(':').next().unwrap_or_default();
        names.push(format!("mcp__unknown__{tool}"));
    }
    if names.is_empty() {
        names.push(input.tool().to_owned());
    }
    names
}

fn not_in_dialect(input: &Input, why: &str) -> NotInDialect {
    NotInDialect(format!("`{}` can't be said in the words of {TITLE}: {why}", input.tool()))
}

/// Returns whether the input is the agent's own, in its own words.
///
/// Other programs call the hooks of an agent as well, with names of tools that its hooks don't know.
fn is_own(input: &Input) -> bool {
    if input.native.is_none() || input.agent_name.as_deref() != Some(NAME) {
        return false;
    }
    let is_listed = tools::of_agent(NAME).named().any(|(name, _)| name == input.tool());
    is_listed || known(&kinds(input)).is_empty()
}

/// Returns the agent's names for tools of these kinds.
fn known(kinds: &[String]) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (kind, _) in TOOL_KINDS {
        if is_one_of(kinds, &[kind]) {
            found.extend(tools::of_agent(NAME).first_of_kind(kind));
        }
    }
    found
}

/// Returns the kinds of the tool, and its name, which may be one.
///
/// If no adapter set them, they are those of any agent's tool of that name.
fn kinds(input: &Input) -> Vec<String> {
    let tool = input.tool();
    let mut kinds = input.tool_kinds.clone();
    if kinds.is_empty() {
        kinds = tools::kinds_anywhere(tool);
    }
    kinds.push(tool.to_owned());
    kinds
}
