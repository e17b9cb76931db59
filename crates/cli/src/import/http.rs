//! A hook that posts to a server, as Claude Code writes it.

use hookexec::config::Diagnostic;
use hookexec::internal::reading::{Fields, Node, Reader};

use super::json::{object, required, string};
use super::yaml;

/// Where it posts to, as the value of `with`.
pub(super) fn parameters(
    reader: &mut Reader,
    node: &Node<'_>,
    hook: &Fields<'_>,
) -> Option<String> {
    let url = required(reader, node, hook, "url", "an http hook")?;
    let allowed: Vec<String> = match hook.get("allowedEnvVars") {
        Some(list) => reader.value(list, "`allowedEnvVars`")?,
        None => Vec::new(),
    };
    let written = match hook.get("headers") {
        Some(headers) => object(reader, headers, "`headers`")?,
        None => Fields::default(),
    };
    let mut headers = Vec::new();
    for (name, _, value) in written.iter() {
        let text = string(reader, value, "a header")?;
        if text.contains("${env.") {
            let message = "`${env.` in a header would name a variable here";
            return reader.refuse(value, Diagnostic::error(message));
        }
        headers.push((name.to_owned(), with_references(&text, &allowed)));
    }
    let mut with = format!("{{ url: {}", yaml::inline(&url));
    if !headers.is_empty() {
        with += ", headers: ";
        with += &yaml::mapping(headers.iter().map(|(name, value)| (name, value)));
    }
    if is_local(&url) {
        with += ", allow_private: true";
    }
    Some(with + " }")
}

/// Says `$NAME` and `${NAME}` in our words. Claude Code leaves out a variable that is not in its list.
fn with_references(text: &str, allowed: &[String]) -> String {
    let (mut said, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('$') {
        said += &rest[..at];
        let behind = &rest[at + 1..];
        let braced = behind.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let (name, after) = braced.unwrap_or_else(|| {
            behind.split_at(behind.find(|letter| !part(letter)).unwrap_or(behind.len()))
        });
        if name.is_empty() || !name.chars().all(part) {
            said.push('$');
            rest = behind;
            continue;
        }
        if allowed.iter().any(|known| known == name) {
            said.extend(["${env.", name, "}"]);
        }
        rest = after;
    }
    said + rest
}

/// Returns whether `url` names this machine, or has no encryption: only such servers are meant by
/// settings that allow them.
pub(super) fn is_local(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    url.starts_with("http://")
        || ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| {
            host.strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
        })
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
