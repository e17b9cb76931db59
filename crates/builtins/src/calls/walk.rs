//! From the parser's tree to a list of commands.

use rable::{CasePattern, ListItem, Node, NodeKind};

use super::parse::{parse, substitutions};
use super::shells::sets_evaluated;
use super::simple::{Simple, expand};
use super::unreadable;
use super::word::{Sureness, Word};
use hookexec::describe::{Command, Redirection};

/// How deep texts of commands may stand in commands, as in `sh -c "sh -c x"`.
const DEEPEST: usize = 6;

/// Returns the commands of a text; `None` if it can't be parsed.
pub(super) fn commands(text: &str) -> Option<Vec<Command>> {
    let mut walk = Walk::default();
    walk.text(text, &Frame::default())?;
    if walk.defines {
        // A function may have the name of any program.
        for command in &mut walk.commands {
            command.uncertain = true;
        }
    }
    Some(walk.commands)
}

/// Facts that hold for all commands of a part of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    pub(super) piped: bool,
    pub(super) redirections: Vec<Redirection>,
    pub(super) wrappers: Vec<String>,
    /// Whether something outside of it can't be known.
    pub(super) uncertain: bool,
    /// Whether words that are not known are added to the command.
    pub(super) more: bool,
    /// How many commands and texts of commands stand around it.
    pub(super) depth: usize,
}

/// Words that a shell expands.
#[must_use]
struct Words {
    words: Vec<Word>,
    /// Whether they run commands that were not found.
    hides: bool,
}

/// The commands that were found so far.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) commands: Vec<Command>,
    pub(super) pipeline: usize,
    /// Whether the text defines a function.
    defines: bool,
    /// How many words the commands that others run have at most.
    pub(super) inner_words: usize,
    /// How many substitutions were gone through.
    substitutions: usize,
    /// The delimiters of the here-documents of the text.
    delimiters: Vec<String>,
}

impl Walk {
    /// Adds the commands of a text that `frame` runs.
    pub(super) fn text(&mut self, text: &str, frame: &Frame) -> Option<()> {
        if frame.depth > DEEPEST {
            return None;
        }
        let outer = std::mem::take(&mut self.delimiters);
        for node in &parse(text)? {
            self.statement(node, frame);
        }
        let delimiters = std::mem::replace(&mut self.delimiters, outer);
        if delimiters.iter().all(|delimiter| is_certain(delimiter, text)) { Some(()) } else { None }
    }

    fn statement(&mut self, node: &Node, frame: &Frame) {
        self.pipeline += 1;
        self.part(node, frame);
    }

