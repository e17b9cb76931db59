//! The hooks in a settings.json of Claude Code, and what hooks.yaml has for them.

use std::sync::Arc;

use hookexec::Event;
use hookexec::agents::Agent;
use hookexec::config::{Command, Diagnostic, Diagnostics, Location, SourceFile};
use hookexec::executor::Matcher;
use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;

use super::yaml::{self, Group, Hook};
use crate::cli::settings::text::{self, EditError};

/// What an import comes to.
pub(super) struct Import {
    /// The groups of hooks, by event in the order in which the events first appear.
    pub(super) events: Vec<(Event, Vec<Group>)>,
    /// What can't be imported, as errors, and what is imported as something else.
    pub(super) problems: Diagnostics,
}

/// Keys of a hook that change nothing about what it does here.
const WITHOUT_EFFECT: [&str; 2] = ["statusMessage", "once"];
/// Keys of a hook that are read before the others.
const READ: [&str; 2] = ["type", "command"];
/// A switch that Claude Code has beside the hooks.
const SWITCHED_OFF: &str = "disableAllHooks";
/// A variable that only Claude Code's plugins have.
const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";
/// How long a prompt waits for its hooks there when nothing is said; all else waits ten minutes.
const PROMPT_TIMEOUT: &str = "30";

/// Reads the `hooks` of a settings file.
pub(super) fn read(source: SourceFile) -> Result<Import, EditError> {
    let source = Arc::new(source);
    let mut reader = Reader {
        source: Arc::clone(&source),
        import: Import { events: Vec::new(), problems: Diagnostics::default() },
    };
    let Some(Node::Object(root)) = text::parse(&source.text)? else {
        return Err(EditError("it is no JSON object".to_owned()));
    };
    let Some(hooks) = root.properties.iter().find(|member| member.name.as_str() == "hooks") else {
        return Err(EditError("there are no `hooks` in it".to_owned()));
    };
    if root.get_boolean(SWITCHED_OFF).is_some_and(|off| off.value) {
        let message = format!("`{SWITCHED_OFF}` is set: in Claude Code none of these hooks run");
        reader.import.problems.push(Diagnostic::warning(message));
    }
    reader.events(&hooks.value);
    Ok(reader.import)
}

struct Reader {
    source: Arc<SourceFile>,
    import: Import,
}

impl Reader {
    fn events(&mut self, node: &Node<'_>) {
        let Some(events) = self.object(node, "`hooks`") else { return };
        for member in &events.properties {
            let name = member.name.as_str();
            let known = Agent::ClaudeCode.events().iter().find(|native| native.name == name);
            let Some(native) = known else {
                self.error(&member.name, format!("unknown event `{name}`"), "");
                continue;
            };
            let Some(event) = native.event else {
                self.error(&member.name, format!("hookexec has no event for `{name}`"), "");
                continue;
            };
            for group in self.list(&member.value, &format!("`{name}`")) {
                if let Some(group) = self.group(group, event, name) {
                    let events = &mut self.import.events;
                    match events.iter_mut().find(|(known, _)| *known == event) {
                        Some((_, groups)) => groups.push(group),
                        None => events.push((event, vec![group])),
                    }
                }
            }
        }
    }

    fn group(&mut self, node: &Node<'_>, event: Event, name: &str) -> Option<Group> {
        let fields = self.object(node, "an entry")?;
        let mut group = Group {
            line: self.place(node).line(),
            matcher: None,
            condition: native_condition(name).map(str::to_owned),
            hooks: Vec::new(),
        };
        let mut hooks = Vec::new();
        for member in &fields.properties {
            match member.name.as_str() {
                "matcher" => {
                    let matcher = self.string(&member.value, "`matcher`")?;
                    self.matcher(&member.value, &matcher, event, &mut group)?;
                }
                "hooks" => hooks = self.list(&member.value, "`hooks`"),
                other => self.left_out(member, other),
            }
        }
        for hook in hooks {
            if let Some(hook) = self.hook(hook, event) {
                group.hooks.push(hook);
            }
        }
        (!group.hooks.is_empty()).then_some(group)
    }

    /// Says a matcher in our words: of tools as a matcher, of anything else as a condition.
    fn matcher(
        &mut self,
        node: &Node<'_>,
        matcher: &str,
        event: Event,
        group: &mut Group,
    ) -> Option<()> {
        let field = matched_field(event);
        let alternatives = match Alternatives::of(matcher) {
            Alternatives::Everything => return Some(()),
            // There is nothing that it could be about; Claude Code ignores it.
            _ if field.is_none() && !event.contract().tool_matched => return Some(()),
            other => other,
        };
        let pattern = match &alternatives {
            Alternatives::Names(names) => names.join("|"),
            _ => whole(matcher),
        };
        if let Err(error) = Matcher::new(&pattern) {
            self.error(node, error.to_string(), "say it without what only JavaScript has");
            return None;
        }
        let Some(field) = field else {
            group.matcher = Some(pattern);
            return Some(());
        };
        let condition = match alternatives {
            Alternatives::Names(names) => {
                let names: Vec<String> = names.iter().map(|name| yaml::inline(name)).collect();
                format!("{{ field: {field}, in: [{}] }}", names.join(", "))
            }
            _ => format!("{{ field: {field}, regex: {} }}", yaml::inline(matcher)),
        };
        group.condition = Some(match group.condition.take() {
            Some(other) => format!("{{ all: [{other}, {condition}] }}"),
            None => condition,
        });
        Some(())
    }

