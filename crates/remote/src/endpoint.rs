//! A server that hooks post to: where they may post, and what counts as a reply.

use std::time::Instant;

use crate::client::{Ask, Client, Reply};
use crate::request::wrong;
use hookexec::config::Hook;
use hookexec::{BuildError, Failure, HandlerEnv, HandlerError};

/// A server, the headers of each request to it, and the limit of its replies.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) client: Client,
    /// A variable of the environment that a header needs and that is not set.
    pub(super) missing: Option<String>,
    most: usize,
}

impl Endpoint {
    /// Returns the server at `url`, if the limits of the hook's layer allow it.
    ///
    /// # Errors
    /// With what is wrong with `with`, to which `example` is the hint.
    pub(super) fn new(
        hook: &Hook,
        env: &HandlerEnv,
        (url, allow_private): (&str, bool),
        headers: impl IntoIterator<Item = (String, String)>,
        example: &str,
    ) -> Result<Self, BuildError> {
        if !allow_private && !url.starts_with("https://") {
            let problem = "the `url` must begin with `https://`, unless `allow_private` is true";
            return Err(wrong(problem, example));
        }
        let client = Client::new(url, allow_private);
        let mut client = client.map_err(|problem| wrong(problem, example))?;
        if !hook.may_post_to(client.host()) {
            let problem = format!("`http_hosts` does not list `{}`", client.host());
            return Err(BuildError::new(problem).at("with").hint(
                "the hooks files of this layer, of the user or of the administrator say in \
                 `defaults` which hosts may be posted to",
            ));
        }
        let mut missing = None;
        for (name, text) in headers {
            match env.expand(&text) {
                Ok(value) if client.header(&name, &value) => {}
                Ok(_) => {
                    return Err(wrong(&format!("`{name}: {text}` is not a header"), example));
                }
                Err(variable) => missing = Some(variable.0),
            }
        }
        if !client.has_header("content-type") {
            client.header("Content-Type", "application/json");
        }
        Ok(Self { client, missing, most: hook.max_output })
    }

    /// Asks the server, with headers of this request, and returns a whole reply, whatever its
    /// status. Blocks until `deadline`.
    pub(super) fn ask(
        &self,
        ask: Ask<'_>,
        headers: &[(&str, &str)],
        deadline: Instant,
    ) -> Result<Reply, HandlerError> {
        if let Some(variable) = &self.missing {
            let message = format!("one of its headers needs `{variable}`, which is not set");
            return Err(HandlerError::new(Failure::Start, message));
        }
        let (most, host) = (self.most, self.client.host());
        let patience = deadline.saturating_duration_since(Instant::now());
        let reply = self.client.ask(ask, headers, most, patience)?;
        if reply.is_cut {
            let message = format!(
                "{host} answered with more than {most} bytes; answer less, or raise the hook's \
                 `max_output`"
            );
            return Err(HandlerError::new(Failure::OutputLimit, message));
        }
        Ok(reply)
    }
}