    fn statements<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>, frame: &Frame) {
        for node in nodes {
            self.statement(node, frame);
        }
    }

    /// Adds a part of a pipeline.
    fn part(&mut self, node: &Node, frame: &Frame) {
        match &node.kind {
            NodeKind::Empty | NodeKind::Comment { .. } => {}
            NodeKind::Command { assignments, words, redirects } => {
                self.command(assignments, words, redirects, frame);
            }
            NodeKind::Pipeline { commands, .. } => {
                for (place, command) in commands.iter().enumerate() {
                    let piped = frame.piped || place > 0;
                    self.part(command, &Frame { piped, ..frame.clone() });
                }
            }
            NodeKind::List { items } => self.list(items, frame),
            NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => {
                self.part(pipeline, frame);
            }
            _ => self.compound(node, frame),
        }
    }

    /// The parser nests lists to the left: the first item of a list of a thousand is a list.
    fn list(&mut self, items: &[ListItem], frame: &Frame) {
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                self.pipeline += 1;
            }
            self.part(&item.command, frame);
        }
    }

    fn compound(&mut self, node: &Node, outer: &Frame) {
        match &node.kind {
            NodeKind::Subshell { body, redirects } | NodeKind::BraceGroup { body, redirects } => {
                let frame = self.redirected(redirects, outer);
                self.statement(body, &frame);
            }
            NodeKind::If { condition, then_body, else_body, redirects } => {
                let frame = self.redirected(redirects, outer);
                self.statements(
                    [&**condition, then_body].into_iter().chain(else_body.as_deref()),
                    &frame,
                );
            }
            NodeKind::While { condition, body, redirects }
            | NodeKind::Until { condition, body, redirects } => {
                let frame = self.redirected(redirects, outer);
                self.statements([&**condition, body], &frame);
            }
            NodeKind::For { var, words, body, redirects }
            | NodeKind::Select { var, words, body, redirects } => {
                let frame = self.redirected(redirects, outer);
                // The name may be `PATH`.
                self.pseudo(var, words.as_deref().unwrap_or_default(), &frame);
                self.statement(body, &frame);
            }
            NodeKind::ForArith { init, cond, incr, body, redirects } => {
                let frame = self.redirected(redirects, outer);
                self.evaluated(&format!("{init};{cond};{incr}"), "((", &frame);
                self.statement(body, &frame);
            }
            NodeKind::Case { word, patterns, redirects } => {
                let frame = self.redirected(redirects, outer);
                self.case(word, patterns, &frame);
            }
            NodeKind::Function { body, .. } => {
                self.defines = true;
                self.statement(body, outer);
            }
            NodeKind::Coproc { command, .. } => {
                let frame = Frame { uncertain: true, ..outer.clone() };
                self.statement(command, &frame);
            }
            NodeKind::ConditionalExpr { body, redirects } => {
                let frame = self.redirected(redirects, outer);
                let mut terms = String::new();
                add_terms(body, &mut terms);
                self.evaluated(&terms, "[[", &frame);
            }
            NodeKind::ArithmeticCommand { raw_content, redirects, .. } => {
                let frame = self.redirected(redirects, outer);
                self.evaluated(raw_content, "((", &frame);
            }
            _ => self.commands.push(unreadable()),
        }
    }

    fn case(&mut self, word: &Node, patterns: &[CasePattern], frame: &Frame) {
        let words = patterns.iter().flat_map(|case| &case.patterns);
        let found: Vec<Node> = std::iter::once(word).chain(words).cloned().collect();
        let Words { words, hides } = self.words(&found, frame);
        if hides || words.iter().any(Word::is_expanded) {
            let args = words.into_iter().map(|word| word.text).collect();
            let program = "case".to_owned();
            let begun = self.begun(frame);
            self.commands.push(Command { program, args, uncertain: true, hides, ..begun });
        }
        self.statements(patterns.iter().filter_map(|case| case.body.as_ref()), frame);
    }

    /// Adds what stands for a loop: it assigns to a variable.
    fn pseudo(&mut self, variable: &str, words: &[Node], frame: &Frame) {
        let Words { hides, .. } = self.words(words, frame);
        let command = Command {
            assignments: vec![format!("{variable}=")],
            uncertain: true,
            hides: hides || sets_evaluated(variable),
            ..self.begun(frame)
        };
        self.commands.push(command);
    }

    /// Adds `[[ ... ]]` or `(( ... ))`: they evaluate what a variable holds.
    fn evaluated(&mut self, text: &str, program: &str, frame: &Frame) {
        let command = Command {
            program: program.to_owned(),
            args: vec![text.to_owned()],
            uncertain: true,
            hides: may_run(text),
            ..self.begun(frame)
        };
        self.commands.push(command);
    }

    /// Adds a command that stands for those that are not shown.
    fn hidden(&mut self, frame: &Frame) {
        let command = Command { hides: true, uncertain: true, ..self.begun(frame) };
        self.commands.push(command);
    }

    /// Returns a command that has nothing of its own yet.
    pub(super) fn begun(&self, frame: &Frame) -> Command {
        Command {
            pipeline: self.pipeline,
            piped: frame.piped,
            redirections: frame.redirections.clone(),
            wrappers: frame.wrappers.clone(),
            uncertain: frame.uncertain,
            ..Command::default()
        }
    }

    fn command(&mut self, assignments: &[Node], words: &[Node], redirects: &[Node], outer: &Frame) {
        let frame = self.redirected(redirects, outer);
        let assigned = self.words(assignments, &frame);
        let Words { words, hides } = self.words(words, &frame);
        let hides = hides || assigned.hides;
        let simple = Simple { assignments: assigned.words, words, hides };
        expand(self, simple, &frame);
    }

    /// Returns words without quotes, and whether they hide commands; adds those in substitutions.
    /// All words that a shell expands are read here, whatever they are a part of.
    fn words(&mut self, nodes: &[Node], frame: &Frame) -> Words {
        let mut hides = false;
        let words = nodes.iter().map(|node| {
            let NodeKind::Word { value, parts, .. } = &node.kind else {
                hides = true;
                return Word::of_shell("$");
            };
            let before = self.substitutions;
            for part in parts {
                self.substitution(part, frame);
            }
            let mut word = Word::of_shell(value);
            if !parts.iter().all(|part| matches!(part.kind, NodeKind::WordLiteral { .. })) {
                word = Word { sureness: Sureness::Unknown, ..word };
            }
            // The parser shows two levels of substitutions, and none within `${...}` and `$[...]`.
            // Within backquotes, backslashes mean something else.
            hides |= sets_evaluated(&word.text);
            hides |= word.is_unknown()
                && (self.substitutions - before != substitutions(value)
                    || (value.contains('`') && value.contains('\\'))
                    || evaluates(value)
                    || is_odd_array(value));
            word
        });
        let words = words.collect();
        Words { words, hides }
    }

    /// Adds the commands of a substitution.
    fn substitution(&mut self, part: &Node, frame: &Frame) {
        if let NodeKind::CommandSubstitution { command, .. }
        | NodeKind::ProcessSubstitution { command, .. } = &part.kind
        {
            self.substitutions += 1;
            self.statement(command, &Frame { redirections: Vec::new(), ..frame.clone() });
        }
    }

    /// Returns the frame of a command with these redirections.
    fn redirected(&mut self, redirects: &[Node], outer: &Frame) -> Frame {
        let mut frame = outer.clone();
        for redirect in redirects {
            match &redirect.kind {
                NodeKind::HereDoc { delimiter, content, quoted, .. } => {
                    self.delimiters.push(delimiter.clone());
                    let expands = !quoted && content.contains(['$', '`', '\\']);
                    frame.uncertain |= expands;
                    if expands && may_run(content) {
                        self.hidden(outer);
                    }
                }
                NodeKind::Redirect { op, target, varfd, .. } => {
                    let Words { words, hides } = self.words(std::slice::from_ref(target), outer);
                    if hides {
                        self.hidden(outer);
                    }
                    frame.uncertain |=
                        varfd.is_some() || words.iter().any(|word| !word.is_literal());
                    frame.redirections.extend(words.first().and_then(|word| file(op, word)));
                }
                _ => frame.uncertain = true,
            }
        }
        frame
    }
}