    fn hook(&mut self, node: &Node<'_>, event: Event) -> Option<Hook> {
        let fields = self.object(node, "a hook")?;
        let kind = fields.get("type").map(|member| &member.value);
        let said = kind.and_then(|kind| kind.as_string_lit()).map(|kind| kind.value.as_ref());
        match said {
            Some("command") => {}
            Some(other) => {
                let hint = match other {
                    "http" => "a command such as `curl -sSf --data-binary @- URL` does the same",
                    _ => "leave it in Claude Code's settings",
                };
                let message = format!("a hook of type `{other}` can't be imported");
                self.error(kind.unwrap_or(node), message, hint);
                return None;
            }
            None => {
                self.error(node, "a hook needs a `type`".to_owned(), "");
                return None;
            }
        }
        let Some(command) = fields.get("command") else {
            self.error(node, "a command hook needs a `command`".to_owned(), "");
            return None;
        };
        let command = self.string(&command.value, "`command`")?;
        if command.contains(PLUGIN_ROOT) {
            let message = format!("it needs `{PLUGIN_ROOT}`, which only Claude Code sets");
            let hint = format!("add `env: {{ {PLUGIN_ROOT}: /path/of/the/plugin }}` to the hook");
            let place = self.place(node);
            self.import.problems.push(Diagnostic::warning(message).hint(hint).at(place));
        }
        let mut hook = Hook {
            line: self.place(node).line(),
            command: Command::Text(command.clone()),
            keys: Vec::new(),
        };
        let mut timeout = (event == Event::UserPromptSubmit).then(|| PROMPT_TIMEOUT.to_owned());
        for member in &fields.properties {
            let value = &member.value;
            match member.name.as_str() {
                "args" => {
                    let mut words = vec![command.clone()];
                    for word in self.list(value, "`args`") {
                        words.push(self.string(word, "an argument")?);
                    }
                    hook.command = program(words);
                }
                "timeout" => timeout = Some(self.seconds(value)?),
                "async" => {
                    if self.truth(value, "`async`")? {
                        hook.keys.push(("background", "true".to_owned()));
                        if event.contract().may_block {
                            // What it answers comes too late there as well.
                            hook.keys.push(("mode", "shadow".to_owned()));
                        }
                    }
                }
                "shell" => match self.string(value, "`shell`")?.as_str() {
                    "bash" => hook.keys.push(("shell", "bash".to_owned())),
                    other => {
                        self.error(value, format!("the shell `{other}` can't be imported"), "");
                        return None;
                    }
                },
                "onFailure" => match self.string(value, "`onFailure`")?.as_str() {
                    "block" if event.contract().may_block => {
                        hook.keys.push(("on_error", "block".to_owned()));
                    }
                    _ => hook.keys.push(("on_error", "warn".to_owned())),
                },
                "if" => {
                    let hint = "let the script look at `tool_input`, or write a `when:` by hand";
                    let message = "a permission rule in `if` can't be imported".to_owned();
                    self.error(value, message, hint);
                    return None;
                }
                "asyncRewake" => {
                    if self.truth(value, "`asyncRewake`")? {
                        let message = "nothing here wakes the model: `asyncRewake`".to_owned();
                        self.error(value, message, "leave it in Claude Code's settings");
                        return None;
                    }
                }
                known if WITHOUT_EFFECT.contains(&known) || READ.contains(&known) => {}
                other => self.left_out(member, other),
            }
        }
        if matches!(hook.command, Command::Argv(_)) {
            hook.keys.retain(|(key, _)| *key != "shell");
        }
        hook.keys.extend(timeout.map(|timeout| ("timeout", timeout)));
        Some(hook)
    }

    fn seconds(&mut self, node: &Node<'_>) -> Option<String> {
        let number = node.as_number_lit().map(|number| number.value);
        let valid = number.filter(|text| text.parse().is_ok_and(|seconds: f64| seconds > 0.0));
        if valid.is_none() {
            let message = "`timeout` is a number of seconds, more than none".to_owned();
            self.error(node, message, "");
        }
        valid.map(str::to_owned)
    }

