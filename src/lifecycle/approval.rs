//! Approval of a tool call, bound to exactly what was shown.

use std::collections::BTreeMap;

use serde_json::Value;

use super::outcome::{DeniedBy, ToolEnd};
use super::tool_call::ToolCall;
use crate::event::Event;
use crate::handler::BoxFuture;
use crate::wire::JsonObject;

/// The host's approver: shows the request to the user and returns the answer.
pub(super) type Approver<'a> =
    Box<dyn FnOnce(ApprovalRequest) -> BoxFuture<'a, Approval> + Send + 'a>;

/// A request for approval of a tool call.
///
/// Answering consumes it, and the answer carries the call that was shown. An [`Approval`] can't be
/// made in another way, used twice, or used for another call.
#[must_use = "a request that is not answered approves nothing"]
#[derive(Debug)]
pub struct ApprovalRequest {
    pub(super) session_id: String,
    pub(super) call: ToolCall,
    /// The reason: the event whose hooks asked, and their text. Without an event the host asked.
    pub(super) reasons: Vec<(Option<Event>, String)>,
    pub(super) metadata: BTreeMap<String, Value>,
}

impl ApprovalRequest {
    /// Returns the tool.
    pub fn tool_name(&self) -> &str {
        &self.call.name
    }

    /// Returns the arguments. Show them: the approval holds only for them.
    pub const fn arguments(&self) -> &JsonObject {
        &self.call.arguments
    }

    /// Returns the call's id.
    pub fn tool_use_id(&self) -> Option<&str> {
        self.call.id.as_deref()
    }

    /// Returns the reason: the event whose hooks asked (`None`: the host asked), and their text.
    pub fn reasons(&self) -> &[(Option<Event>, String)] {
        &self.reasons
    }

    /// Returns the metadata that hooks attached.
    pub const fn metadata(&self) -> &BTreeMap<String, Value> {
        &self.metadata
    }

    /// Approves the call.
    pub fn grant(self) -> Approval {
        self.grant_as("user")
    }

    /// Approves the call with `source`, such as a rule; hooks read it in `approval_source`.
    pub fn grant_as(self, source: impl Into<String>) -> Approval {
        self.answer(Answer::Granted, source)
    }

    /// Refuses the call, with a reason for the model.
    pub fn refuse(self, reason: impl Into<String>) -> Approval {
        self.answer(Answer::Refused(reason.into()), "user")
    }

    /// Cancels the request without an answer.
    pub fn cancel(self) -> Approval {
        self.answer(Answer::Cancelled, "user")
    }

    fn answer(self, answer: Answer, source: impl Into<String>) -> Approval {
        Approval { session_id: self.session_id, call: self.call, answer, source: source.into() }
    }
}

/// The answer to one [`ApprovalRequest`]; void for any call but the one that was shown.
#[must_use]
#[derive(Debug)]
pub struct Approval {
    session_id: String,
    call: ToolCall,
    answer: Answer,
    source: String,
}

#[derive(Debug)]
enum Answer {
    Granted,
    Refused(String),
    Cancelled,
}

impl Approval {
    /// Returns who approved, or how the call ends; `None` if the answer was for another call.
    pub(super) fn for_call(
        self,
        session_id: &str,
        call: &ToolCall,
    ) -> Option<Result<String, ToolEnd>> {
        if self.session_id != session_id || !self.call.same_as(call) {
            return None;
        }
        Some(match self.answer {
            Answer::Granted => Ok(self.source),
            Answer::Refused(message) => Err(ToolEnd::Denied { by: DeniedBy::Approver, message }),
            Answer::Cancelled => Err(ToolEnd::Cancelled),
        })
    }
}
