//! The conversation with one caller: its question in, the answer out.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};

use super::desk::{Answer, Desk};
use super::question::Question;
use super::screen::Screen;
use crate::server::socket::{self, Stream};

/// The largest question: a person does not read more.
const LARGEST: usize = 4 << 20;
/// How long a caller may take to send its question, and to read the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Refuses a caller when too many others wait.
pub(super) fn refuse(stream: &Stream, most: usize) {
    let reason = format!("{most} questions wait at `hookexec approve` already; try again later");
    // A new connection has room for a line.
    socket::write_at_once(stream, &line(&denial(&reason)));
}

/// Puts the question of a caller before the user, and its answer before the caller.
pub(super) async fn serve(stream: Stream, desk: &Desk, screen: &Screen) {
    let Ok((reader, mut writer, gone)) = socket::split(stream) else { return };
    // A caller that sends no whole line has asked nothing.
    let Ok(Some(question)) = tokio::time::timeout(PATIENCE, read(reader)).await else { return };
    let question = match question {
        Ok(question) => Arc::new(question),
        Err(problem) => {
            screen.remark(&format!("a question was denied: {problem}"));
            let reason = format!("`hookexec approve` denies this question: {problem}");
            write(&mut writer, &denial(&reason)).await;
            return;
        }
    };
    let (number, mut answer) = desk.ask(&question);
    if let Ok(Answer { line, said }) = answer.try_recv() {
        screen.remark(&format!("[{number}] {said}: {}", question.call()));
        write(&mut writer, &line).await;
        return;
    }
    screen.show(number, &question);
    let mut end = End { desk, screen, number, said: ENDED.to_owned() };
    let left = question.left();
    tokio::pin!(gone);
    tokio::select! {
        // No answer counts that comes together with the deadline, or when the caller is gone.
        biased;
        () = &mut gone => WITHDRAWN.clone_into(&mut end.said),
        () = tokio::time::sleep(left) => {
            "no answer in time".clone_into(&mut end.said);
            drop(end);
            // The caller has the same deadline, and says so in its own words.
            let _ = tokio::time::timeout(PATIENCE, gone).await;
        }
        Ok(Answer { line, said }) = answer => {
            end.said = if write(&mut writer, &line).await { said } else { WITHDRAWN.to_owned() };
        }
    }
}

const WITHDRAWN: &str = "withdrawn: its caller is gone";
const ENDED: &str = "denied, because `hookexec approve` ends";

/// The end of a question, which is said and remembered however its conversation ends.
struct End<'d> {
    desk: &'d Desk,
    screen: &'d Screen,
    number: u64,
    said: String,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.desk.end(self.number, &self.said);
        self.screen.remark(&format!("[{}] {}", self.number, self.said));
    }
}

/// Reads one line, and the question in it; `None` when the caller is gone before the line ended.
async fn read(reader: impl AsyncRead + Unpin) -> Option<Result<Question, String>> {
    let mut line = Vec::new();
    let mut reader = BufReader::new(reader).take(LARGEST as u64 + 1);
    reader.read_until(b'\n', &mut line).await.ok()?;
    if line.len() > LARGEST {
        return Some(Err(format!("it is larger than {LARGEST} bytes")));
    }
    (line.last() == Some(&b'\n')).then(|| Question::read(&line))
}

/// Writes an answer; returns whether the caller's system took all of it.
async fn write(writer: &mut (impl AsyncWrite + Unpin), answer: &Value) -> bool {
    let written = async {
        writer.write_all(&line(answer)).await?;
        writer.shutdown().await
    };
    matches!(tokio::time::timeout(PATIENCE, written).await, Ok(Ok(())))
}

fn line(answer: &Value) -> Vec<u8> {
    format!("{answer}\n").into_bytes()
}

fn denial(reason: &str) -> Value {
    json!({ "decision": "deny", "reason": reason })
}
