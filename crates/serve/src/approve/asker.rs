//! The conversation with one caller: a question or an order in, the answer out.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hookexec::wire::parse_strict;
use hookexec_files::bounded::read_line;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::{AsyncWrite, AsyncWriteExt as _, BufReader};

use super::desk::{Answer, Choice, Desk};
use super::question::Question;
use crate::server::socket::{self, Stream};
use crate::server::{self, NoVerdict};

/// How long a caller may take to send its question, and to read the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The terminal of a person.
pub trait Screen: Send + Sync + 'static {
    /// Shows a question, or the beginning of a long one.
    fn ask(&self, question: &Question, id: &str);

    /// Writes what became of a question. It may hold what a model wrote.
    fn remark(&self, remark: &str);

    /// Returns all of a question as text for a terminal whose rows may be `columns` wide.
    fn whole(question: &Question, id: &str, columns: usize) -> String;
}

/// The place where all callers meet.
pub struct Counter<S> {
    /// The open questions.
    pub desk: Desk,
    /// The place where they are shown.
    pub screen: S,
}

impl<S: Screen> Counter<S> {
    /// Serves a caller: puts its question before the user and the answer before the caller, or does
    /// what a person orders from another terminal.
    pub(super) async fn serve(self: Arc<Self>, stream: Stream) {
        let Ok((reader, mut writer, gone)) = socket::split(stream) else { return };
        let mut reader = BufReader::new(reader);
        // The largest question, in bytes: a person does not read more.
        let line = match tokio::time::timeout(PATIENCE, read_line(&mut reader, 256 << 10)).await {
            Ok(Ok(line)) => line,
            Ok(Err(error)) if error.kind() == ErrorKind::FileTooLarge => {
                return self.deny(&mut writer, "it is larger than 256 KiB").await;
            }
            // A caller that sends no whole line has asked nothing.
            _ => return,
        };
        if let Ok(order) = read::<Order>(&line) {
            write(&mut writer, &self.obey(&order).await).await;
            return;
        }
        let question = match Question::read(&line) {
            Ok(question) => Arc::new(question),
            Err(error) => return self.deny(&mut writer, &error.to_string()).await,
        };
        let (id, answer) = match self.desk.ask(&question) {
            Ok(asked) => asked,
            Err(error) => return self.deny(&mut writer, &error.to_string()).await,
        };
        self.screen.ask(&question, &id);
        tokio::pin!(gone);
        let said = tokio::select! {
            // No answer counts that comes together with the deadline, or when the caller is gone.
            biased;
            () = &mut gone => Some(WITHDRAWN.to_owned()),
            () = tokio::time::sleep(question.left()) => None,
            Ok(Answer { line, said }) = answer => {
                let is_heard = write(&mut writer, &line).await;
                Some(if is_heard { said } else { WITHDRAWN.to_owned() })
            }
        };
        self.desk.end(&id);
        self.screen.remark(&format!("[{id}] {}", said.as_deref().unwrap_or("no answer in time")));
        if said.is_none() {
            // The caller has the same deadline, and says so in its own words.
            let _ = tokio::time::timeout(PATIENCE, gone).await;
        }
    }

    /// Denies a question that no screen shows.
    async fn deny(&self, writer: &mut (impl AsyncWrite + Unpin), problem: &str) {
        self.screen.remark(&format!("a question was denied: {problem}"));
        let reason = format!("`hookexec approve` denies this question: {problem}");
        write(writer, &json!({ "decision": "deny", "reason": reason })).await;
    }

    /// Does what a person ordered in another terminal.
    async fn obey(&self, (id, choice, columns): &Order) -> Reply {
        let reply = match choice {
            Some(choice) => self.desk.answer(id, None, choice, "terminal"),
            None => self.desk.question(id).map(|question| S::whole(&question, id, *columns)),
        };
        match reply {
            Ok(done) => Reply::Done(done),
            Err(problem) => {
                self.screen.remark(&format!("an order was refused: {problem}"));
                // A program that tries IDs gets few answers.
                tokio::time::sleep(Duration::from_secs(1)).await;
                Reply::Refused(problem.to_string())
            }
        }
    }
}

const WITHDRAWN: &str = "withdrawn: its caller is gone";

/// Writes an answer; returns whether the caller's system took all of it.
async fn write(writer: &mut (impl AsyncWrite + Unpin), answer: &impl Serialize) -> bool {
    let mut line = serde_json::to_vec(answer).unwrap_or_default();
    line.push(b'\n');
    let written = async {
        writer.write_all(&line).await?;
        writer.shutdown().await
    };
    matches!(tokio::time::timeout(PATIENCE, written).await, Ok(Ok(())))
}

/// An order to the process that holds the questions: the ID of one, and the decision on it, or none to show
/// it whole in rows of that width. A question is an object, so that none passes for an order.
pub type Order = (String, Option<Choice>, usize);

/// The answer to an order.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// It was obeyed, with this result.
    Done(String),
    /// It was not obeyed, for this reason.
    Refused(String),
}

/// Sends an [`Order`] to the process that listens at `path`, and returns its answer.
pub async fn send(path: &Path, order: &Order) -> Result<Reply, NoVerdict> {
    let mut line = serde_json::to_vec(order).unwrap_or_default();
    line.push(b'\n');
    let answer = server::exchange(path, &line).await?;
    read(&answer).map_err(|error| NoVerdict::NotUnderstood(error.to_string()))
}

/// Reads a line of this conversation.
fn read<T: DeserializeOwned>(line: &[u8]) -> io::Result<T> {
    let text = std::str::from_utf8(line).map_err(io::Error::other)?;
    let value = parse_strict(text).map_err(io::Error::other)?;
    Ok(T::deserialize(value)?)
}
