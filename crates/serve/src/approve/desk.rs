//! The questions that are open. They are in memory only.

use std::io;
use std::sync::{Arc, Mutex};

use hookexec::Decision;
use hookexec_files::files;
use hookexec_files::locks::locked;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::question::Question;

/// Why a question is not taken in, or an answer does not count.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeskError {
    #[error(transparent)]
    NoRandomNumbers(#[from] io::Error),
    #[error("the request has no answer; nothing was answered")]
    NoAnswer,
    #[error("another question has the same ID; ask again")]
    SameId,
    #[error(
        "no open question has the ID `{0}`: it was answered, was withdrawn, or waited too long"
    )]
    NotOpen(String),
    #[error("question {0} is about another call; nothing was answered")]
    OtherCall(String),
    #[error("question {0}: the answer came too late")]
    TooLate(String),
}

/// The decision of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// This call may run.
    Allow,
    /// It may not; why, for the model.
    Deny(String),
}

/// An answer on its way to the caller.
pub(super) struct Answer {
    /// The text for the caller.
    pub(super) line: Value,
    /// The text for people.
    pub(super) said: String,
}

/// The oldest question comes first.
#[derive(Default)]
pub struct Desk(Mutex<Vec<Open>>);

struct Open {
    id: String,
    question: Arc<Question>,
    answer: oneshot::Sender<Answer>,
}

impl Desk {
    /// Takes a question in, and returns its ID and where its answer arrives.
    pub(super) fn ask(
        &self,
        question: &Arc<Question>,
    ) -> Result<(String, oneshot::Receiver<Answer>), DeskError> {
        let mut id = files::random_id()?;
        // Who knows the ID may answer: a program that was not shown the question can't guess 8 random digits.
        id.truncate(8);
        let mut open = locked(&self.0);
        if find(&open, &id).is_ok() {
            return Err(DeskError::SameId);
        }
        let (answer, receiver) = oneshot::channel();
        open.push(Open { id: id.clone(), question: Arc::clone(question), answer });
        Ok((id, receiver))
    }

    /// Answers an open question, and returns what was said. `digest`, if there is one, is that of the
    /// call which the person was shown.
    ///
    /// # Errors
    /// Why the answer does not count.
    pub(super) fn answer(
        &self,
        id: &str,
        digest: Option<&str>,
        choice: &Choice,
        place: &str,
    ) -> Result<String, DeskError> {
        let mut open = locked(&self.0);
        let at = find(&open, id)?;
        let question = &open[at].question;
        if digest.is_some_and(|digest| digest != question.digest) {
            return Err(DeskError::OtherCall(id.to_owned()));
        }
        if question.left().is_zero() {
            return Err(DeskError::TooLate(id.to_owned()));
        }
        let answer = answer(question, choice, place);
        let said = answer.said.clone();
        // If its conversation has ended, that says so itself.
        let _ = open.remove(at).answer.send(answer);
        Ok(said)
    }

    /// Takes a question back.
    pub(super) fn end(&self, id: &str) {
        locked(&self.0).retain(|open| open.id != id);
    }

    /// Returns an open question, or why it is not open.
    pub(super) fn question(&self, id: &str) -> Result<Arc<Question>, DeskError> {
        let open = locked(&self.0);
        Ok(Arc::clone(&open[find(&open, id)?].question))
    }

    /// Returns whether no question is open.
    pub fn is_empty(&self) -> bool {
        locked(&self.0).is_empty()
    }

    /// Returns all open questions for the page; `null` if they are those with the IDs `known`.
    pub(super) fn for_page(&self, known: &str) -> Value {
        let open = locked(&self.0);
        let ids: Vec<&str> = open.iter().map(|open| open.id.as_str()).collect();
        if ids.join(",") == known {
            return Value::Null;
        }
        open.iter().map(|open| open.question.for_page(&open.id)).collect()
    }
}

fn find(open: &[Open], id: &str) -> Result<usize, DeskError> {
    let at = open.iter().position(|open| open.id == id);
    at.ok_or_else(|| DeskError::NotOpen(id.to_owned()))
}

fn answer(question: &Question, choice: &Choice, place: &str) -> Answer {
    let name = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_default();
    let name = if name.is_empty() { "the user" } else { &name };
    let by = format!("{name} ({place})");
    let mut line = json!({ "digest": question.digest, "by": by });
    let said = match choice {
        Choice::Allow => {
            line["decision"] = json!(Decision::Allow);
            format!("allowed by {by}")
        }
        Choice::Deny(reason) => {
            let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            line["decision"] = json!(Decision::Deny);
            line["reason"] = format!("{by} denied this call{why}").into();
            format!("denied by {by}{why}")
        }
    };
    Answer { line, said }
}
