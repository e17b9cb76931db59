//! The events of an agent's life, and the one table that says what each of them can do.
//!
//! Validation, dispatch, folding, the JSON schemas and the documentation read this table; none of
//! them repeats a fact from it. The events and most of their contracts are docker-agent's. Comments
//! beside the rows name our additions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::suggest;

/// Declares the events: each has its name in `hooks.yaml`, when it fires, and what differs from an
/// event that only observes. The order is the one shown to users: the twelve of docker-agent v1.52.0
/// first.
macro_rules! events {
    ($($(#[$doc:meta])* $event:ident = $name:literal, $fires:literal, { $($field:ident: $value:expr),* };)*) => {
        /// A point in an agent's life at which hooks may run.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub enum Event {
            $($(#[$doc])* #[serde(rename = $name)] $event,)*
        }

        impl Event {
            /// Returns the event's name as written in `hooks.yaml`, such as `pre_tool_use`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$event => $name,)*
                }
            }
        }

        static CONTRACTS: &[Contract] = {
            use ContextMode::{Json, Text};
            use FailureMode::{Ask, Closed};
            use Permission::{Approves, Decides};
            use Rewrite::{Request, Response, ToolInput, ToolResponse};
            &[$(Contract { $($field: $value,)* ..Contract::observes(Event::$event, $fires) },)*]
        };
    };
}

events! {
    /// Before a tool call is executed.
    // Ours: context along with an allow, from JSON only (plain text was never an answer here).
    PreToolUse = "pre_tool_use", "before a tool call is executed",
        { tool_matched: true, may_block: true, failure: Closed, permission: Decides,
          rewrite: ToolInput, context: Json, metadata: true, may_respond: true };
    /// After a tool call, whether it succeeded or failed.
    // Context as in v1.52.0; ours: the response may be rewritten, as PicoClaw's after_tool does.
    PostToolUse = "post_tool_use", "after a tool call, successful or not",
        { tool_matched: true, may_block: true, rewrite: ToolResponse, context: Text };
    /// A session begins or resumes.
    SessionStart = "session_start", "a session begins or resumes", { context: Text };
    /// A turn begins, before the model is called.
    TurnStart = "turn_start", "a turn begins, before the model is called", { context: Text };
    /// Immediately before a model call.
    // Ours: model, tools and options may be rewritten along with the messages, as PicoClaw's
    // before_llm does.
    BeforeLlmCall = "before_llm_call", "immediately before a model call",
        { may_block: true, rewrite: Request, transforms: true };
    /// Immediately after a successful model call.
    // Ours: the response may be rewritten, as PicoClaw's after_llm does.
    AfterLlmCall = "after_llm_call", "immediately after a successful model call",
        { rewrite: Response, transforms: true };
    /// A session ends.
    SessionEnd = "session_end", "a session ends", {};
    /// The agent waits for the user.
    OnUserInput = "on_user_input", "the agent waits for the user", {};
    /// The model has finished its response.
    // Context as in v1.52.0; ours: a denial in JSON keeps the model at work, as in Claude Code.
    Stop = "stop", "the model has finished its response", { context: Text, may_continue: true };
    /// The agent shows a warning or an error to the user.
    // The default, because it can do nothing but observe.
    #[default]
    Notification = "notification", "the agent shows a warning or an error", {};
    /// An error ended or disturbed a turn.
    OnError = "on_error", "an error ended or disturbed a turn", {};
    /// The limit of iterations was reached.
    OnMaxIterations = "on_max_iterations", "the limit of iterations was reached", {};
    /// Approval of a tool call is about to be asked for.
    PermissionRequest = "permission_request", "approval of a tool call is about to be asked for",
        { tool_matched: true, may_block: true, failure: Ask, permission: Approves, metadata: true };
    /// The user submitted a prompt.
    UserPromptSubmit = "user_prompt_submit", "the user submitted a prompt",
        { may_block: true, context: Text };
    /// The user steered a running turn.
    UserSteeringMessagesSubmit = "user_steering_messages_submit", "the user steered a running turn",
        { may_block: true, context: Text };
    /// The user queued a follow-up.
    UserFollowupSubmit = "user_followup_submit", "the user queued a follow-up",
        { may_block: true, context: Text };
    /// A turn ended, for any reason.
    TurnEnd = "turn_end", "a turn ended, by whichever way", {};
    /// The conversation is about to be compacted.
    PreCompact = "pre_compact", "the conversation is about to be compacted",
        { may_block: true, context: Text };
    /// A subagent begins.
    // Ours, as Claude Code's: the context is for the subagent.
    SubagentStart = "subagent_start", "a subagent begins", { context: Text };
    /// A subagent finished.
    // Ours: a denial in JSON, as at `stop`.
    SubagentStop = "subagent_stop", "a subagent finished", { may_continue: true };
    /// Another agent takes over.
    OnAgentSwitch = "on_agent_switch", "another agent takes over", {};
    /// A stored session was resumed.
    OnSessionResume = "on_session_resume", "a stored session was resumed", {};
    /// A tool approval was decided, by a rule, a hook or the user.
    OnToolApprovalDecision = "on_tool_approval_decision", "a tool approval was decided", {};
    /// Compaction starts; a hook may veto it or supply the summary.
    BeforeCompaction = "before_compaction", "compaction starts", { may_block: true, summary: true };
    /// Compaction finished.
    AfterCompaction = "after_compaction", "compaction finished", {};
    /// A tool's response, before the model sees it.
    // Ours: a denial withholds the response, and so does a failure. A hook that exists to clean must
    // not pass what it could not clean.
    ToolResponseTransform = "tool_response_transform", "a tool's response, before the model sees it",
        { tool_matched: true, may_block: true, failure: Closed, rewrite: ToolResponse,
          transforms: true };
    /// A tool's arguments, before the guards judge them.
    ToolInputTransform = "tool_input_transform", "a tool's arguments, before the guards judge them",
        { tool_matched: true, may_block: true, rewrite: ToolInput, transforms: true };
    /// The mandatory guard of a tool call.
    ToolGuard = "tool_guard", "the mandatory guard of a tool call",
        { tool_matched: true, may_block: true, failure: Closed, permission: Decides,
          metadata: true };
    /// A worktree is about to be created for a session.
    WorktreeCreate = "worktree_create", "a worktree is about to be created",
        { may_block: true, context: Text };
    /// An agent is about to run its part of a task.
    // docker-agent's routing answers (`transition`) are not read: a hook allows or denies.
    BeforeAgentRun = "before_agent_run", "an agent is about to run its part of a task",
        { may_block: true, failure: Closed };
    /// An agent has completed its part of a task.
    AfterAgentComplete = "after_agent_complete", "an agent has completed its part of a task",
        { may_block: true, failure: Closed };
    /// A person is to answer what is left to ask.
    Approval = "approval", "a hook asks, and a person elsewhere is to answer",
        { tool_matched: true, may_block: true, failure: Closed, permission: Approves };
}

/// The effect on an event when one of its hooks could not give an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureMode {
    /// The event goes on, with a warning.
    Open,
    /// The event asks. It is denied if the host can't ask.
    Ask,
    /// The event is denied.
    Closed,
}

