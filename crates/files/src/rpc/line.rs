//! Lines out of a stream of bytes, none of them longer than allowed.
//!
//! Nothing here waits or reads: bytes go in, lines come out.

use crate::json::trimmed;

/// One line, without its end, a byte order mark and the white space around it.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line that is not blank.
    Text(&'a [u8]),
    /// The beginning of a line that is longer than allowed; the rest of it is thrown away.
    Oversized(&'a [u8]),
}

/// Cuts a stream into lines. After a line that is too long it finds the next one again.
#[derive(Debug)]
pub struct LineDecoder {
    /// The line that has begun and has not ended.
    partial: Vec<u8>,
    max: usize,
    /// Whether the line that has begun was already found to be too long.
    skipping: bool,
}

impl LineDecoder {
    /// Returns a decoder of lines of at most `max` bytes.
    pub const fn new(max: usize) -> Self {
        Self { partial: Vec::new(), max, skipping: false }
    }

    /// Takes the next bytes of the stream and hands over every line that ends in them.
    ///
    /// A line that is too long is reported as soon as that is certain, not when it ends: it may
    /// never end.
    pub fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let line = piece.strip_suffix(b"\n");
            if !self.skipping {
                self.extend(line.unwrap_or(piece), &mut take);
            }
            if line.is_some() {
                self.finish(&mut take);
            }
        }
    }

    /// Ends the line that has begun: hands it over, unless it was too long.
    pub fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        let line = trimmed(&self.partial);
        if !line.is_empty() {
            take(Line::Text(line));
        }
        self.clear();
        self.skipping = false;
    }

    fn extend(&mut self, bytes: &[u8], take: &mut impl FnMut(Line<'_>)) {
        if self.partial.len() + bytes.len() <= self.max {
            self.partial.extend_from_slice(bytes);
            return;
        }
        // Enough to find out which call it answers.
        let kept = self.max.min(4096);
        let missing = kept.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..missing]);
        take(Line::Oversized(trimmed(&self.partial[..kept.min(self.partial.len())])));
        self.clear();
        self.skipping = true;
    }

    /// Empties the decoder; the memory of one huge line is not kept for ever.
    fn clear(&mut self) {
        self.partial.clear();
        // Room for the next line.
        self.partial.shrink_to(64 << 10);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(max: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut decoder = LineDecoder::new(max);
        let mut lines = Vec::new();
        let mut take = |line: Line<'_>| {
            lines.push(match line {
                Line::Text(text) => String::from_utf8_lossy(text).into_owned(),
                Line::Oversized(start) => format!("!{}", String::from_utf8_lossy(start)),
            });
        };
        for chunk in chunks {
            decoder.feed(chunk, &mut take);
        }
        decoder.finish(&mut take);
        lines
    }

    #[test]
    fn lines_come_out_whatever_the_pieces() {
        assert_eq!(decode(10, &[b"a\nb", b"c\n", b"", b"d"]), ["a", "bc", "d"]);
    }

    #[test]
    fn carriage_returns_blank_lines_and_byte_order_marks_are_nothing() {
        assert_eq!(decode(10, &[b"\xef\xbb\xbfa\r\n\r\n  \n\xef\xbb\xbf b \n"]), ["a", "b"]);
    }

    #[test]
    fn the_limit_itself_is_not_too_long() {
        assert_eq!(decode(3, &[b"abc\nabcd\nabc\n"]), ["abc", "!abc", "abc"]);
        assert_eq!(
            decode(3, &[b"ab", b"c", b"\nab", b"cd", b"ef\n", b"x\n"]),
            ["abc", "!abc", "x"]
        );
    }

    #[test]
    fn a_line_that_never_ends_is_reported_once_and_costs_no_memory() {
        let mut decoder = LineDecoder::new(100_000);
        let mut reports = 0;
        for _ in 0..1000 {
            decoder.feed(&[b'x'; 10_000], |line| {
                assert_eq!(line, Line::Oversized(&[b'x'; 4096]));
                reports += 1;
            });
            assert!(decoder.partial.capacity() <= 2 * 100_000);
        }
        assert_eq!(reports, 1);
        let mut lines = Vec::new();
        decoder.feed(b"y\nz\n", |line| lines.push(format!("{line:?}")));
        assert_eq!(lines, [format!("{:?}", Line::Text(b"z"))]);
        assert!(decoder.partial.capacity() <= 64 << 10);
    }

    proptest! {
        #[test]
        fn cutting_the_stream_elsewhere_changes_nothing(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(0usize..200, 0..8),
            max in 1usize..20,
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts {
                chunks.push(&bytes[from..cut]);
                from = cut;
            }
            chunks.push(&bytes[from..]);
            prop_assert_eq!(decode(max, &chunks), decode(max, &[&bytes[..]]));
        }
    }
}
