//! What an agent's own event is called, what it means here, and what the agent does with an answer.

use serde::Serialize;

use hookexec::event::{Event, FailureMode};

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
    /// The tool it is about, when the event's name alone says it.
    pub tool: Option<&'static str>,
    /// Whether the tool call it reports has failed.
    pub failed_tool: bool,
    /// What the agent does with a denial.
    pub deny: Deny,
    /// What becomes of an ask.
    pub ask: Ask,
    /// Whether the agent hears of an allow, and then asks no further.
    pub allow: bool,
    /// Whether changed arguments of the tool are taken.
    pub rewrite: Rewrite,
    /// What becomes of a changed response of the tool.
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

/// What an agent does with a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Deny {
    /// It has no way to take one.
    No,
    /// What was about to happen does not happen.
    Blocks,
    /// The tool has run; the model reads its response and the reason.
    Tells,
    /// The same, but the agent's own denial would hide the response or get lost: the reason is sent
    /// as context.
    TellsAsContext,
    /// The agent goes on working instead of stopping; the reason is what the model reads next.
    GoesOn,
}

/// What becomes of an ask.
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

/// What becomes of a changed response of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Response {
    /// It cannot be changed.
    No,
    /// The agent takes it in place of the tool's.
    Takes,
    /// It is given as the reason of a denial, which takes the place of the response.
    AsReason,
}

impl NativeEvent {
    /// An event that hookexec only listens to: the base of every row.
    pub(super) const fn new(name: &'static str, event: Event) -> Self {
        Self { event: Some(event), ..Self::unmapped(name) }
    }

    /// An event of the agent that hookexec has no event for.
    pub(super) const fn unmapped(name: &'static str) -> Self {
        Self {
            name,
            event: None,
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

    pub(super) const fn tool(self, tool: &'static str) -> Self {
        Self { tool: Some(tool), ..self }
    }

    pub(super) const fn failed_tool(self) -> Self {
        Self { failed_tool: true, ..self }
    }

    pub(super) const fn deny(self, deny: Deny) -> Self {
        Self { deny, ..self }
    }

    pub(super) const fn ask(self, ask: Ask) -> Self {
        Self { ask, ..self }
    }

    pub(super) const fn allows(self) -> Self {
        Self { allow: true, ..self }
    }

    pub(super) const fn rewrite(self, rewrite: Rewrite) -> Self {
        Self { rewrite, ..self }
    }

    pub(super) const fn response(self, response: Response) -> Self {
        Self { response, ..self }
    }

    pub(super) const fn context(self) -> Self {
        Self { context: true, ..self }
    }

    pub(super) const fn says(self) -> Self {
        Self { system_message: true, ..self }
    }

    pub(super) const fn stops(self) -> Self {
        Self { stop: true, ..self }
    }

    pub(super) const fn on_demand(self) -> Self {
        Self { on_demand: true, ..self }
    }

    /// Returns whether hookexec's silence here would let something through that a guard should
    /// have seen: its own failure is then a denial.
    pub fn is_deciding(&self) -> bool {
        self.event.is_some_and(|event| event.contract().failure != FailureMode::Open)
    }
}