/// Returns the redirection, if it is to or from a file.
fn file(operator: &str, word: &Word) -> Option<Redirection> {
    let duplicates = matches!(operator, ">&" | "<&" | ">&-" | "<&-")
        && word.is_literal()
        && word.text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    if operator == "<<<" || duplicates {
        return None;
    }
    Some(Redirection {
        operator: operator.to_owned(),
        file: word.text.clone(),
        certain: word.is_literal(),
    })
}

/// Returns whether all shells and the parser end a here-document of `text` at the same line. They
/// read other delimiters, and lines that only begin with the delimiter, in different ways.
fn is_certain(delimiter: &str, text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let mut is_continued = false;
    let is_sure = |line: &str| {
        let line = line.trim_start_matches('\t');
        let may_end = line.starts_with(delimiter);
        let sure = !may_end || line == delimiter && !is_continued;
        is_continued = line.ends_with('\\');
        sure
    };
    !delimiter.is_empty() && delimiter.chars().all(is_plain) && text.split('\n').all(is_sure)
}

/// Returns whether a text that a shell expands may run a command.
fn may_run(text: &str) -> bool {
    substitutions(text) > 0 || evaluates(text)
}

/// Returns whether a text has an expansion that runs what a variable holds, such as `${x@P}`, or
/// one that is a substitution for some shells, such as `${ x; }` and `${|x; }`.
fn evaluates(text: &str) -> bool {
    let text = text.replace("\\\n", "");
    let opens = |at: usize| text[at + 2..].starts_with([' ', '\t', '\n', '|', '(']);
    text.contains("@P") || text.match_indices("${").any(|(at, _)| opens(at))
}

/// Returns whether a list of words such as `a=(b c)` has an operator in it. Shells stop at it and
/// may run the lines behind it.
fn is_odd_array(word: &str) -> bool {
    word.split_once("=(").is_some_and(|(_, rest)| rest.contains(['<', '>', '|', '&', ';']))
}

fn add_terms(node: &Node, terms: &mut String) {
    match &node.kind {
        NodeKind::CondTerm { value, .. } => {
            terms.push_str(value);
            terms.push(' ');
        }
        NodeKind::UnaryTest { operand, .. } | NodeKind::CondNot { operand } => {
            add_terms(operand, terms);
        }
        NodeKind::CondParen { inner } => add_terms(inner, terms),
        NodeKind::BinaryTest { left, right, .. }
        | NodeKind::CondAnd { left, right }
        | NodeKind::CondOr { left, right } => {
            add_terms(left, terms);
            add_terms(right, terms);
        }
        // What is not known may hold anything.
        _ => terms.push('`'),
    }
}
