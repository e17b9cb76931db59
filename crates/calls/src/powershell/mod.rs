//! Reads texts for PowerShell.

mod translation;

use super::command::{Frame, Hidden, SimpleCommand, Word, are_known, line_of};
use super::names::POWERSHELL_RUNNERS;
use super::reader::Found;
use translation::Translation;

impl Found {
    /// Adds the commands of a text, each behind `powershell`, which runs it: those in blocks and brackets, too.
    /// `None` if it runs a text or a method that is not read, or has a letter whose meaning is not known.
    pub(super) fn powershell(&mut self, text: &str, outer: &Frame) -> Option<()> {
        let start = self.commands.len();
        let posix = Translation::of(&text.replace("\r\n", "\n"))?;
        let frame = outer.within("powershell");
        let is_read = self.text_of_other_shell(&posix, &frame);
        let read = self.commands.split_off(start);
        if !is_read || read.iter().any(runs_anything) {
            return None;
        }
        for command in read {
            if let Some(program) = equal_program(&command.program()) {
                let mut equal = command.clone();
                equal.words[0] = Word::known(program);
                self.commands.push(equal);
            }
            if command.frame.wrappers == frame.wrappers {
                let words = [&[Word::known("powershell")], &*command.words].concat();
                // PowerShell may know a function or an alias of this name: nothing is allowed for certain.
                let (is_certain, hidden) = (false, Hidden::Nothing);
                let mut whole = SimpleCommand { words, is_certain, hidden, ..command.clone() };
                whole.frame.wrappers.clone_from(&outer.wrappers);
                self.commands.push(whole);
            }
            self.commands.push(command);
        }
        Some(())
    }

    /// Adds the commands of the text behind `-Command` of PowerShell. With `-` it is in its input.
    pub(super) fn behind_powershell(&mut self, words: &[Word], frame: &Frame) -> Option<()> {
        if !matches!(frame.program(), "powershell" | "pwsh") || !are_known(words) {
            return None;
        }
        let at = words.iter().position(is_option_for_text)?;
        let text = line_of(&words[at + 1..]);
        if text == "-" { None } else { self.powershell(&text, frame) }
    }
}

/// Returns whether a word is `-Command` or a beginning of it. All words behind it are the text.
fn is_option_for_text(word: &Word) -> bool {
    let option = word.text.to_ascii_lowercase();
    option.len() > 1 && "-command".starts_with(&option)
}

/// Returns whether a command runs a text or a method that is not read, or moves the shell or sets a variable
/// within a block.
fn runs_anything(command: &SimpleCommand) -> bool {
    let arguments = command.words.get(1..).unwrap_or_default();
    match &*command.program() {
        "cd" | "pushd" | "popd" | "export" | "unset" => command.frame.substituted,
        // As another user.
        "start-process" => arguments.iter().any(|word| word.text.eq_ignore_ascii_case("-verb")),
        // A word that is no block is the name of a method.
        "foreach-object" => arguments.iter().any(|word| !word.text.starts_with(['$', '-'])),
        "set-item" | "si" | "new-item" | "ni" => arguments.iter().any(is_of_shell),
        name => POWERSHELL_RUNNERS.contains(&name),
    }
}

/// Returns whether a word stands for an alias, a function or a variable of the environment: `alias:rm`.
fn is_of_shell(word: &Word) -> bool {
    let text = word.text.to_ascii_lowercase();
    matches!(text.split_once(':'), Some(("alias" | "function" | "env", _)))
}

/// Returns the program of the tables that does the same as one of PowerShell.
fn equal_program(name: &str) -> Option<&'static str> {
    Some(match name {
        "ni" => "new-item",
        "ac" => "add-content",
        "type" => "get-content",
        "ri" | "del" | "erase" | "rd" | "rmdir" => "remove-item",
        "copy-item" | "copy" | "cpi" => "cp",
        "move-item" | "move" | "mi" | "rename-item" | "ren" | "rni" => "mv",
        _ => return None,
    })
}
