//! A hook whose prompt a model answers, as Claude Code writes it.

use hookexec::config::Diagnostic;
use hookexec::internal::reading::{Fields, Node, Reader};

use super::json::{required, string};
use super::yaml;

/// The time that Claude Code gives such a hook, in seconds.
pub(super) const TIMEOUT: &str = "30";
/// The model where the settings name none that the interface of Anthropic knows.
const MODEL: &str = "claude-haiku-4-5";
/// What the prompt was written for, in words of the answer that is asked for here.
const MEANING: &str = "The question below was written for the answers `ok: true` and `ok: false`. Answer \
                       `none` for `ok: true`, for a yes, an approval or no objection, and `deny` for \
                       `ok: false`, a no or a block.";

/// Returns the parameters of a model hook, as the value of `with`.
pub(super) fn parameters(
    reader: &mut Reader,
    node: &Node<'_>,
    hook: &Fields<'_>,
) -> Option<String> {
    let prompt = required(reader, node, hook, "prompt", "a prompt hook")?;
    let prompt = prompt.replace("$ARGUMENTS", "(the input, which is the user message)");
    let model = match hook.get("model") {
        Some(model) => Some(string(reader, model, "`model`")?),
        None => None,
    };
    // The settings may name a model as `haiku`, which only Claude Code knows.
    let model = model.filter(|model| model.starts_with("claude-"));
    if model.is_none() {
        let message = format!("Claude Code chooses the model; `{MODEL}` is written in its place");
        let hint = "change `model` in the `with` of the hook";
        reader.report(node, Diagnostic::warning(message).hint(hint));
    }
    let message = "the hook asks the model with the key in `ANTHROPIC_API_KEY`, which must be set \
                   where the agent runs";
    let hint =
        "each answer is billed to that key; to limit it, add a `budget` to the `with` of the hook";
    reader.report(node, Diagnostic::warning(message).hint(hint));
    let model = yaml::inline(model.as_deref().unwrap_or(MODEL));
    let prompt = yaml::inline(&format!("{MEANING}\n\n{prompt}"));
    Some(format!(
        "{{ api: anthropic-messages, url: 'https://api.anthropic.com/v1/messages', model: {model}, \
         api_key: '${{env.ANTHROPIC_API_KEY}}', decisions: [deny, none], prompt: {prompt} }}"
    ))
}
