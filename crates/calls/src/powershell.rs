//! Texts for PowerShell. One of plain words is read; of every other one only the words count.

use super::command::{Frame, Hidden, SimpleCommand, Word, are_known, line_of};
use super::names::{POWERSHELL_OTHERS, POWERSHELL_RUNNERS};
use super::reader::Found;

/// Letters beside those of words that PowerShell and a POSIX shell read alike, once `\` is `/` and a comma
/// is a blank.
const PLAIN: &str = " \n_-./,:;|&>'\"*?=+~#";

impl Found {
    /// Adds the commands of a text, each also behind `powershell`, which runs it. Returns the words of a text
    /// that is not read.
    pub(super) fn powershell(&mut self, text: &str, outer: &Frame) -> Hidden {
        let start = self.commands.len();
        let frame = outer.within("powershell");
        let posix = text.replace("\r\n", "\n").replace('\\', "/");
        let is_plain =
            !posix.contains(|one: char| !one.is_ascii_alphanumeric() && !PLAIN.contains(one));
        let is_read = is_plain && self.text_of_other_shell(&posix.replace(',', " "), &frame);
        let read = self.commands.split_off(start);
        if !is_read || read.iter().any(reads_otherwise) {
            return Hidden::words_in(&format!("powershell {posix}"));
        }
        for command in read {
            if let Some(program) = equal_program(&command.program()) {
                let mut equal = command.clone();
                equal.words[0] = Word::known(program);
                self.commands.push(equal);
            }
            if command.frame.wrappers == frame.wrappers {
                let words = [&[Word::known("powershell")], &*command.words].concat();
                // It may know a function or an alias of this name: nothing is allowed for certain.
                let mut whole = SimpleCommand { words, is_certain: false, ..command.clone() };
                whole.frame.wrappers.clone_from(&outer.wrappers);
                self.commands.push(whole);
            }
            self.commands.push(command);
        }
        Hidden::Nothing
    }

    /// Adds the commands of the text behind `-Command` of PowerShell. Returns `None` if there is none, or if it
    /// stands in the input.
    pub(super) fn behind_powershell(&mut self, words: &[Word], frame: &Frame) -> Option<Hidden> {
        if !matches!(frame.program(), "powershell" | "pwsh") || !are_known(words) {
            return None;
        }
        let at = words.iter().position(is_option_for_text)?;
        let text = line_of(&words[at + 1..]);
        if text == "-" { None } else { Some(self.powershell(&text, frame)) }
    }
}

/// Returns whether the words of a command mean something else to PowerShell.
fn reads_otherwise(command: &SimpleCommand) -> bool {
    let program = &*command.program();
    POWERSHELL_RUNNERS.contains(&program) || POWERSHELL_OTHERS.contains(&program)
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

/// Returns whether a word is `-Command` or a beginning of it. All words behind it are the text.
fn is_option_for_text(word: &Word) -> bool {
    let option = word.text.to_ascii_lowercase();
    option.len() > 1 && "-command".starts_with(&option)
}
