//! Runs hooks that were written for Claude Code under any other agent.
//!
//! Such a hook reads an event in the words of Claude Code, and answers in those words. The
//! adapters translate an agent's payload to an [`Input`]; this module translates back.

mod arguments;
mod payload;
mod view;

use crate::Agent;
use hookexec::matcher::Matcher;
use hookexec::registry::{Dialect, NotInDialect, Payloads};
use hookexec::wire::InputChange;
use hookexec::{Decision, Event, Input, Output};
use view::View;

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
        view::names(input)
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
    let views = view::views(input)?;
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for view in views {
        match view.names.iter().find(|name| matcher.matches(name)).cloned() {
            Some(name) => named.push((name, view)),
            None => others.push((view.names[0].clone(), view)),
        }
    }
    // If none is named, the matcher matched a name of another agent, or a kind.
    if named.is_empty() { Ok(others) } else { Ok(named) }
}
