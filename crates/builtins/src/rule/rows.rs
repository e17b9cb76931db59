//! Files of data: one row a line, with a head and a body behind a colon.

/// Returns the head of each row, and its body with the lines that go on. A word that ends with `|` goes
/// on, too.
pub(super) fn rows(text: &'static str) -> Vec<(&'static str, String)> {
    let mut rows: Vec<(&str, String)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let (Some(more), Some((_, body))) = (line.strip_prefix("  "), rows.last_mut()) {
            if !body.ends_with('|') {
                body.push(' ');
            }
            body.push_str(more);
            continue;
        }
        let (head, body) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
        rows.push((head, body.to_owned()));
    }
    rows
}
