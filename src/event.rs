//! The events of an agent's life, and the one table that says what each of them can do.
//!
//! Validation, dispatch, folding, the JSON schemas and the documentation read this table; none of
//! them repeats a fact from it. The events and most of their contracts are docker-agent's. Comments
//! beside the rows name our additions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::suggest;

/// Declares the events, each with its name as written in `hooks.yaml`.
macro_rules! events {
    ($($(#[$doc:meta])* $event:ident = $name:literal,)*) => {
        /// A point in an agent's life at which hooks may run.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Event {
            $($(#[$doc])* $event,)*
        }

        impl Event {
            /// Returns the event's name as written in `hooks.yaml`, such as `pre_tool_use`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$event => $name,)*
                }
            }
        }
    };
}

events! {
    /// Before a tool call is executed.
    PreToolUse = "pre_tool_use",
    /// After a tool call, whether it succeeded or failed.
    PostToolUse = "post_tool_use",
    /// A session begins or resumes.
    SessionStart = "session_start",
    /// A turn begins, before the model is called.
    TurnStart = "turn_start",
    /// Immediately before a model call.
    BeforeLlmCall = "before_llm_call",
    /// Immediately after a successful model call.
    AfterLlmCall = "after_llm_call",
    /// A session ends.
    SessionEnd = "session_end",
    /// The agent waits for the user.
    OnUserInput = "on_user_input",
    /// The model has finished its response.
    Stop = "stop",
    /// The agent shows a warning or an error to the user.
    Notification = "notification",
    /// An error ended or disturbed a turn.
    OnError = "on_error",
    /// The limit of iterations was reached.
    OnMaxIterations = "on_max_iterations",
    /// Approval of a tool call is about to be asked for.
    PermissionRequest = "permission_request",
    /// The user submitted a prompt.
    UserPromptSubmit = "user_prompt_submit",
    /// The user steered a running turn.
    UserSteeringMessagesSubmit = "user_steering_messages_submit",
    /// The user queued a follow-up.
    UserFollowupSubmit = "user_followup_submit",
    /// A turn ended, for any reason.
    TurnEnd = "turn_end",
    /// The conversation is about to be compacted.
    PreCompact = "pre_compact",
    /// A subagent begins.
    SubagentStart = "subagent_start",
    /// A subagent finished.
    SubagentStop = "subagent_stop",
    /// Another agent takes over.
    OnAgentSwitch = "on_agent_switch",
    /// A stored session was resumed.
    OnSessionResume = "on_session_resume",
    /// A tool approval was decided, by a rule, a hook or the user.
    OnToolApprovalDecision = "on_tool_approval_decision",
    /// Compaction starts; a hook may veto it or supply the summary.
    BeforeCompaction = "before_compaction",
    /// Compaction finished.
    AfterCompaction = "after_compaction",
    /// A tool's response, before the model sees it.
    ToolResponseTransform = "tool_response_transform",
    /// A tool's arguments, before the guards judge them.
    ToolInputTransform = "tool_input_transform",
    /// The mandatory guard of a tool call.
    ToolGuard = "tool_guard",
    /// A worktree is about to be created for a session.
    WorktreeCreate = "worktree_create",
    /// An agent is about to run its part of a task.
    BeforeAgentRun = "before_agent_run",
    /// An agent has completed its part of a task.
    AfterAgentComplete = "after_agent_complete",
    /// A person is to answer what is left to ask.
    Approval = "approval",
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

    const fn tool_matched(self) -> Self {
        Self { tool_matched: true, ..self }
    }

    const fn blocks(self) -> Self {
        Self { may_block: true, ..self }
    }

    const fn fails(self, failure: FailureMode) -> Self {
        Self { failure, ..self }
    }

    const fn permission(self, permission: Permission) -> Self {
        Self { permission, ..self }
    }

    const fn rewrites(self, rewrite: Rewrite) -> Self {
        Self { rewrite, ..self }
    }

    /// The event exists to rewrite.
    const fn transforms(self, rewrite: Rewrite) -> Self {
        Self { rewrite, transforms: true, ..self }
    }

    const fn context(self, context: ContextMode) -> Self {
        Self { context, ..self }
    }

    const fn summary(self) -> Self {
        Self { summary: true, ..self }
    }

    const fn metadata(self) -> Self {
        Self { metadata: true, ..self }
    }

    const fn responds(self) -> Self {
        Self { may_respond: true, ..self }
    }

    const fn continues(self) -> Self {
        Self { may_continue: true, ..self }
    }

    /// Returns whether a hook may end the turn or the session here.
    ///
    /// True for every event that may be blocked, and for `after_llm_call`, where PicoClaw's hooks
    /// abort.
    pub const fn may_stop(&self) -> bool {
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

/// The contract of every event. The order is the one shown to users: the twelve of docker-agent
/// v1.52.0 first.
static CONTRACTS: [Contract; 32] = {
    use ContextMode::{Json, Text};
    use FailureMode::{Ask, Closed};
    use Permission::{Approves, Decides};
    use Rewrite::{Request, Response, ToolInput, ToolResponse};
    const fn event(event: Event, fires: &'static str) -> Contract {
        Contract::observes(event, fires)
    }
    [
        // Ours: context along with an allow, from JSON only (plain text was never an answer here).
        event(Event::PreToolUse, "before a tool call is executed")
            .tool_matched()
            .blocks()
            .fails(Closed)
            .permission(Decides)
            .rewrites(ToolInput)
            .context(Json)
            .metadata()
            .responds(),
        // Context as in v1.52.0; ours: the response may be rewritten, as PicoClaw's after_tool does.
        event(Event::PostToolUse, "after a tool call, successful or not")
            .tool_matched()
            .blocks()
            .rewrites(ToolResponse)
            .context(Text),
        event(Event::SessionStart, "a session begins or resumes").context(Text),
        event(Event::TurnStart, "a turn begins, before the model is called").context(Text),
        // Ours: model, tools and options may be rewritten along with the messages, as PicoClaw's
        // before_llm does.
        event(Event::BeforeLlmCall, "immediately before a model call").blocks().transforms(Request),
        // Ours: the response may be rewritten, as PicoClaw's after_llm does.
        event(Event::AfterLlmCall, "immediately after a successful model call")
            .transforms(Response),
        event(Event::SessionEnd, "a session ends"),
        event(Event::OnUserInput, "the agent waits for the user"),
        // Context as in v1.52.0; ours: a denial in JSON keeps the model at work, as in Claude Code.
        event(Event::Stop, "the model has finished its response").context(Text).continues(),
        event(Event::Notification, "the agent shows a warning or an error"),
        event(Event::OnError, "an error ended or disturbed a turn"),
        event(Event::OnMaxIterations, "the limit of iterations was reached"),
        event(Event::PermissionRequest, "approval of a tool call is about to be asked for")
            .tool_matched()
            .blocks()
            .fails(Ask)
            .permission(Approves)
            .metadata(),
        event(Event::UserPromptSubmit, "the user submitted a prompt").blocks().context(Text),
        event(Event::UserSteeringMessagesSubmit, "the user steered a running turn")
            .blocks()
            .context(Text),
        event(Event::UserFollowupSubmit, "the user queued a follow-up").blocks().context(Text),
        event(Event::TurnEnd, "a turn ended, by whichever way"),
        event(Event::PreCompact, "the conversation is about to be compacted")
            .blocks()
            .context(Text),
        // Ours, as Claude Code's: the context is for the subagent.
        event(Event::SubagentStart, "a subagent begins").context(Text),
        // Ours: a denial in JSON, as at `stop`.
        event(Event::SubagentStop, "a subagent finished").continues(),
        event(Event::OnAgentSwitch, "another agent takes over"),
        event(Event::OnSessionResume, "a stored session was resumed"),
        event(Event::OnToolApprovalDecision, "a tool approval was decided"),
        event(Event::BeforeCompaction, "compaction starts").blocks().summary(),
        event(Event::AfterCompaction, "compaction finished"),
        // Ours: a denial withholds the response, and so does a failure. A hook that exists to clean must
        // not pass what it could not clean.
        event(Event::ToolResponseTransform, "a tool's response, before the model sees it")
            .tool_matched()
            .blocks()
            .fails(Closed)
            .transforms(ToolResponse),
        event(Event::ToolInputTransform, "a tool's arguments, before the guards judge them")
            .tool_matched()
            .blocks()
            .transforms(ToolInput),
        event(Event::ToolGuard, "the mandatory guard of a tool call")
            .tool_matched()
            .blocks()
            .fails(Closed)
            .permission(Decides)
            .metadata(),
        event(Event::WorktreeCreate, "a worktree is about to be created").blocks().context(Text),
        // docker-agent's routing answers (`transition`) are not read: a hook allows or denies.
        event(Event::BeforeAgentRun, "an agent is about to run its part of a task")
            .blocks()
            .fails(Closed),
        event(Event::AfterAgentComplete, "an agent has completed its part of a task")
            .blocks()
            .fails(Closed),
        event(Event::Approval, "a hook asks, and a person elsewhere is to answer")
            .tool_matched()
            .blocks()
            .fails(Closed)
            .permission(Approves),
    ]
};

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

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Event {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Event".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": Self::all().map(Self::name).collect::<Vec<_>>() })
    }
}

#[cfg(test)]
mod tests;
