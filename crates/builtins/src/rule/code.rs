//! Commands and statements in the code of an interpreter: `os.system("rm x")`, `run(["git", "push"])`,
//! `db.execute("drop table x")`.

use crate::shell::quoted;

/// Functions that run a command.
const SHELLS: [&str; 14] = [
    "system",
    "popen",
    "Popen",
    "execSync",
    "execFileSync",
    "check_call",
    "check_output",
    "spawnSync",
    "shell_exec",
    "passthru",
    "getoutput",
    "getstatusoutput",
    "create_subprocess_shell",
    "proc_open",
];
/// Functions that run a command if the code uses one of [`MODULES`]: `subprocess.run`.
const OF_MODULES: [&str; 5] = ["exec", "execFile", "run", "call", "spawn"];
const MODULES: [&str; 2] = ["subprocess", "child_process"];
/// Functions that run statements of SQL.
pub(super) const DATABASES: [&str; 5] =
    ["execute", "executescript", "query", "raw", "executeRawUnsafe"];

/// Returns the commands that functions in code are called with, as far as they stand in quotes.
pub(super) fn shell_texts(code: &str) -> Vec<String> {
    let mut texts = texts_of_calls(code, &SHELLS);
    if MODULES.iter().any(|module| code.contains(module)) {
        texts.extend(texts_of_calls(code, &OF_MODULES));
    }
    texts
}

/// Returns the texts in quotes that these functions are called with in code.
pub(super) fn texts_of_calls(code: &str, functions: &[&str]) -> Vec<String> {
    let mut texts = Vec::new();
    for (at, _) in code.match_indices('(') {
        let before = code[..at].trim_end();
        let start = before.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let name = &before[start.map_or(0, |at| at + 1)..];
        if functions.contains(&name) {
            texts.extend(words(&code[at + 1..]));
        }
    }
    texts
}

/// Returns what a text begins with: a text in quotes, or a list of words in quotes.
fn words(text: &str) -> Option<String> {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\n', '[', ',', '(']);
        let letters = rest.trim_start_matches(['f', 'F', 'r', 'R', 'b', 'B']);
        let is_format = rest[..rest.len() - letters.len()].contains(['f', 'F']);
        let mut quotes = ["\"\"\"", "'''", "\"", "'", "`"].into_iter();
        let Some(quote) = quotes.find(|quote| letters.starts_with(quote)) else { break };
        let Some((word, behind)) = letters[quote.len()..].split_once(quote) else { break };
        // Only the program knows what stands for `{name}`.
        words.push(if is_format { word.replace('{', "${") } else { word.to_owned() });
        rest = behind;
    }
    match &words[..] {
        [] => None,
        [text] => Some(text.clone()),
        words => {
            let words: Vec<String> = words.iter().map(|word| argument(word)).collect();
            Some(words.join(" "))
        }
    }
}

/// Returns a word as a shell passes it on.
fn argument(word: &str) -> String {
    if word.contains("${") { format!("\"{word}\"") } else { quoted(word) }
}
