//! Why `allow_commands` does not allow a call. Without a reason from here, it allows it.

use super::patterns::{Listed, Pattern};
use super::{cut, name_of};
use hookexec::describe::{CallDescription, Command, Redirection};

/// Returns the first command of a shell's call that is not allowed, and why; `None` if each of them
/// is listed, and nothing in it is uncertain.
pub(super) fn unlisted(call: &CallDescription, patterns: &[Pattern]) -> Option<String> {
    match &*call.commands {
        [] => Some("the call names no command".to_owned()),
        [only] if is_unreadable(only) => Some(
            "the command can't be read: it has a syntax error, is too long or is not for a POSIX \
             shell"
                .to_owned(),
        ),
        commands => commands.iter().find_map(|command| {
            doubt(command)
                .or_else(|| not_listed(command, patterns))
                .or_else(|| uncertain(command, call))
        }),
    }
}

fn is_unreadable(command: &Command) -> bool {
    command.hides && command.program.is_empty()
}

/// Returns what no pattern lists.
fn doubt(command: &Command) -> Option<String> {
    if is_unreadable(command) {
        return Some("a part of the command can't be known before it runs".to_owned());
    }
    if command.hides {
        return Some(format!("{} runs what can't be known", name_of(command)));
    }
    let has = |what: String| {
        if command.program.is_empty() { what } else { format!("{} has {what}", name_of(command)) }
    };
    if let Some(assignment) = command.assignments.first() {
        return Some(has(format!("an assignment: `{}`", cut(assignment))));
    }
    let discards = |it: &&Redirection| it.certain && it.file == "/dev/null";
    let redirection = command.redirections.iter().find(|redirection| !discards(redirection))?;
    let reads = matches!(&*redirection.operator, "<" | "<&");
    let direction = if reads { "from" } else { "to" };
    Some(has(format!("a redirection {direction} `{}`", cut(&redirection.file))))
}

fn not_listed(command: &Command, patterns: &[Pattern]) -> Option<String> {
    let mut hazard = None;
    for pattern in patterns {
        match pattern.lists(command) {
            Listed::Yes => return None,
            Listed::No => {}
            Listed::Hazard(arg) => hazard = hazard.or(Some((pattern, arg))),
        }
    }
    let name = name_of(command);
    Some(match hazard {
        None => format!("{name} is not listed"),
        Some((pattern, arg)) => {
            format!("{name} is not listed: `*` in `{pattern}` does not stand for `{}`", cut(arg))
        }
    })
}

fn uncertain(command: &Command, call: &CallDescription) -> Option<String> {
    if !command.uncertain {
        return None;
    }
    let unknown = format!("{} can't be known before it runs", name_of(command));
    Some(match (&command.unknown, &call.unknown_argument) {
        (Some(word), _) => format!("{unknown}: `{}`", cut(word)),
        (None, Some(argument)) => {
            format!("the argument `{}` of the call is not known", cut(argument))
        }
        (None, None) => unknown,
    })
}
