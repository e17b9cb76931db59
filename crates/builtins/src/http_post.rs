//! `http_post`: tells a web service what happens.

use std::sync::Arc;
use std::time::Duration;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::secrets::Redactor;
use super::{Surroundings, Work};
use hookexec::Input;
use hookexec::registry::BuiltinError;
use hookexec_files::template::{self, MissingValue};
use hookexec_remote::{Ask, Client};

pub(super) fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    let post = Post::parse(surroundings, args)?;
    Ok(Arc::new(move |input| {
        post.send(input)?;
        Ok(None)
    }))
}

/// A post, ready to be sent.
struct Post {
    client: Client,
    body: Option<String>,
    redactor: Redactor,
}

impl Post {
    fn parse(surroundings: &Surroundings, args: &[String]) -> Result<Self, BuiltinError> {
        let (mut headers, mut texts, mut private) = (Vec::new(), Vec::new(), false);
        for arg in args {
            if let Some(field) = arg.strip_prefix("--header=") {
                headers.push(field);
            } else if arg == "--allow-private" {
                private = true;
            } else if arg.starts_with("--") {
                return Err(format!(
                    "unknown option `{arg}`; it knows `--header=`, `--allow-private`"
                )
                .into());
            } else {
                texts.push(arg.clone());
            }
        }
        let mut texts = texts.into_iter();
        let url = texts.next().ok_or("it needs the address to post to, `URL`")?;
        let body = texts.next();
        if let Some(third) = texts.next() {
            return Err(format!("it takes an address and a text, found a third: `{third}`").into());
        }
        if let Some(body) = &body {
            check_body(body, &headers)?;
        }
        let mut client = Client::new(&url, private)?;
        for field in headers {
            add_header(&mut client, surroundings, field)?;
        }
        if !client.has_header("content-type") {
            let json = match &body {
                Some(body) => serde_json::from_str::<IgnoredAny>(body).is_ok(),
                None => true,
            };
            let kind = if json { "application/json" } else { "text/plain; charset=utf-8" };
            client.header("Content-Type", kind);
        }
        Ok(Self { client, body, redactor: Redactor::new(surroundings.env()) })
    }

    fn send(&self, input: &Input) -> Result<(), BuiltinError> {
        let mut event = serde_json::to_value(input)?;
        self.redactor.redact_value(&mut event);
        let body = match &self.body {
            None => event.to_string(),
            Some(text) => self.filled(text, &event)?,
        };
        // The answer does not count, so that little of it is read.
        let patience = Duration::from_secs(10);
        let reply = self.client.ask(Ask::Post(body.as_bytes()), &[], 64 << 10, patience);
        let reply = reply.map_err(|failure| failure.message)?;
        if reply.status.is_success() {
            Ok(())
        } else {
            let host = self.client.host();
            Err(format!("the request to {host} failed: it answered {}", reply.status).into())
        }
    }

    /// Returns the text with values of the event in it. In JSON they stay single values, whatever quotes
    /// they have.
    fn filled(&self, text: &str, event: &Value) -> Result<String, MissingValue> {
        if !text.contains("${") {
            return Ok(text.to_owned());
        }
        let is_json = serde_json::from_str(text);
        let mut body = is_json.unwrap_or_else(|_| Value::from(text));
        let is_text = body.is_string();
        template::fill(&mut body, event)?;
        // Two values side by side may be a secret.
        self.redactor.redact_value(&mut body);
        match body {
            Value::String(body) if is_text => Ok(body),
            body => Ok(body.to_string()),
        }
    }
}

/// Refuses a body in which a value could write more than itself: what is meant as JSON and is not, and a
/// form with fields.
fn check_body(body: &str, headers: &[&str]) -> Result<(), String> {
    if body.trim_start().starts_with(['{', '['])
        && let Err(error) = serde_json::from_str::<IgnoredAny>(body)
    {
        return Err(format!(
            "the text is not valid JSON: {error}; put quotes around a field, too: `\"${{NAME}}\"`"
        ));
    }
    let is_form = headers.iter().any(|field| field.contains("x-www-form-urlencoded"));
    if is_form && body.contains("${") {
        return Err("a form takes no fields of the event: post JSON".to_owned());
    }
    Ok(())
}

fn add_header(
    client: &mut Client,
    surroundings: &Surroundings,
    field: &str,
) -> Result<(), BuiltinError> {
    let wrong = format!("`--header={field}` must be `--header=NAME:VALUE`");
    let Some((name, value)) = field.split_once(':') else { return Err(wrong.into()) };
    let value = value.trim();
    let (before, last) = value.rsplit_once(' ').unwrap_or(("", value));
    let value = match last.strip_prefix('$') {
        None => value.to_owned(),
        Some(variable) => {
            let variable = variable.trim_start_matches('{').trim_end_matches('}');
            let secret = surroundings.var(variable).and_then(|value| value.to_str());
            let secret =
                secret.ok_or_else(|| format!("`--header={field}`: `{variable}` is not set"))?;
            format!("{before} {secret}").trim().to_owned()
        }
    };
    // Checked here, where it is shown with file and line.
    if client.header(name, &value) { Ok(()) } else { Err(wrong.into()) }
}
