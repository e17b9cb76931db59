//! Commands and statements in the code of an interpreter: `os.system("rm x")`, `run(["git", "push"])`,
//! `shutil.rmtree("x")`, `db.execute("drop table x")`.

use hookexec_calls::shell::quoted;

include!(concat!(env!("OUT_DIR"), "/functions.rs"));

/// A row of the table of functions; its head describes the form.
struct Function {
    command: &'static str,
    /// The word without which a code does not mean these functions, or the interpreter.
    module: &'static str,
    names: &'static [&'static str],
}

/// The command of texts that are statements of SQL.
pub(super) const STATEMENT: &str = "sql";
/// The text behind the name of a function that is called without brackets: `unlink "x"`.
const ARGUMENTS: [&str; 6] = [" \"", " '", " $", " <", " @", " glob"];

/// Returns the texts that the code of an interpreter runs: of each the command before it, and the text.
pub(super) fn texts(interpreter: &str, code: &str) -> Vec<(&'static str, String)> {
    let mut texts = Vec::new();
    for Function { command, module, names } in FUNCTIONS {
        if code.contains(module) || interpreter == *module {
            for name in *names {
                add_calls(code, command, name, &mut texts);
            }
        }
    }
    // A line of a notebook for its shell.
    for line in code.lines() {
        if let Some(command) = line.trim_start().strip_prefix('!') {
            texts.push(("", command.to_owned()));
        }
    }
    texts
}

/// Adds the texts that a function is called with in code.
fn add_calls(
    code: &str,
    command: &'static str,
    function: &str,
    texts: &mut Vec<(&'static str, String)>,
) {
    for (at, _) in code.match_indices(function) {
        let behind = &code[at + function.len()..];
        // The end of another name.
        if code[..at].ends_with(is_in_name) && !function.starts_with('.') {
            continue;
        }
        let is_called = behind.trim_start().starts_with('(');
        if !is_called && !begins_argument(behind) {
            continue;
        }
        let words = words(behind);
        let is_text = matches!(command, "" | STATEMENT);
        let text = match &words[..] {
            [] if is_text => continue,
            // What it is called with is not known.
            [] => format!("$argument_of_{}", function.replace(|one| !is_in_name(one), "_")),
            [text] if is_text => text.clone(),
            words => {
                let mut line = Vec::new();
                for word in words {
                    line.push(argument(word));
                }
                line.join(" ")
            }
        };
        texts.push((command, text));
    }
}

fn begins_argument(text: &str) -> bool {
    for beginning in ARGUMENTS {
        if text.starts_with(beginning) {
            return true;
        }
    }
    false
}

/// Returns what a text begins with: a text in quotes, or a list of them.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    loop {
        let behind_plus = rest.trim_start().strip_prefix('+').filter(|_| !words.is_empty());
        rest = behind_plus.unwrap_or(rest).trim_start_matches([' ', '\n', '[', ',', '(']);
        let letters = rest.trim_start_matches(['f', 'F', 'r', 'R', 'b', 'B']);
        let is_format = rest[..rest.len() - letters.len()].contains(['f', 'F']);
        let mut quotes = ["\"\"\"", "'''", "\"", "'", "`"].into_iter();
        let quote = quotes.find(|quote| letters.starts_with(quote));
        let in_quotes = quote.and_then(|quote| letters[quote.len()..].split_once(quote));
        // Only the program knows what stands for `{name}`, and what is added.
        let mut word = String::from("${unknown}");
        if let Some((text, behind)) = in_quotes {
            word = if is_format { text.replace('{', "${") } else { text.to_owned() };
            rest = behind;
            if rest.starts_with(['.', '%']) || rest.starts_with(" %") {
                word.push_str("${unknown}");
            }
        }
        match words.last_mut() {
            Some(last) if behind_plus.is_some() => last.push_str(&word),
            _ if in_quotes.is_some() => words.push(word),
            _ => break,
        }
        if in_quotes.is_none() {
            break;
        }
    }
    words
}

/// Returns a word as a shell passes it on.
fn argument(word: &str) -> String {
    if word.contains('$') { format!("\"{word}\"") } else { quoted(word) }
}

fn is_in_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
