//! Which files a shell text only writes to: they change with each run.

/// Returns a text without the files that it only writes to (`>> tools.log`), quotes aside.
pub(super) fn without_written(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for at in redirections(text) {
        let before = &text[from..at];
        kept.push_str(before);
        kept.push(' ');
        let mut rest = text[at..].trim_start_matches('>');
        // `<>` opens for both.
        if !before.ends_with('<') {
            let target = rest.trim_start_matches([' ', '\t', '|']);
            // What stands in a target to be run, or escaped, is kept.
            let ends = |letter: char| letter.is_whitespace() || ";|&()<>`\\".contains(letter);
            let (dropped, after) = target.split_at(target.find(ends).unwrap_or(target.len()));
            kept.extend(dropped.matches(['"', '\'']));
            rest = after;
        }
        from = text.len() - rest.len();
    }
    kept.push_str(&text[from..]);
    kept
}

/// Returns where a shell text redirects output for certain. A `>` in quotes may be another language's,
/// as are `=>` and `->`; behind what can't be followed here, none is certain.
fn redirections(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // What closes the quotes that are open, and the commands in them.
    let mut open: Vec<char> = Vec::new();
    let (mut before, mut document) = ('\n', false);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match (open.last(), letter) {
            (Some(close), _) if letter == *close => drop(open.pop()),
            (Some('\''), _) => {}
            (_, '\\') => drop(letters.next()),
            (Some('"'), '(') if before != '$' => {}
            (Some(_), '(') => open.push(')'),
            (Some(_), '`') | (_, '"') => open.push(letter),
            (Some('"'), _) => {}
            // `$'it\'s'`
            (_, '\'') if before == '$' => break,
            (_, '\'') => open.push(letter),
            (_, '#') if " \t\n;|&()".contains(before) => {
                while letters.next_if(|(_, letter)| *letter != '\n').is_some() {}
            }
            (_, '<') if before != '<' && text[at..].starts_with("<<") => {
                document |= !text[at..].starts_with("<<<");
            }
            (_, '\n') if document => break,
            (None, '>') if !"=->".contains(before) => found.push(at),
            _ => {}
        }
        before = letter;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_written_to_are_not_named() {
        for (text, kept) in [
            ("sh ./a.sh >> out.log; ./b.sh", "sh ./a.sh  ; ./b.sh"),
            ("x 2>err.log <in.txt", "x 2  <in.txt"),
            ("echo x >log", "echo x  "),
            ("sh <> ./check.sh", "sh <  ./check.sh"),
            ("x 2>&1 ./y", "x 2 &1 ./y"),
            ("jq '.a > 1' >> 'out.log'", "jq '.a > 1'  ''"),
            (r#"echo "$(date "+%F") x" >> out.log"#, r#"echo "$(date "+%F") x"  "#),
            ("# don't\necho x >log", "# don't\necho x  "),
            ("tee <<< it >log\nx >log", "tee <<< it  \nx  "),
            ("cat <<E >log\nx\nE", "cat <<E  \nx\nE"),
        ] {
            assert_eq!(without_written(text), kept);
        }
    }

    #[test]
    fn what_may_not_be_written_to_is_named() {
        for text in [
            r#"perl -e "%h=(a=>\"./guard.pl\"); do \$h{a}""#,
            "ruby -e 'load({:a=>\"./guard.rb\"}[:a])'",
            "perl -e $x->./guard.pl",
            "echo '1>./other.sh' | sh",
            "echo 1\\>./other.sh",
            r#"x "$(perl -e "1 >'./guard'")""#,
            r#"x "`perl -e "1 >'./guard'"`""#,
            "# don't\nx '1>./other.sh'",
            "x\u{a0}#'\n1>./other.sh'",
            "x $'\\'' '1>./other.sh'",
            "cat <<E\nit's\nE\nx '1>./other.sh'",
        ] {
            assert_eq!(without_written(text), text);
        }
        assert_eq!(without_written("sh >\u{a0} ./check.sh"), "sh  \u{a0} ./check.sh");
        assert_eq!(without_written("x >\"a b\" '1>./y'"), "x  \" b\" '1>./y'");
        assert_eq!(without_written("x >`./y` >$(./z)"), "x  `./y`  (./z)");
    }
}