/// The use of an event for a permission decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Permission {
    /// The event has no permission to decide.
    None,
    /// A hook decides: allow, ask or deny.
    Decides,
    /// A hook answers in the user's place: allow approves.
    Approves,
}

/// The part of the input that hooks of an event may rewrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rewrite {
    /// Nothing.
    None,
    /// The tool's name and arguments.
    ToolInput,
    /// The messages, model, tools and options of a model request.
    Request,
    /// The model's response.
    Response,
    /// The tool's response.
    ToolResponse,
}

/// Which answers of a hook become context for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextMode {
    /// None.
    None,
    /// `additional_context` in JSON; plain text stays no opinion.
    Json,
    /// `additional_context` in JSON, and plain text.
    Text,
}

/// How often in a row hooks may keep the model at work; Claude Code has the same bound.
pub const MAX_CONTINUES: u32 = 8;

/// The contract of an event: a row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Contract {
    /// The event.
    pub event: Event,
    /// When it fires, in a short phrase.
    pub fires: &'static str,
    /// Whether its hooks are chosen by the tool's name.
    pub tool_matched: bool,
    /// Whether a hook may block it.
    pub may_block: bool,
    /// The effect of a hook's failure without `on_error`.
    pub failure: FailureMode,
    /// Its use for a permission decision.
    pub permission: Permission,
    /// The part of the input that its hooks may rewrite.
    pub rewrite: Rewrite,
    /// Whether it exists to rewrite: each of its hooks is a rewriter, and they run in file order.
    pub transforms: bool,
    /// Which answers become context for the model.
    pub context: ContextMode,
    /// Whether a hook may supply the summary of a compaction.
    pub summary: bool,
    /// Whether a hook may attach metadata to the approval request.
    pub metadata: bool,
    /// Whether a hook may answer in the tool's place.
    pub may_respond: bool,
    /// Whether a hook that denies in JSON keeps the model at work instead of letting it stop.
    pub may_continue: bool,
}

