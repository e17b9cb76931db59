//! The questions that are open, and what became of the last ones. All of it is in memory only.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use hookexec::internal::{files, locked};
use hookexec::wire::Decision;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::question::{Question, Shown};

/// How many ended questions are remembered; the newest.
const ENDED: usize = 20;
/// How many hexadecimal digits the ID of a question has. Who knows the ID may answer, so it is
/// random: a program that was not shown the question can't guess it.
const ID: usize = 8;

/// The decision of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
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

/// A question that is over, and how it ended.
#[derive(Clone, Serialize)]
pub(super) struct Ended {
    id: String,
    tool: String,
    said: String,
}

/// The whole desk as a page shows it.
#[derive(Serialize)]
pub(super) struct View {
    /// The oldest first.
    open: Vec<Shown>,
    /// The newest first.
    ended: VecDeque<Ended>,
}

#[derive(Default)]
pub(super) struct Desk(Mutex<State>);

#[derive(Default)]
struct State {
    open: Vec<Open>,
    ended: VecDeque<Ended>,
}

struct Open {
    id: String,
    question: Arc<Question>,
    answer: oneshot::Sender<Answer>,
}

impl Desk {
    /// Takes a question in, and returns it with its ID and where its answer arrives.
    pub(super) fn ask(
        &self,
        question: Question,
    ) -> Result<(String, Arc<Question>, oneshot::Receiver<Answer>), String> {
        let mut state = locked(&self.0);
        let mut id = files::random_id().map_err(|error| error.to_string())?;
        id.truncate(ID);
        if state.question(&id).is_ok() {
            return Err("another question has the same ID; ask again".to_owned());
        }
        let question = Arc::new(question);
        let (answer, receiver) = oneshot::channel();
        state.open.push(Open { id: id.clone(), question: Arc::clone(&question), answer });
        Ok((id, question, receiver))
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
    ) -> Result<String, String> {
        let mut state = locked(&self.0);
        let question = state.question(id)?;
        if digest.is_some_and(|digest| digest != question.digest) {
            return Err(format!("question {id} is about another call; nothing was answered"));
        }
        if question.left().is_zero() {
            return Err(format!("question {id}: the answer came too late"));
        }
        let answer = answer(&question, choice, place);
        let said = answer.said.clone();
        if let Some(open) = state.end(id, &said) {
            // If its conversation has ended, that says so itself.
            let _ = open.answer.send(answer);
        }
        Ok(said)
    }

    /// Ends a question, and replaces what was said of its end before.
    pub(super) fn end(&self, id: &str, said: &str) {
        let mut state = locked(&self.0);
        if state.end(id, said).is_none()
            && let Some(ended) = state.ended.iter_mut().find(|ended| ended.id == id)
        {
            said.clone_into(&mut ended.said);
        }
    }

    /// Returns an open question as it is shown, all of it, or why it is not open.
    pub(super) fn whole(&self, id: &str) -> Result<Shown, String> {
        Ok(locked(&self.0).question(id)?.shown(id, true))
    }

    /// Returns all that a page shows.
    pub(super) fn view(&self) -> View {
        let state = locked(&self.0);
        let open = state.open.iter().map(|open| open.question.shown(&open.id, false)).collect();
        View { open, ended: state.ended.clone() }
    }
}

impl State {
    /// Returns an open question, or why it is not open.
    fn question(&self, id: &str) -> Result<Arc<Question>, String> {
        if let Some(open) = self.open.iter().find(|open| open.id == id) {
            return Ok(Arc::clone(&open.question));
        }
        Err(match self.ended.iter().find(|ended| ended.id == id) {
            Some(Ended { said, .. }) => format!("question {id} is not open any longer: {said}"),
            None => format!("no question has the ID `{id}`"),
        })
    }

    /// Ends an open question.
    fn end(&mut self, id: &str, said: &str) -> Option<Open> {
        let at = self.open.iter().position(|open| open.id == id)?;
        let open = self.open.remove(at);
        self.ended.truncate(ENDED - 1);
        let tool = open.question.tool.clone();
        self.ended.push_front(Ended { id: id.to_owned(), tool, said: said.to_owned() });
        Some(open)
    }
}

fn answer(question: &Question, choice: &Choice, place: &str) -> Answer {
    let by = format!("{} ({place})", user());
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

/// Returns the user's name, for the log of decisions.
fn user() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_default();
    if name.is_empty() { "the user".to_owned() } else { name }
}
