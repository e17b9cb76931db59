//! Hooks of Claude Code that ask a server or a model, as the value of `with`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hookexec::config::Diagnostic;
use hookexec::internal::reading::{Node, Reader};
use regex::{Captures, Regex};
use serde_json::{Value, json};

use super::hook::HookKeys;
use super::tree::required;

/// The time that Claude Code gives a hook that asks a model, in seconds.
pub(super) const MODEL_TIMEOUT: u64 = 30;
/// The model where the settings name none that the interface of Anthropic knows.
const MODEL: &str = "claude-haiku-4-5";
/// What the prompt was written for, in words of the answer that is asked for here.
const MEANING: &str = "The question below was written for the answers `ok: true` and `ok: false`. Answer \
                       `none` for `ok: true`, for a yes, an approval or no objection, and `deny` for \
                       `ok: false`, a no or a block.";

/// Returns where an http hook posts to.
pub(super) fn http(reader: &mut Reader, node: &Node<'_>, hook: &HookKeys<'_>) -> Option<Value> {
    let url = required(reader, node, hook.url.as_ref(), "an http hook needs a `url`")?;
    let mut headers = hook.headers.clone().unwrap_or_default();
    for text in headers.values_mut() {
        if text.contains("${env.") {
            return reader.refuse(node, "`${env.` in a header would name a variable here");
        }
        *text = with_references(text, hook.allowed.as_deref().unwrap_or_default());
    }
    Some(address(&url.0, &headers))
}

/// Returns the parameters of a hook that posts to `url`.
pub(super) fn address(url: &str, headers: &BTreeMap<String, String>) -> Value {
    let mut with = json!({ "url": url });
    if !headers.is_empty() {
        with["headers"] = json!(headers);
    }
    if is_local(url) {
        with["allow_private"] = true.into();
    }
    with
}

/// Says `$NAME` and `${NAME}` in our words. Claude Code leaves out a variable that is not in its
/// list.
fn with_references(text: &str, allowed: &[String]) -> String {
    let said = |found: &Captures<'_>| {
        let name = found.get(1).or(found.get(2)).map_or("", |name| name.as_str());
        let is_allowed = allowed.iter().any(|known| known == name);
        if is_allowed { format!("${{env.{name}}}") } else { String::new() }
    };
    REFERENCE.replace_all(text, said).into_owned()
}

/// A variable in a header.
#[expect(clippy::unwrap_used, reason = "a test reads it")]
static REFERENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$(?:\{([A-Za-z0-9_]+)\}|([A-Za-z0-9_]+))").unwrap());

/// Returns whether `url` names this machine, or has no encryption: only such servers are meant by
/// settings that allow them.
fn is_local(url: &str) -> bool {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let ends_there = |rest: &str| rest.is_empty() || rest.starts_with([':', '/']);
    let mut local = ["localhost", "127.0.0.1", "[::1]"].iter();
    url.starts_with("http://")
        || local.any(|name| authority.strip_prefix(name).is_some_and(ends_there))
}

/// Returns how a model hook asks a model.
pub(super) fn model(reader: &mut Reader, node: &Node<'_>, hook: &HookKeys<'_>) -> Option<Value> {
    let prompt = required(reader, node, hook.prompt.as_ref(), "a prompt hook needs a `prompt`")?;
    let prompt = prompt.0.replace("$ARGUMENTS", "(the input, which is the user message)");
    // The settings may name a model as `haiku`, which only Claude Code knows.
    let model = match &hook.model {
        Some(model) if model.0.starts_with("claude-") => &model.0,
        _ => {
            let message =
                format!("Claude Code chooses the model; `{MODEL}` is written in its place");
            let hint = "change `model` in the `with` of the hook";
            reader.report(node, Diagnostic::warning(message).hint(hint));
            MODEL
        }
    };
    let message = "the hook asks the model with the key in `ANTHROPIC_API_KEY`, which must be set \
                   where the agent runs";
    let hint =
        "each answer is billed to that key; to limit it, add a `budget` to the `with` of the hook";
    reader.report(node, Diagnostic::warning(message).hint(hint));
    Some(json!({
        "api": "anthropic-messages",
        "url": "https://api.anthropic.com/v1/messages",
        "model": model,
        "api_key": "${env.ANTHROPIC_API_KEY}",
        "decisions": ["deny", "none"],
        "prompt": format!("{MEANING}\n\n{prompt}"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_those_that_the_settings_allow() {
        let allowed = ["TOKEN".to_owned()];
        for (text, expected) in [
            ("Bearer $TOKEN", "Bearer ${env.TOKEN}"),
            ("Bearer ${TOKEN}!", "Bearer ${env.TOKEN}!"),
            ("$OTHER-${OTHER}", "-"),
            ("costs 5$ or $ 5", "costs 5$ or $ 5"),
            ("${TOKEN", "${TOKEN"),
            ("plain", "plain"),
        ] {
            assert_eq!(with_references(text, &allowed), expected, "{text}");
        }
    }

    #[test]
    fn only_servers_of_this_machine_are_private_by_name() {
        for (url, local) in [
            ("http://example.com/x", true),
            ("https://localhost:8443/x", true),
            ("https://127.0.0.1/x", true),
            ("https://localhost.example.com/x", false),
            ("https://example.com/localhost", false),
        ] {
            assert_eq!(is_local(url), local, "{url}");
        }
    }
}
