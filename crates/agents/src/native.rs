//! The events of an agent: their names, their meaning here, and the effect of each answer.

use serde::Serialize;

use super::tool_kinds::is_one_of;
use hookexec::{Event, FailureMode, Input};

/// One event of an agent: its name, the event it stands for, and what the agent takes as an answer.
///
/// The answers are written, degraded and documented from this one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NativeEvent {
    /// The agent's name for it, such as `PreToolUse` or `BeforeTool`.
    pub name: &'static str,
    /// The event it stands for; `None` when hookexec has none, and says nothing.
    pub event: Option<Event>,
    /// Why it has no event here; empty when it has one.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub unmapped: &'static str,
    /// The tool it is about, when the event's name alone says it.
    pub tool: Option<&'static str>,
    /// Whether the tool call it reports has failed.
    pub failed_tool: bool,
    /// The effect of a denial.
    pub deny: Deny,
    /// The effect of an ask.
    pub ask: Ask,
    /// Whether the agent hears of an allow, and then asks no further.
    pub allow: bool,
    /// Whether changed arguments of the tool are taken.
    pub rewrite: Rewrite,
    /// The effect of a changed response of the tool.
    pub response: Response,
    /// Whether context reaches the model.
    pub context: bool,
    /// Whether a message reaches the user.
    pub system_message: bool,
    /// Whether the turn can be ended.
    pub stop: bool,
    /// Whether it is better not registered without need: it fires often, or beside another that
    /// tells the same.
    pub on_demand: bool,
}

/// The effect of a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Deny {
    /// It has no way to take one.
    No,
    /// It stops the event before it happens.
    Blocks,
    /// The tool has run; the model reads its response and the reason.
    Tells,
    /// Like `Tells`, but the agent's own denial would hide the response or get lost: the reason is sent
    /// as context.
    TellsAsContext,
    /// The agent goes on working instead of stopping; the reason is what the model reads next.
    GoesOn,
}

/// The effect of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ask {
    /// The event has nothing to ask about.
    No,
    /// The agent asks its user.
    Asks,
    /// Nothing is said, and the agent asks its user by itself.
    Silence,
    /// The agent would let it through or hang: it is denied instead.
    Denies,
}

/// Whether an agent takes changed arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rewrite {
    /// It does not: the call is denied, and the model told which arguments would pass.
    No,
    /// It does.
    Takes,
    /// It does, and only together with an allow.
    TakesWithAllow,
}

/// The effect of a changed response of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Response {
    /// It cannot be changed.
    No,
    /// The agent takes it in place of the tool's.
    Takes,
    /// It does so for MCP tools alone.
    TakesOfMcp,
    /// It is given as the reason of a denial, which takes the place of the response.
    AsReason,
}

// The rows of each agent, which the build script takes from `data/events.txt`; its head describes the form.
include!(concat!(env!("OUT_DIR"), "/events.rs"));

impl NativeEvent {
    /// An event that hookexec only listens to: the base of every row.
    const fn new(name: &'static str, event: Event) -> Self {
        Self { event: Some(event), ..Self::unmapped(name, "") }
    }

    /// An event of the agent that hookexec has no event for, and why.
    const fn unmapped(name: &'static str, why: &'static str) -> Self {
        Self {
            name,
            event: None,
            unmapped: why,
            tool: None,
            failed_tool: false,
            deny: Deny::No,
            ask: Ask::No,
            allow: false,
            rewrite: Rewrite::No,
            response: Response::No,
            context: false,
            system_message: false,
            stop: false,
            on_demand: false,
        }
    }

    /// Returns whether nothing can take the place of the response in `input`: the model reads it as it is.
    pub(super) fn response_stands(&self, input: Option<&Input>) -> bool {
        match self.response {
            Response::No => true,
            Response::TakesOfMcp => {
                let Some(input) = input else { return true };
                !is_one_of(&input.tool_kinds, &["mcp"])
            }
            Response::Takes | Response::AsReason => false,
        }
    }

    /// Returns whether hookexec's silence here would let something through that a guard should
    /// have seen: its own failure is then a denial.
    pub fn is_deciding(&self) -> bool {
        self.event.is_some_and(|event| event.contract().failure != FailureMode::Open)
    }

    /// Names the answers that the agent has a use for, such as `deny: blocks; context`.
    pub fn answers(&self, event: Event) -> String {
        let rewritten = event.contract().rewrite;
        let parts = [
            match self.deny {
                Deny::Blocks => "deny: blocks",
                Deny::Tells | Deny::TellsAsContext => "deny: told",
                Deny::GoesOn => "deny: goes on working",
                _ => "",
            },
            match self.ask {
                Ask::Asks => "ask: asks",
                Ask::Silence => "ask: asks anyway",
                Ask::Denies => "ask: denied",
                _ => "",
            },
            if self.allow { "allow" } else { "" },
            match self.rewrite {
                Rewrite::Takes => "arguments",
                Rewrite::TakesWithAllow => "arguments, with an allow",
                _ if rewritten == hookexec::Rewrite::ToolInput => "arguments: denied",
                _ => "",
            },
            match self.response {
                Response::Takes => "response",
                Response::TakesOfMcp => "response of MCP tools",
                Response::AsReason => "response, with a denial",
                _ if rewritten == hookexec::Rewrite::ToolResponse => "response: lost",
                _ => "",
            },
            if self.context { "context" } else { "" },
            if self.system_message { "message" } else { "" },
            if self.stop { "end of turn" } else { "" },
        ];
        let mut named = parts.to_vec();
        named.retain(|part| !part.is_empty());
        if named.is_empty() { "-".to_owned() } else { named.join("; ") }
    }
}