    fn string(&mut self, node: &Node<'_>, what: &str) -> Option<String> {
        let text = node.as_string_lit().map(|text| text.value.to_string());
        if text.is_none() {
            self.error(node, format!("{what} must be a string"), "");
        }
        text
    }

    fn truth(&mut self, node: &Node<'_>, what: &str) -> Option<bool> {
        let truth = node.as_boolean_lit().map(|truth| truth.value);
        if truth.is_none() {
            self.error(node, format!("{what} must be true or false"), "");
        }
        truth
    }

    fn list<'n, 'a>(&mut self, node: &'n Node<'a>, what: &str) -> Vec<&'n Node<'a>> {
        if let Node::Array(array) = node {
            return array.elements.iter().collect();
        }
        self.error(node, format!("{what} must be a list"), "");
        Vec::new()
    }

    /// Returns an object in which every key stands once.
    fn object<'n, 'a>(&mut self, node: &'n Node<'a>, what: &str) -> Option<&'n Object<'a>> {
        let Node::Object(object) = node else {
            self.error(node, format!("{what} must be an object"), "");
            return None;
        };
        for (index, member) in object.properties.iter().enumerate() {
            let name = member.name.as_str();
            if object.properties[..index].iter().any(|other| other.name.as_str() == name) {
                self.error(&member.name, format!("`{name}` stands here twice"), "keep one of them");
                return None;
            }
        }
        Some(object)
    }

    fn left_out(&mut self, member: &ObjectProp<'_>, name: &str) {
        let place = self.place(&member.name);
        let message = format!("unknown key `{name}`: it is left out");
        self.import.problems.push(Diagnostic::warning(message).at(place));
    }

    fn error(&mut self, node: &impl Ranged, message: String, hint: &str) {
        let mut problem = Diagnostic::error(message).at(self.place(node));
        if !hint.is_empty() {
            problem = problem.hint(hint);
        }
        self.import.problems.push(problem);
    }

    fn place(&self, node: &impl Ranged) -> Location {
        let range = node.range();
        Location::new(Arc::clone(&self.source), range.start..range.end)
    }
}

/// What a matcher of Claude Code stands for.
enum Alternatives {
    Everything,
    Names(Vec<String>),
    /// An expression of JavaScript that is searched for.
    Expression,
}

impl Alternatives {
    fn of(matcher: &str) -> Self {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_- ,|".contains(letter);
        if matcher.is_empty() || matcher == "*" {
            return Self::Everything;
        }
        if !matcher.chars().all(plain) {
            return Self::Expression;
        }
        let names = matcher.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
        Self::Names(names.map(str::to_owned).collect())
    }
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

/// Returns what two events of Claude Code are told apart by that are one of ours.
fn native_condition(name: &str) -> Option<&'static str> {
    match name {
        "PostToolUse" => Some("{ not: { field: tool_error, equals: true } }"),
        "PostToolUseFailure" => Some("{ field: tool_error, equals: true }"),
        "PermissionDenied" => Some("{ field: approval_decision, equals: deny }"),
        _ => None,
    }
}

/// Returns the field that a matcher is about where it is not about the tool.
fn matched_field(event: Event) -> Option<&'static str> {
    match event {
        Event::SessionStart | Event::PreCompact | Event::AfterCompaction => Some("source"),
        Event::SessionEnd | Event::OnError => Some("reason"),
        Event::Notification => Some("notification_type"),
        Event::SubagentStop => Some("agent_type"),
        Event::OnToolApprovalDecision => Some("tool_name"),
        _ => None,
    }
}

/// Returns a program with its arguments; as a shell's command where Claude Code puts in paths.
fn program(words: Vec<String>) -> Command {
    const VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", PLUGIN_ROOT];
    let reference = |word: &str, name: &str| word.contains(&format!("${{{name}}}"));
    if !words.iter().any(|word| VARIABLES.iter().any(|name| reference(word, name))) {
        return Command::Argv(words);
    }
    let quoted = words.iter().map(|word| {
        let mut text = String::from("\"");
        for letter in word.chars() {
            if "\\\"`$".contains(letter) {
                text.push('\\');
            }
            text.push(letter);
        }
        text.push('"');
        VARIABLES.iter().fold(text, |text, name| {
            text.replace(&format!("\\${{{name}}}"), &format!("${{{name}}}"))
        })
    });
    Command::Text(format!("exec {}", quoted.collect::<Vec<_>>().join(" ")))
}

#[cfg(test)]
mod tests {
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
    fn a_program_with_paths_of_claude_code_goes_through_a_shell() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(program(words("a b")), Command::Argv(words("a b")));
        assert_eq!(
            program(words("${CLAUDE_PROJECT_DIR}/a $b \"c")),
            Command::Text(r#"exec "${CLAUDE_PROJECT_DIR}/a" "\$b" "\"c""#.to_owned())
        );
    }
}
