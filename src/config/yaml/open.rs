//! Which quote and brackets are open at a place of a text that is not valid YAML.

/// Returns the brackets, and at last the quote, that are open before `end`, in the order of the
/// text.
pub(super) fn at(text: &str, end: usize) -> Vec<usize> {
    let mut scan = Scan { bytes: &text.as_bytes()[..end], at: 0, open: Vec::new() };
    // Whether a value may begin: quotes and brackets inside of a plain text are part of it.
    let mut begins = true;
    while let Some(byte) = scan.bytes.get(scan.at).copied() {
        let after_space = scan.at == 0 || scan.bytes[scan.at - 1].is_ascii_whitespace();
        match byte {
            b'\n' => begins = true,
            b' ' | b'\t' | b'\r' => {}
            b'#' if after_space => scan.skip_line(),
            b'"' | b'\'' if begins => {
                if !scan.skip_quoted(byte) {
                    return scan.open;
                }
                begins = false;
            }
            b'|' | b'>' if begins && scan.open.is_empty() => scan.skip_block(),
            b'[' | b'{' if begins || !scan.open.is_empty() => {
                scan.open.push(scan.at);
                begins = true;
            }
            b']' | b'}' if !scan.open.is_empty() => {
                scan.open.pop();
                begins = false;
            }
            b',' if !scan.open.is_empty() => begins = true,
            b':' | b'-' | b'?' => {
                let next = scan.bytes.get(scan.at + 1);
                begins = next.is_none_or(u8::is_ascii_whitespace) || !scan.open.is_empty();
            }
            _ => begins = false,
        }
        scan.at += 1;
    }
    scan.open
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    open: Vec<usize>,
}

impl Scan<'_> {
    /// Goes to the last byte of the line.
    fn skip_line(&mut self) {
        self.at = self.line_end(self.at).saturating_sub(1);
    }

    /// Returns where the newline of the line is, or the end of the text.
    fn line_end(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
    }

    /// Goes to the closing quote; `false` when there is none.
    fn skip_quoted(&mut self, quote: u8) -> bool {
        let start = self.at;
        loop {
            self.at += 1;
            match self.bytes.get(self.at) {
                None => {
                    self.open.push(start);
                    return false;
                }
                Some(b'\\') if quote == b'"' => self.at += 1,
                Some(byte) if *byte == quote => {
                    if quote == b'"' || self.bytes.get(self.at + 1) != Some(&quote) {
                        return true;
                    }
                    self.at += 1;
                }
                Some(_) => {}
            }
        }
    }

    /// Goes to the end of a block scalar: to the last line that is indented more than its key.
    fn skip_block(&mut self) {
        let line = self.bytes[..self.at].rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let limit = indentation(line);
        let mut end = self.line_end(self.at);
        while end < self.bytes.len() {
            let next = &self.bytes[end + 1..self.line_end(end + 1)];
            if !next.trim_ascii().is_empty() && indentation(next) <= limit {
                break;
            }
            end = self.line_end(end + 1);
        }
        self.at = end.saturating_sub(1);
    }
}

fn indentation(line: &[u8]) -> usize {
    line.iter().take_while(|byte| **byte == b' ').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_found_behind_texts_that_only_look_so() {
        for (text, open) in [
            ("a: [b", &[3][..]),
            ("a: [b]", &[]),
            ("a: { b: [c, { d", &[3, 8, 12]),
            ("a: b[c\n- d{e", &[]),
            ("a: 'it''s ['\nb: [", &[16]),
            ("a: \"\\\" [\"\nb: {", &[13]),
            ("# [\na: b # {\nc: [", &[16]),
            ("a: |\n  [\n\n  '\nb: [", &[17]),
            ("- |\n  [", &[]),
            ("- >-\n  '\n- [", &[11]),
            ("a: 'b\n[", &[3]),
            ("[a, 'b", &[0, 4]),
        ] {
            assert_eq!(at(text, text.len()), open, "{text:?}");
        }
    }
}
