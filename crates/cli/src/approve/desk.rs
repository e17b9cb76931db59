//! The questions that are open, and what became of the last ones. All of it is in memory only.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use hookexec::internal::{files, locked};
use hookexec::wire::Decision;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::question::Question;

/// How many ended questions are remembered; the newest.
const ENDED: usize = 200;
/// How many hexadecimal digits the name of a question has. Who knows the name may answer, so it is
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
#[derive(Clone)]
pub(super) struct Ended {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) said: String,
}

#[derive(Default)]
pub(super) struct Desk(Mutex<State>);

#[derive(Default)]
struct State {
    /// Counts the changes.
    version: u64,
    /// The oldest first.
    open: Vec<Open>,
    ended: VecDeque<Ended>,
}

struct Open {
    id: String,
    question: Arc<Question>,
    answer: oneshot::Sender<Answer>,
}

impl Desk {
    /// Takes a question in, and returns its name and where its answer arrives.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(super) fn ask(
        &self,
        question: &Arc<Question>,
    ) -> io::Result<(String, oneshot::Receiver<Answer>)> {
        let mut state = locked(&self.0);
        let id = loop {
            let mut id = files::random_id()?;
            id.truncate(ID);
            if !state.knows(&id) {
                break id;
            }
        };
        let (sender, receiver) = oneshot::channel();
        let question = Arc::clone(question);
        state.open.push(Open { id: id.clone(), question, answer: sender });
        state.version += 1;
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
    ) -> Result<String, String> {
        let mut state = locked(&self.0);
        let at = state.open.iter().position(|open| open.id == id).ok_or_else(|| state.gone(id))?;
        let question = &state.open[at].question;
        if digest.is_some_and(|digest| digest != question.digest) {
            return Err(format!("question {id} is about another call; nothing was answered"));
        }
        if question.left().is_zero() {
            return Err(format!("question {id}: the answer came too late"));
        }
        let Open { question, answer: sender, .. } = state.open.remove(at);
        let answer = answer(&question, choice, place);
        let said = answer.said.clone();
        state.end(id, &question.tool, &said);
        // If its conversation has ended, that says so itself.
        let _ = sender.send(answer);
        Ok(said)
    }

    /// Ends a question, and replaces what was said of its end before.
    pub(super) fn end(&self, id: &str, said: &str) {
        let mut state = locked(&self.0);
        if let Some(at) = state.open.iter().position(|open| open.id == id) {
            let open = state.open.remove(at);
            state.end(id, &open.question.tool, said);
        } else if let Some(ended) = state.ended.iter_mut().find(|ended| ended.id == id) {
            said.clone_into(&mut ended.said);
            state.version += 1;
        }
    }

    /// Returns an open question, or why it is not open.
    pub(super) fn question(&self, id: &str) -> Result<Arc<Question>, String> {
        let state = locked(&self.0);
        match state.open.iter().find(|open| open.id == id) {
            Some(open) => Ok(Arc::clone(&open.question)),
            None => Err(state.gone(id)),
        }
    }

    /// Returns whether there is or was a question of this name.
    pub(super) fn knows(&self, id: &str) -> bool {
        locked(&self.0).knows(id)
    }

    /// Returns the open questions, the oldest first.
    pub(super) fn open(&self) -> Vec<(String, Arc<Question>)> {
        let state = locked(&self.0);
        state.open.iter().map(|open| (open.id.clone(), Arc::clone(&open.question))).collect()
    }

    /// Returns what became of the last questions, the newest first.
    pub(super) fn ended(&self) -> Vec<Ended> {
        locked(&self.0).ended.iter().rev().cloned().collect()
    }

    /// Returns a number that is another after each change.
    pub(super) fn version(&self) -> u64 {
        locked(&self.0).version
    }
}

impl State {
    fn end(&mut self, id: &str, tool: &str, said: &str) {
        self.version += 1;
        if self.ended.len() == ENDED {
            self.ended.pop_front();
        }
        let (id, tool, said) = (id.to_owned(), tool.to_owned(), said.to_owned());
        self.ended.push_back(Ended { id, tool, said });
    }

    fn knows(&self, id: &str) -> bool {
        self.open.iter().any(|open| open.id == id) || self.ended.iter().any(|ended| ended.id == id)
    }

    /// Returns why a question is not open.
    fn gone(&self, id: &str) -> String {
        match self.ended.iter().find(|ended| ended.id == id) {
            Some(Ended { said, .. }) => format!("question {id} is not open any longer: {said}"),
            None => format!("no question has the ID `{id}`"),
        }
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
    for name in ["USER", "LOGNAME"] {
        if let Ok(user) = std::env::var(name)
            && !user.is_empty()
        {
            return user;
        }
    }
    "the user".to_owned()
}
