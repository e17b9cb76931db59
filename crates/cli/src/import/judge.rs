//! Hooks of docker-agent in which a model decides, as model hooks.

use hookexec::internal::reading::{Fields, Node, Reader, Value};
use hookexec::internal::template::{Part, parts};

/// Returns `node` with each hook of docker-agent's type `model` in it as one of ours. One that has no
/// counterpart is reported and left out.
pub(super) fn translated<'n>(
    reader: &mut Reader,
    node: &Node<'n>,
    models: Option<&Fields<'_>>,
) -> Node<'n> {
    let mut inside = |node: &Node<'n>| {
        if !is_judge(node) {
            return Some(translated(reader, node, models));
        }
        judge(node, models).map_err(|(place, problem)| reader.error(&place, problem)).ok()
    };
    let value = match &node.value {
        Value::List(items) => Value::List(items.iter().filter_map(inside).collect()),
        Value::Map(entries) => {
            let empty = |node: &Node<'n>| Node { value: Value::List(Vec::new()), ..node.clone() };
            let entries = entries.iter();
            let entries =
                entries.map(|(key, it)| (key.clone(), inside(it).unwrap_or_else(|| empty(it))));
            Value::Map(entries.collect())
        }
        other => other.clone(),
    };
    Node { value, span: node.span.clone() }
}

/// Returns the value of a key in a mapping.
fn get<'m, 'n>(node: &'m Node<'n>, name: &str) -> Option<&'m Node<'n>> {
    let (_, value) = node.as_map()?.iter().find(|(key, _)| key.as_text() == Some(name))?;
    Some(value)
}

/// Returns whether it is a hook in docker-agent's words. One of ours has its model in `with`.
fn is_judge(node: &Node<'_>) -> bool {
    let kind = get(node, "type").and_then(Node::as_text);
    kind == Some("model") && get(node, "model").is_some()
}

/// Returns a hook with its parameters in `with`; else what can't be imported, and where it stands.
fn judge<'n>(hook: &Node<'n>, models: Option<&Fields<'_>>) -> Result<Node<'n>, (Node<'n>, String)> {
    let text = |key: &str| {
        let problem = || (hook.clone(), format!("a model hook needs a `{key}`, as text"));
        let node = get(hook, key).ok_or_else(problem)?;
        Ok((node, node.as_text().ok_or_else(problem)?))
    };
    let (place, name) = text("model")?;
    let model = model(name, models).map_err(|problem| (place.clone(), problem))?;
    let (place, prompt) = text("prompt")?;
    let prompt = without_actions(prompt).map_err(|problem| (place.clone(), problem))?;
    if get(hook, "schema").and_then(Node::as_text) != Some("pre_tool_use_decision") {
        let problem = "only a model hook with `schema: pre_tool_use_decision` can be imported: \
                       others give context, and a model hook here decides";
        return Err((get(hook, "schema").unwrap_or(hook).clone(), problem.to_owned()));
    }
    let node = |value: Value<'n>| Node { value, span: hook.span.clone() };
    let said = |text: &str| node(Value::Text(text.to_owned().into()));
    let decisions = node(Value::List(["allow", "ask", "deny"].map(said).to_vec()));
    let with = model.into_iter().map(|(key, value)| (key, said(&value)));
    let with = with.chain([("decisions", decisions), ("prompt", said(&prompt))]);
    let with = with.map(|(key, value)| (said(key), value)).collect();
    let entries = hook.as_map().unwrap_or_default().iter();
    let ours = |key: &Node<'_>| {
        !["model", "prompt", "schema"].contains(&key.as_text().unwrap_or_default())
    };
    let mut entries: Vec<_> = entries.filter(|(key, _)| ours(key)).cloned().collect();
    entries.push((said("with"), node(Value::Map(with))));
    Ok(node(Value::Map(entries)))
}

/// Returns how the model is reached that a file calls `name`, an entry of its `models`, else
/// `provider/model`: the parameters of a model hook.
fn model(name: &str, models: Option<&Fields<'_>>) -> Result<[(&'static str, String); 4], String> {
    let entry = models.and_then(|models| models.get(name));
    let text = |key: &str| entry.and_then(|it| get(it, key)).and_then(Node::as_text);
    let (provider, model) = match entry {
        Some(_) => text("provider").zip(text("model")),
        None => name.split_once('/'),
    }
    .ok_or_else(|| format!("the file has no model `{name}`, with `provider` and `model`"))?;
    let (api, base, path, key) = match provider {
        "anthropic" => {
            ("anthropic-messages", "https://api.anthropic.com", "v1/messages", "ANTHROPIC_API_KEY")
        }
        "openai" => {
            ("openai-chat", "https://api.openai.com/v1", "chat/completions", "OPENAI_API_KEY")
        }
        _ => return Err(format!("hookexec reaches no model of the provider `{provider}`")),
    };
    let base = text("base_url").unwrap_or(base).trim_end_matches('/');
    let key = text("token_key").unwrap_or(key);
    Ok([
        ("api", api.to_owned()),
        ("url", format!("{base}/{path}")),
        ("model", model.to_owned()),
        ("api_key", format!("${{env.{key}}}")),
    ])
}

/// Returns a Go template in which each action that shows a part of the input names that part: the
/// model gets the whole input as the user message.
fn without_actions(template: &str) -> Result<String, String> {
    let mut said = String::new();
    for part in parts(template, "{{", "}}") {
        match part {
            Part::Text(text) => said += text,
            Part::Field(action) => {
                said += &shown(action).ok_or_else(|| {
                    format!("its template has the action `{{{{{action}}}}}`; only those that show a field are imported")
                })?;
            }
            Part::Open(_) => return Err("its template has no end of `{{`".to_owned()),
        }
    }
    Ok(said)
}

/// Returns how an action such as `.ToolInput.Cmd | toJSON` is said.
fn shown(action: &str) -> Option<String> {
    let words = action.trim_matches(['-', ' ']).split(['|', ' ', '(', ')']);
    let shapes = |word: &&str| {
        !word.is_empty() && !["toJSON", "truncate"].contains(word) && word.parse::<u64>().is_err()
    };
    let mut fields = words.filter(shapes);
    let field = fields.next()?.strip_prefix('.').filter(|_| fields.next().is_none())?;
    if field.is_empty() {
        return Some("(the input, which is the user message)".to_owned());
    }
    let part = |letter: char| letter.is_ascii_alphanumeric() || "._".contains(letter);
    field.chars().all(part).then(|| format!("(`{}` of the input)", snake_case(field)))
}

/// Returns a field as JSON names it: `ToolInput` is `tool_input`.
fn snake_case(field: &str) -> String {
    let mut name = String::new();
    for letter in field.chars() {
        if letter.is_ascii_uppercase() && name.ends_with(|last: char| last.is_ascii_lowercase()) {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_that_show_a_field_name_it() {
        for (template, expected) in [
            ("Is it safe?", "Is it safe?"),
            ("{{ . }}", "(the input, which is the user message)"),
            ("{{toJSON .ToolInput}}!", "(`tool_input` of the input)!"),
            ("{{- .ToolName | truncate 20 -}}", "(`tool_name` of the input)"),
            ("{{ truncate 100 (toJSON .) }}", "(the input, which is the user message)"),
            ("{{ if .Cwd }}a{{ end }}", ""),
            ("{{ .A .B }}", ""),
            ("{{ 5 }}", ""),
            ("{{ open", ""),
        ] {
            assert_eq!(without_actions(template).unwrap_or_default(), expected, "{template}");
        }
    }
}
