//! `type: http`: the event is posted to a server, which answers as a command hook does.
//!
//! The body is what a command hook reads on stdin. A reply with a status of 2xx is read like the
//! stdout of a program that exited with 0; anything else is a failure, and a denial in it counts.
//! At `approval` a 202 says where the answer of a person will be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use hookexec::config::Hook;
use hookexec::registry::Words;
use hookexec::{
    BoxFuture, BuildError, Call, Event, Exited, Failure, Handler, HandlerEnv, HandlerError,
    HandlerResult,
};
use hookexec_files::files::random_id;
use jiff::Timestamp;
use serde::Deserialize;
use sha2::Sha256;

use crate::client::{Ask, Reply};
use crate::endpoint::Endpoint;
use crate::request::{excerpt, like_stdout, parameters, wrong};

const EXAMPLE: &str = "such as `with: { url: https://policy.example.com/check, headers: { \
                       Authorization: \"Bearer ${env.TOKEN}\" } }`";

const EXAMPLE_OF_SECRET: &str = "such as `secret: ${env.APPROVAL_SECRET}`; `echo whsec_$(openssl rand -base64 \
                      32)` makes one";

/// The keys of `with`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    allow_private: bool,
    /// Signs each request.
    secret: Option<String>,
}

/// Builds the handler of an http hook.
pub(crate) fn build(env: &HandlerEnv, hook: &Hook) -> Result<Arc<dyn Handler>, BuildError> {
    let Parameters { url, headers, allow_private, secret } = parameters(hook, EXAMPLE)?;
    let mut endpoint = Endpoint::new(hook, env, (&url, allow_private), headers, EXAMPLE)?;
    let mut key = None;
    if let Some(secret) = secret {
        match env.expand(&secret) {
            Ok(text) => {
                key = Secret::read(&text);
                if key.is_none() {
                    let problem = "`secret` must be `whsec_` and the base64 of 24 to 64 bytes";
                    return Err(wrong(problem, EXAMPLE_OF_SECRET));
                }
            }
            Err(variable) => endpoint.missing = Some(variable.0),
        }
    }
    let (endpoint, key) = (Arc::new(endpoint), key.map(Arc::new));
    Ok(Arc::new(HttpHandler { endpoint, key, words: env.words(hook) }))
}

struct HttpHandler {
    endpoint: Arc<Endpoint>,
    key: Option<Arc<Secret>>,
    words: Words,
}

impl Handler for HttpHandler {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(self.words.each_payload(call, |body| self.post(call, body)))
    }
}

impl HttpHandler {
    /// Posts a body, or asks for the answer of a person at the address `next`.
    async fn send(
        &self,
        call: &Call<'_>,
        body: Arc<[u8]>,
        next: Option<String>,
    ) -> Result<Reply, HandlerError> {
        let (endpoint, key) = (Arc::clone(&self.endpoint), self.key.clone());
        let id = call.input.approval.as_ref().map(|asked| asked.id.clone());
        call.blocking(move |call| {
            let ask = match &next {
                Some(url) => Ask::Get(url),
                None => Ask::Post(&body),
            };
            let mut signed = Vec::new();
            if let Some(key) = key {
                let id = match id {
                    Some(id) => id,
                    None => random_id()
                        .map_err(|error| HandlerError::new(Failure::Start, error.to_string()))?,
                };
                signed = key.headers(&id, &body);
            }
            let mut headers = Vec::new();
            for (name, value) in &signed {
                headers.push((*name, value.as_str()));
            }
            endpoint.ask(ask, &headers, call.deadline)
        })
        .await?
    }

    async fn post(&self, call: &Call<'_>, body: Arc<[u8]>) -> Result<Exited, HandlerError> {
        let client = &self.endpoint.client;
        let mut next = None;
        let address = client.address();
        let mut reply = self.send(call, body, None).await?;
        while call.event == Event::Approval && reply.status.as_u16() == 202 {
            // The address stays until the server names another one.
            if let Some(location) = reply.header("location") {
                next = client.on_same_server(location);
            }
            if next.is_none() {
                let message = format!(
                    "{address} answered 202 without a `Location` of its own where the answer will be"
                );
                return Err(HandlerError::new(Failure::Protocol, message));
            }
            let seconds = reply.header("retry-after").unwrap_or_default().trim().parse();
            // A server that asks for more would be asked too late once the person has answered.
            let seconds = seconds.unwrap_or(2).clamp(1, 30);
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            reply = self.send(call, Arc::default(), next.clone()).await?;
        }
        if !reply.status.is_success() {
            let body = String::from_utf8_lossy(&reply.body);
            let mut message = format!("{address} answered {}", reply.status);
            if let Some(line) = body.lines().map(str::trim).find(|line| !line.is_empty()) {
                message = format!("{message}: {}", excerpt(line));
            }
            return Err(HandlerError::new(Failure::Other, message).with_stdout(reply.body));
        }
        like_stdout(call, &address, reply.body)
    }
}

/// The secret that the server has, too.
pub(super) struct Secret(Vec<u8>);

impl Secret {
    /// Reads `whsec_` and the base64 of 24 to 64 bytes.
    pub(super) fn read(text: &str) -> Option<Self> {
        let key = STANDARD.decode(text.strip_prefix("whsec_")?).ok()?;
        if (24..=64).contains(&key.len()) { Some(Self(key)) } else { None }
    }

    /// Returns the headers of the message `id` with this body.
    pub(super) fn headers(&self, id: &str, body: &[u8]) -> Vec<(&'static str, String)> {
        self.headers_at(Timestamp::now().as_second(), id, body)
    }

    fn headers_at(&self, second: i64, id: &str, body: &[u8]) -> Vec<(&'static str, String)> {
        // A key of any length will do for HMAC.
        let signature = Hmac::<Sha256>::new_from_slice(&self.0).map(|mac| {
            let mac = mac.chain_update(format!("{id}.{second}.")).chain_update(body);
            STANDARD.encode(mac.finalize().into_bytes())
        });
        vec![
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", second.to_string()),
            ("webhook-signature", format!("v1,{}", signature.unwrap_or_default())),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_the_reference_libraries() {
        // The example of the libraries of Standard Webhooks.
        let secret = Secret::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = br#"{"test": 2432232314}"#;
        let headers = secret.headers_at(1_614_265_330, "msg_p5jXN8AQM9LWM0D4loKWxJek", body);
        assert_eq!(headers[2].1, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn what_is_no_secret_is_refused() {
        for text in ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ=", "whsec_!"]
        {
            assert!(Secret::read(text).is_none(), "{text}");
        }
    }
}
