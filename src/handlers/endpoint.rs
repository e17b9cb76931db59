//! A server that hooks post to: where they may post, and what counts as a reply.

use std::sync::Arc;
use std::time::Instant;

use serde::de::DeserializeOwned;

use super::builtin::joined;
use super::command::expand::{Variables, required_env_references};
use crate::config::Hook;
use crate::dialect::Dialect;
use crate::event::ContextMode;
use crate::handler::{
    BuildError, Call, Exited, Failure, HandlerError, HandlerResult, NO_ROOM, Room,
};
use crate::http::{Client, NoReply, Reply};
use crate::matcher::Matcher;

/// Reads the keys of `with`.
pub(super) fn parameters<P: DeserializeOwned>(hook: &Hook, example: &str) -> Result<P, BuildError> {
    serde_json::from_value(hook.with.clone().unwrap_or_default())
        .map_err(|error| BuildError::new(format!("`with`: {error}")).at("with").hint(example))
}

/// A server, the headers of each request to it, and the limit of its replies.
#[derive(Debug)]
pub(super) struct Endpoint {
    client: Client,
    /// A variable of the environment that a header needs and that is not set.
    missing: Option<String>,
    most: usize,
}

impl Endpoint {
    /// Returns the server at `url`, if the limits of the hook's layer allow it.
    ///
    /// # Errors
    /// With what is wrong with `with`, to which `example` is the hint.
    pub(super) fn new(
        hook: &Hook,
        env: &Variables,
        (url, allow_private): (&str, bool),
        headers: impl IntoIterator<Item = (String, String)>,
        example: &str,
    ) -> Result<Self, BuildError> {
        let wrong = |problem: String| BuildError::new(problem).at("with").hint(example);
        if !allow_private && !url.starts_with("https://") {
            let problem = "the `url` must begin with `https://`, unless `allow_private` is true";
            return Err(wrong(problem.to_owned()));
        }
        let mut client = Client::new(url, allow_private).map_err(wrong)?;
        if let Some(allowed) = &hook.limits.http_hosts
            && !allowed.contains(client.host())
        {
            let problem = format!("`http_hosts` does not list `{}`", client.host());
            return Err(BuildError::new(problem).at("with").hint(
                "the hooks files of this layer, of the user or of the administrator say in \
                 `defaults` which hosts may be posted to",
            ));
        }
        let mut missing = None;
        for (name, text) in headers {
            match required_env_references(&text, env) {
                Ok(value) if client.header(&name, &value) => {}
                Ok(_) => return Err(wrong(format!("`{name}: {text}` is not a header"))),
                Err(variable) => missing = Some(variable),
            }
        }
        if !client.has_header("content-type") {
            client.header("Content-Type", "application/json");
        }
        Ok(Self { client, missing, most: hook.max_output })
    }

    pub(super) fn host(&self) -> &str {
        self.client.host()
    }

    /// Posts `body` and returns a whole reply, whatever its status. Blocks until `deadline`.
    pub(super) fn post(
        &self,
        body: &[u8],
        deadline: Instant,
        room: &Room,
    ) -> Result<Reply, HandlerError> {
        if let Some(variable) = &self.missing {
            let message = format!("one of its headers needs `{variable}`, which is not set");
            return Err(HandlerError::new(Failure::Start, message));
        }
        let (most, host) = (self.most, self.host());
        let patience = deadline.saturating_duration_since(Instant::now());
        let reply = self.client.post(body, most, patience).map_err(|no_reply| {
            let NoReply { timed_out, message } = no_reply;
            let failure = if timed_out { Failure::TimedOut } else { Failure::Other };
            HandlerError::new(failure, message)
        })?;
        if reply.body.len() > most {
            let message = format!(
                "{host} answered with more than {most} bytes; answer less, or raise the hook's \
                 `max_output`"
            );
            return Err(HandlerError::new(Failure::OutputLimit, message));
        }
        if !room.take(reply.body.len()) {
            return Err(HandlerError::new(Failure::OutputLimit, NO_ROOM));
        }
        Ok(reply)
    }
}

/// Runs work that blocks on a thread of its own. If the call is given up, the work goes on until the
/// deadline that it is given, and keeps the seat of the hook.
pub(super) async fn on_thread<T: Send + 'static>(
    call: &Call<'_>,
    work: impl FnOnce(Instant, &Room) -> Result<T, HandlerError> + Send + 'static,
) -> Result<T, HandlerError> {
    let (seat, room, deadline) = (call.seat_for_thread().await?, call.room(), call.deadline);
    let work = tokio::task::spawn_blocking(move || {
        let _seat = seat;
        work(deadline, &room)
    });
    work.await.unwrap_or_else(|error| Err(joined(error)))
}

/// Whose words a hook reads, and which tools it is for: the tool of a call may have several names
/// there.
pub(super) type Words = Option<(Dialect, Matcher)>;

/// Asks once for each payload of a call, until one fails.
pub(super) async fn each_payload<F: Future<Output = Result<Exited, HandlerError>>>(
    call: &Call<'_>,
    words: &Words,
    ask: impl Fn(Arc<[u8]>) -> F,
) -> Result<HandlerResult, HandlerError> {
    let Some((dialect, matcher)) = words else {
        return Ok(ask(call.json()).await?.into());
    };
    let payloads = dialect
        .payloads(matcher, call.input)
        .map_err(|message| HandlerError::new(Failure::Protocol, message))?;
    let mut answers = Vec::new();
    for payload in payloads {
        // Strings, numbers and JSON values: nothing in it can fail to serialise.
        let body = serde_json::to_vec(&payload).unwrap_or_default();
        let answer = ask(body.into()).await;
        let is_last = answer.is_err();
        answers.push(answer);
        if is_last {
            break;
        }
    }
    Ok(HandlerResult::each(answers, Vec::new()))
}

/// Returns an answer to be read like the stdout of a program that exited with 0. A text is one only
/// where the event takes text.
pub(super) fn like_stdout(
    call: &Call<'_>,
    from: &str,
    stdout: Vec<u8>,
) -> Result<Exited, HandlerError> {
    let begins = stdout.trim_ascii_start().first();
    let takes_text = call.event.contract().context == ContextMode::Text;
    if begins.is_some_and(|first| *first != b'{') && !takes_text {
        let message = format!("{from} answered with text that is no JSON object");
        return Err(HandlerError::new(Failure::Protocol, message));
    }
    Ok(Exited { code: 0, stdout, stderr: Vec::new() })
}
