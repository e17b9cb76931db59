//! `type: http`: the event is posted to a server, which answers as a command hook does.
//!
//! The body is what a command hook reads on stdin. A reply with a status of 2xx is read like the
//! stdout of a program that exited with 0; anything else is a failure, and a denial in it counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::command::expand::Variables;
use super::endpoint::{Endpoint, on_thread};
use super::refuse_keys_of_programs;
use super::request::{Words, each_payload, like_stdout, parameters};
use crate::config::Hook;
use crate::handler::{
    BoxFuture, BuildError, Call, Exited, Failure, Handler, HandlerError, HandlerResult,
};

const EXAMPLE: &str = "such as `with: { url: https://policy.example.com/check, headers: { \
                       Authorization: \"Bearer ${env.TOKEN}\" } }`";

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
pub(crate) fn build(env: &Variables, hook: &Hook) -> Result<Arc<dyn Handler>, BuildError> {
    refuse_keys_of_programs(hook, "an http hook takes `with: { url: https://... }`")?;
    let Parameters { url, headers, allow_private } = parameters(hook, EXAMPLE)?;
    let endpoint = Endpoint::new(hook, env, (&url, allow_private), headers, EXAMPLE)?;
    let words = hook.dialect.map(|dialect| (dialect, hook.matcher.clone()));
    Ok(Arc::new(HttpHandler { endpoint: Arc::new(endpoint), words }))
}

#[derive(Debug)]
struct HttpHandler {
    endpoint: Arc<Endpoint>,
    words: Words,
}

impl Handler for HttpHandler {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(each_payload(call, &self.words, |body| self.post(call, body)))
    }
}

impl HttpHandler {
    async fn post(&self, call: &Call<'_>, body: Arc<[u8]>) -> Result<Exited, HandlerError> {
        let endpoint = Arc::clone(&self.endpoint);
        let post = move |deadline, room: &_| endpoint.post(&body, &[], (deadline, room));
        let (reply, host) = (on_thread(call, post).await?, self.endpoint.host());
        if !reply.status.is_success() {
            let message = format!("{host} answered {}", reply.status);
            return Err(HandlerError::new(Failure::Other, message).with_stdout(reply.body));
        }
        like_stdout(call, host, reply.body)
    }
}
