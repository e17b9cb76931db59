//! `type: http`: the event is posted to a server, which answers as a command hook does.
//!
//! The body is what a command hook reads on stdin. A reply with a status of 2xx is read like the
//! stdout of a program that exited with 0; anything else is a failure, and a denial in it counts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;

use super::command::expand::required_env_references;
use crate::config::Hook;
use crate::dialect::Dialect;
use crate::event::ContextMode;
use crate::handler::{
    BoxFuture, BuildError, Call, Exited, Failure, Handler, HandlerError, HandlerResult, NO_ROOM,
};
use crate::http::{Client, NoReply};
use crate::matcher::Matcher;

/// Keys of a hook that mean something to a program, and nothing to a server.
const OF_PROGRAMS: [&str; 7] =
    ["command", "args", "env", "inherit_env", "working_dir", "shell", "scripts"];

/// The keys of `with`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    allow_private: bool,
}

/// Builds the handler of an http hook.
pub(crate) fn build(
    env: &BTreeMap<OsString, OsString>,
    hook: &Hook,
) -> Result<Arc<dyn Handler>, BuildError> {
    if let Some(key) = OF_PROGRAMS.iter().find(|key| hook.key_locations.contains_key(*key)) {
        let hint = "an http hook takes `with: { url: https://... }`";
        return Err(BuildError::new(format!("`{key}` has no meaning for an http hook"))
            .at(key)
            .hint(hint));
    }
    let wrong = |problem: String| {
        let hint = "such as `with: { url: https://policy.example.com/check, headers: { \
                    Authorization: \"Bearer ${env.TOKEN}\" } }`";
        BuildError::new(problem).at("with").hint(hint)
    };
    let with = hook.with.clone().unwrap_or_default();
    let Parameters { url, headers, allow_private } =
        serde_json::from_value(with).map_err(|error| wrong(format!("`with`: {error}")))?;
    if !allow_private && !url.starts_with("https://") {
        let problem = "the `url` must begin with `https://`, unless `allow_private` is true";
        return Err(wrong(problem.to_owned()));
    }
    let mut client = Client::new(&url, allow_private).map_err(wrong)?;
    if let Some(allowed) = &hook.limits.http_hosts
        && !allowed.contains(client.host())
    {
        let problem = format!("`http_hosts` does not list `{}`", client.host());
        return Err(BuildError::new(problem).at("with").hint(
            "the hooks files of this layer, of the user or of the administrator say in `defaults` \
             which hosts may be posted to",
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
    Ok(Arc::new(HttpHandler {
        client: Arc::new(client),
        missing,
        max_output: hook.max_output,
        dialect: hook.dialect.map(|dialect| (dialect, hook.matcher.clone())),
    }))
}

#[derive(Debug)]
struct HttpHandler {
    client: Arc<Client>,
    /// A variable of the environment that a header needs and that is not set.
    missing: Option<String>,
    max_output: usize,
    /// Whose words the server reads, and which tools the hook is for.
    dialect: Option<(Dialect, Matcher)>,
}

impl Handler for HttpHandler {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async move {
            let Some((dialect, matcher)) = &self.dialect else {
                return Ok(self.post(call, call.json()).await?.into());
            };
            let payloads = dialect
                .payloads(matcher, call.input)
                .map_err(|message| HandlerError::new(Failure::Protocol, message))?;
            let mut answers = Vec::new();
            for payload in payloads {
                // Strings, numbers and JSON values: nothing in it can fail to serialise.
                let body = serde_json::to_vec(&payload).unwrap_or_default();
                let answer = self.post(call, body.into()).await;
                let is_last = answer.is_err();
                answers.push(answer);
                if is_last {
                    break;
                }
            }
            Ok(HandlerResult::each(answers, Vec::new()))
        })
    }
}

impl HttpHandler {
    /// Posts on another thread. If the call is given up, the thread ends at the deadline.
    async fn post(&self, call: &Call<'_>, body: Arc<[u8]>) -> Result<Exited, HandlerError> {
        if let Some(variable) = &self.missing {
            let message = format!("one of its headers needs `{variable}`, which is not set");
            return Err(HandlerError::new(Failure::Start, message));
        }
        let (client, most) = (Arc::clone(&self.client), self.max_output);
        let seat = call.seat_for_thread().await?;
        let patience = call.deadline.saturating_duration_since(Instant::now());
        let posted = tokio::task::spawn_blocking(move || {
            let _seat = seat;
            client.post(&body, most, patience)
        });
        let posted = posted.await;
        let reply = match posted {
            Ok(Ok(reply)) => reply,
            Ok(Err(NoReply { timed_out, message })) => {
                let failure = if timed_out { Failure::TimedOut } else { Failure::Other };
                return Err(HandlerError::new(failure, message));
            }
            Err(error) => return Err(super::builtin::joined(error)),
        };
        if reply.body.len() > most {
            let message = format!(
                "{} answered with more than {most} bytes; answer less, or raise the hook's \
                 `max_output`",
                self.client.host()
            );
            return Err(HandlerError::new(Failure::OutputLimit, message));
        }
        if !call.room().take(reply.body.len()) {
            return Err(HandlerError::new(Failure::OutputLimit, NO_ROOM));
        }
        if !reply.status.is_success() {
            let message = format!("{} answered {}", self.client.host(), reply.status);
            return Err(HandlerError::new(Failure::Other, message).with_stdout(reply.body));
        }
        let begins = reply.body.trim_ascii_start().first();
        let takes_text = call.event.contract().context == ContextMode::Text;
        if begins.is_some_and(|first| *first != b'{') && !takes_text {
            let message =
                format!("{} answered with text that is no JSON object", self.client.host());
            return Err(HandlerError::new(Failure::Protocol, message));
        }
        Ok(Exited { code: 0, stdout: reply.body, stderr: Vec::new() })
    }
}
