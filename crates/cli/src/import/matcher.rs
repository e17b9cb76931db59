//! Matchers of other agents in the words of hooks.yaml.

use hookexec_agents::{Agent, Matching};

/// What a matcher stands for.
pub(super) enum Alternatives {
    Everything,
    Names(Vec<String>),
    /// An expression that is searched for.
    Expression(String),
}

impl Alternatives {
    pub(super) fn of(matching: Matching, matcher: &str) -> Self {
        if matcher.is_empty() || matcher == "*" {
            return Self::Everything;
        }
        let separators: &[char] = match matching {
            Matching::NamesOrSearch => &['|', ','],
            _ => &['|'],
        };
        let plain = |letter: char| {
            letter.is_ascii_alphanumeric()
                || "_-|".contains(letter)
                || (matching == Matching::NamesOrSearch && " ,".contains(letter))
        };
        if matching == Matching::Search || !matcher.chars().all(plain) {
            return Self::Expression(matcher.to_owned());
        }
        let names = matcher.split(separators).map(str::trim).filter(|name| !name.is_empty());
        Self::Names(names.map(str::to_owned).collect())
    }

    /// Returns an expression that matches the same tools of `agent`, and under other agents those
    /// of the same kinds.
    pub(super) fn pattern(&self, agent: Agent) -> String {
        match self {
            Self::Everything => "*".to_owned(),
            Self::Names(names) => with_kinds(agent, names),
            Self::Expression(text) => {
                let names: Vec<String> = text.split('|').map(str::to_owned).collect();
                let known = |name: &String| agent.tools().any(|(tool, _)| tool == name);
                if names.iter().all(known) { with_kinds(agent, &names) } else { whole(text) }
            }
        }
    }
}

/// Returns the names, each followed by the kinds of the tool. Claude Code's names need none: its
/// dialect knows what each tool is called there.
fn with_kinds(agent: Agent, names: &[String]) -> String {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        let kinds = if agent == Agent::ClaudeCode { Vec::new() } else { agent.tool_kinds(name) };
        for name in std::iter::once(name.clone()).chain(kinds) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
    }
    all.join("|")
}

/// Returns an expression that matches the whole of what `expression` is found in.
fn whole(expression: &str) -> String {
    let simple = |letter: char| letter.is_ascii_alphanumeric() || "_-.*".contains(letter);
    let core = expression.trim_start_matches(".*");
    let core = core.strip_suffix(".*").unwrap_or(core);
    // `a*` at its end means something else without what follows.
    if core.chars().all(simple) && !core.ends_with('*') && !core.starts_with('*') {
        format!(".*{core}.*")
    } else {
        format!(".*(?:{expression}).*")
    }
}

/// Returns whether a matcher is written like a rule of `permissions`: `Bash(git push:*)`.
pub(super) fn is_permission_rule(agent: Agent, matcher: &str) -> bool {
    let rule = |part: &str| {
        let tool = part.strip_suffix(')').and_then(|part| Some(part.split_once('(')?.0));
        tool.is_some_and(|tool| agent.tools().any(|(known, _)| known == tool))
    };
    matcher.split('|').any(|part| rule(part.trim()))
}

#[cfg(test)]
mod tests {
    use hookexec::matcher::Matcher;

    use super::*;

    #[test]
    fn an_expression_is_found_anywhere_in_a_name() {
        for (expression, name, expected) in [
            ("mcp__memory__.*", "mcp__memory__store", true),
            ("mcp__.*__write.*", "mcp__fs__write_file", true),
            ("^Bash$", "Bash", true),
            ("^Bash$", "BashOutput", false),
            ("Bash.", "BashOutput", true),
            ("Edit|Write.*", "MultiEdit", true),
            ("Notebook.*|^Edit$", "Edit", true),
            ("a*", "b", true),
            ("(Web)+", "WebFetch", true),
        ] {
            let pattern = whole(expression);
            let matches = Matcher::new(&pattern).unwrap().matches(name);
            assert_eq!(matches, expected, "{expression} as {pattern}: {name}");
        }
    }

    #[test]
    fn a_name_of_another_agent_brings_its_kinds() {
        for (agent, matching, matcher, expected) in [
            (Agent::ClaudeCode, Matching::NamesOrSearch, "Edit, Write", "Edit|Write"),
            (Agent::Gemini, Matching::Search, "run_shell_command", "run_shell_command|shell"),
            (Agent::Gemini, Matching::Search, "write_", ".*write_.*"),
        ] {
            assert_eq!(Alternatives::of(matching, matcher).pattern(agent), expected);
        }
    }

    #[test]
    fn a_permission_rule_is_not_an_expression() {
        for (matcher, expected) in [
            ("Bash(git push:*)", true),
            ("Edit|Bash(rm *)", true),
            ("Write(/etc/**)", true),
            ("Bash(*)", true),
            ("(Web)+", false),
            ("Notebook(Edit|Read)", false),
            ("mcp__(fs|db)__.*", false),
            ("Task(Create|Update)", false),
        ] {
            assert_eq!(is_permission_rule(Agent::ClaudeCode, matcher), expected, "{matcher}");
        }
    }
}
