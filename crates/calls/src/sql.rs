//! Statements of SQL in a text for a client of a database.

/// Conditions that are always true, which is like none.
const ALWAYS: [&str; 4] = ["where true", "where 1", "where 1=1", "where 1 = 1"];

/// Returns the words of each statement, in small letters, without comments and the texts in quotes.
pub fn statements(text: &str) -> Vec<Vec<String>> {
    // What `printf` and `echo -e` put there.
    let text = text.replace("%s", " ").replace("\\n", "\n");
    let mut statements = Vec::new();
    for statement in without_comments(&text).to_lowercase().split(';') {
        let mut statement = statement.trim_end();
        for always in ALWAYS {
            statement = statement.strip_suffix(always).unwrap_or(statement);
        }
        let mut words = Vec::new();
        for word in statement.split(ends_word) {
            if !word.is_empty() {
                words.push(word.to_owned());
            }
        }
        if !words.is_empty() {
            statements.push(words);
        }
    }
    statements
}

fn ends_word(letter: char) -> bool {
    !letter.is_alphanumeric() && !"_.*$:".contains(letter)
}

/// Returns a text without its comments, the texts in its quotes, and the commands of a client.
fn without_comments(text: &str) -> String {
    let mut statements = String::new();
    // `sqlite3` has commands between statements.
    let mut is_between = true;
    for line in text.lines() {
        let begun = line.trim();
        if !(begun.starts_with('\\') || is_between && begun.starts_with('.')) {
            statements.push_str(line);
            statements.push('\n');
            is_between = begun.ends_with(';') || is_between && begun.is_empty();
        }
    }
    let mut plain = String::new();
    let mut rest = &*statements;
    while let Some(start) = rest.find(['-', '/', '\'']) {
        plain.push_str(&rest[..start]);
        rest = &rest[start..];
        let skipped = [("--", "\n"), ("/*!", ""), ("/*", "*/"), ("'", "'")];
        let Some((open, close)) = skipped.iter().find(|(open, _)| rest.starts_with(open)) else {
            plain.push_str(&rest[..1]);
            rest = &rest[1..];
            continue;
        };
        plain.push(' ');
        rest = &rest[open.len()..];
        rest = match rest.find(close) {
            Some(end) => &rest[end + close.len()..],
            None => "",
        };
    }
    plain + rest
}
