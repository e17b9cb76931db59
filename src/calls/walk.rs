//! From the parser's tree to a list of commands.

use rable::{CasePattern, ListItem, Node, NodeKind};

use super::parse::{parse, substitutions};
use super::simple::{Simple, expand};
use super::word::Word;
use super::{Command, Redirection};

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

/// What holds for all commands of a part of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    pub(super) piped: bool,
    pub(super) redirections: Vec<Redirection>,
    pub(super) wrappers: Vec<String>,
    /// Whether something outside of it can't be known.
    pub(super) uncertain: bool,
    /// How many commands and texts of commands stand around it.
    pub(super) depth: usize,
}

/// The commands that were found so far.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) commands: Vec<Command>,
    pub(super) pipeline: usize,
    /// Whether the text defines a function.
    defines: bool,
    /// How many substitutions were gone through.
    substitutions: usize,
}

impl Walk {
    /// Adds the commands of a text that `frame` runs.
    pub(super) fn text(&mut self, text: &str, frame: &Frame) -> Option<()> {
        if frame.depth > DEEPEST {
            return None;
        }
        for node in &parse(text)? {
            self.statement(node, frame);
        }
        Some(())
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
            _ => self.commands.push(Command::unreadable()),
        }
    }

    fn case(&mut self, word: &Node, patterns: &[CasePattern], frame: &Frame) {
        let words = patterns.iter().flat_map(|case| &case.patterns);
        let found: Vec<Node> = std::iter::once(word).chain(words).cloned().collect();
        self.words(&found, frame);
        self.statements(patterns.iter().filter_map(|case| case.body.as_ref()), frame);
    }

    /// Adds what stands for a loop: it assigns to a variable.
    fn pseudo(&mut self, variable: &str, words: &[Node], frame: &Frame) {
        let (_, hides) = self.words(words, frame);
        let command = Command {
            assignments: vec![format!("{variable}=")],
            uncertain: true,
            hides,
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
            hides: substitutions(text) > 0,
            ..self.begun(frame)
        };
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
        let (assigned, assigns_hidden) = self.words(assignments, &frame);
        let (words, words_hide) = self.words(words, &frame);
        let simple = Simple { assignments: assigned, words, hides: assigns_hidden || words_hide };
        expand(self, simple, &frame);
    }

    /// Returns words without quotes, and whether they hide commands; adds those in substitutions.
    fn words(&mut self, nodes: &[Node], frame: &Frame) -> (Vec<Word>, bool) {
        let mut hides = false;
        let words = nodes.iter().map(|node| {
            let NodeKind::Word { value, parts, .. } = &node.kind else {
                hides = true;
                return Word::of_shell("$");
            };
            if !parts.iter().all(|part| matches!(part.kind, NodeKind::WordLiteral { .. })) {
                let before = self.substitutions;
                for part in parts {
                    self.substitution(part, frame);
                }
                // The parser shows two levels of them, and none within `${...}`. Within backquotes,
                // backslashes mean something else, and `${x@P}` runs what the variable holds.
                hides |= self.substitutions - before != substitutions(value)
                    || (value.contains('`') && value.contains('\\'))
                    || value.contains("@P");
                return Word { sureness: super::word::Sureness::Unknown, ..Word::of_shell(value) };
            }
            Word::of_shell(value)
        });
        let words = words.collect();
        (words, hides)
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
                NodeKind::HereDoc { content, quoted, .. } => {
                    let expands = !quoted && content.contains(['$', '`', '\\']);
                    frame.uncertain |= expands;
                    if expands && substitutions(content) > 0 {
                        self.commands.push(Command {
                            hides: true,
                            uncertain: true,
                            ..self.begun(outer)
                        });
                    }
                }
                NodeKind::Redirect { op, target, varfd, .. } => {
                    let (words, hides) = self.words(std::slice::from_ref(target), outer);
                    if hides {
                        self.commands.push(Command {
                            hides: true,
                            uncertain: true,
                            ..self.begun(outer)
                        });
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