impl Contract {
    /// An event that only observes: the base of every row.
    const fn observes(event: Event, fires: &'static str) -> Self {
        Self {
            event,
            fires,
            tool_matched: false,
            may_block: false,
            failure: FailureMode::Open,
            permission: Permission::None,
            rewrite: Rewrite::None,
            transforms: false,
            context: ContextMode::None,
            summary: false,
            metadata: false,
            may_respond: false,
            may_continue: false,
        }
    }

    /// Returns whether a hook may end the turn or the session here.
    ///
    /// True for every event that may be blocked, and for `after_llm_call`, where PicoClaw's hooks
    /// abort.
    pub(crate) const fn may_stop(&self) -> bool {
        self.may_block || matches!(self.rewrite, Rewrite::Response)
    }

    /// Returns whether a denial withholds what the hooks rewrite: a placeholder takes its place.
    pub const fn withholds(&self) -> bool {
        self.transforms && matches!(self.rewrite, Rewrite::ToolResponse)
    }

    /// Returns whether a denial prevents the use of what a hook rewrites. A denial does not take
    /// back the response of a model or a tool, so redactors must see it whatever an earlier hook
    /// decided.
    pub(crate) const fn denial_prevents(&self) -> bool {
        !matches!(self.rewrite, Rewrite::Response | Rewrite::ToolResponse)
    }

    /// Returns whether a hook's failure denies the event without `on_error`.
    pub const fn fails_closed(&self) -> bool {
        matches!(self.failure, FailureMode::Closed)
    }
}

impl Event {
    /// Returns every event, in the order of the contract table.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        CONTRACTS.iter().map(|contract| contract.event)
    }

    /// Returns the event of that name, without a search for similar names.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|event| event.name() == name)
    }

    /// Returns what the event can do.
    pub fn contract(self) -> &'static Contract {
        &CONTRACTS[self.index()]
    }

    /// Returns the event's place in the contract table: the enum and the table share one order.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// An unknown event name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown event `{name}`{}", suggest::did_you_mean(suggestion.as_deref()))]
#[non_exhaustive]
pub struct UnknownEvent {
    /// The name as given.
    pub name: String,
    /// The event that was probably meant.
    pub suggestion: Option<String>,
}

impl FromStr for Event {
    type Err = UnknownEvent;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::from_name(name).ok_or_else(|| UnknownEvent {
            name: name.to_owned(),
            suggestion: suggest::closest(name, Self::all().map(Self::name)).map(str::to_owned),
        })
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
