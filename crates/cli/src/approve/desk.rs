//! The questions that are open, and what became of the last ones. All of it is in memory only.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use hookexec::internal::locked;
use hookexec::wire::Decision;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::question::{Question, Session};

/// How many ended questions are remembered, and how many approvals for a session; the newest.
const ENDED: usize = 200;
const SESSIONS: usize = 1_000;

/// What a person decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// This call may run.
    Once,
    /// This call may run, and the same call in the same session from now on.
    Session,
    /// It may not; why, for the model.
    Deny(String),
}

/// An answer on its way to the caller.
pub(super) struct Answer {
    /// What the caller reads.
    pub(super) line: Value,
    /// What a person reads.
    pub(super) said: String,
}

/// How a question ended.
#[derive(Clone)]
pub(super) struct Ended {
    pub(super) number: u64,
    pub(super) tool: String,
    pub(super) said: String,
}

#[derive(Default)]
pub(super) struct Desk(Mutex<State>);

#[derive(Default)]
struct State {
    /// The number of the last question. No number is used again.
    last: u64,
    /// Counts the changes.
    version: u64,
    open: BTreeMap<u64, (Arc<Question>, oneshot::Sender<Answer>)>,
    ended: VecDeque<Ended>,
    approved: VecDeque<(Session, String)>,
}

impl Desk {
    /// Takes a question in, and returns its number and where its answer arrives. The answer is
    /// there at once if the call was approved before, for its session.
    pub(super) fn ask(&self, question: &Arc<Question>) -> (u64, oneshot::Receiver<Answer>) {
        let mut state = locked(&self.0);
        state.last += 1;
        let number = state.last;
        let key = (question.session.clone(), question.digest.clone());
        let (sender, receiver) = oneshot::channel();
        state.open.insert(number, (Arc::clone(question), sender));
        state.version += 1;
        if state.approved.contains(&key) {
            state.answer(number, &Choice::Once, "approved for this session before");
        }
        (number, receiver)
    }

    /// Answers an open question; `digest` is that of the call which the person was shown.
    ///
    /// # Errors
    /// Why the answer does not count.
    pub(super) fn answer(
        &self,
        number: u64,
        digest: &str,
        choice: &Choice,
        place: &str,
    ) -> Result<(), String> {
        let mut state = locked(&self.0);
        let Some((question, _)) = state.open.get(&number) else { return Err(state.gone(number)) };
        if question.digest != digest {
            return Err(format!("question {number} is about another call; nothing was answered"));
        }
        if question.left().is_zero() {
            return Err(format!("question {number}: the answer came too late"));
        }
        if *choice == Choice::Session {
            if question.session.id.is_empty() {
                return Err(format!("question {number} names no session; approve it once"));
            }
            let key = (question.session.clone(), question.digest.clone());
            if state.approved.len() == SESSIONS {
                state.approved.pop_front();
            }
            state.approved.push_back(key);
        }
        state.answer(number, choice, place);
        Ok(())
    }

    /// Ends a question, and replaces what was said of its end before.
    pub(super) fn end(&self, number: u64, said: &str) {
        let mut state = locked(&self.0);
        if let Some((question, _)) = state.open.remove(&number) {
            state.end(number, question.tool.clone(), said.to_owned());
        } else if let Some(ended) = state.ended.iter_mut().find(|ended| ended.number == number) {
            said.clone_into(&mut ended.said);
            state.version += 1;
        }
    }

    /// Returns an open question, or why it is not open.
    pub(super) fn question(&self, number: u64) -> Result<Arc<Question>, String> {
        let state = locked(&self.0);
        let open = state.open.get(&number).map(|(question, _)| Arc::clone(question));
        open.ok_or_else(|| state.gone(number))
    }

    /// Returns the open questions, the oldest first.
    pub(super) fn open(&self) -> Vec<(u64, Arc<Question>)> {
        let state = locked(&self.0);
        state.open.iter().map(|(number, (question, _))| (*number, Arc::clone(question))).collect()
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
    fn answer(&mut self, number: u64, choice: &Choice, place: &str) {
        let Some((question, sender)) = self.open.remove(&number) else { return };
        let answer = answer(&question, choice, place);
        self.end(number, question.tool.clone(), answer.said.clone());
        // If its conversation has ended, that says so itself.
        let _ = sender.send(answer);
    }

    fn end(&mut self, number: u64, tool: String, said: String) {
        self.version += 1;
        if self.ended.len() == ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back(Ended { number, tool, said });
    }

    /// Returns why a question is not open.
    fn gone(&self, number: u64) -> String {
        match self.ended.iter().find(|ended| ended.number == number) {
            Some(Ended { said, .. }) => format!("question {number} is not open any longer: {said}"),
            None if (1..=self.last).contains(&number) => {
                format!("question {number} is not open any longer")
            }
            None => format!("no question has the number {number}"),
        }
    }
}

fn answer(question: &Question, choice: &Choice, place: &str) -> Answer {
    let by = format!("{} ({place})", user());
    let (decision, reason, said) = match choice {
        Choice::Once => (Decision::Allow, None, format!("approved by {by}")),
        Choice::Session => (Decision::Allow, None, format!("approved for this session by {by}")),
        Choice::Deny(reason) => {
            let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            let told = format!("{by} denied this call{why}");
            (Decision::Deny, Some(told), format!("denied by {by}{why}"))
        }
    };
    let mut line = json!({ "decision": decision, "digest": question.digest, "by": by });
    if let Some(reason) = reason {
        line["reason"] = reason.into();
    }
    Answer { line, said }
}

/// Returns the user's name, for the log of decisions.
fn user() -> String {
    let name = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    name.filter(|name| !name.is_empty()).unwrap_or_else(|| "the user".to_owned())
}
