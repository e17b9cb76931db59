//! Commands in the code of an interpreter: `os.system("rm x")`, `run(["git", "push"])`.

use crate::shell::quoted;

/// Functions that run a command.
const FUNCTIONS: [&str; 15] = [
    "system", "popen", "Popen", "exec", "execSync", "execFileSync", "run", "call", "check_call",
    "check_output", "spawn", "spawnSync", "shell_exec", "passthru", "getoutput",
];

/// Returns the commands that functions in code are called with, as far as they stand in quotes.
pub(super) fn shell_texts(code: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for (at, _) in code.match_indices('(') {
        let before = code[..at].trim_end();
        let start = before.rfind(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let name = &before[start.map_or(0, |at| at + 1)..];
        if FUNCTIONS.contains(&name) {
            texts.extend(command(&code[at + 1..]));
        }
    }
    texts
}

/// Returns the command that a text begins with: a text in quotes, or a list of words in quotes.
fn command(text: &str) -> Option<String> {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\n', '[', ',', '(']);
        let letters = rest.trim_start_matches(['f', 'F']);
        let is_format = letters.len() < rest.len();
        let Some(quote) = letters.chars().next().filter(|letter| "\"'`".contains(*letter)) else {
            break;
        };
        let Some((word, behind)) = letters[1..].split_once(quote) else { break };
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
