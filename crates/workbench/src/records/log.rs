//! Reads the decision log.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use hookexec_project::log::{BEGINNING, Record, numbered};

/// A record; `None` for a line that is not one: it was cut, or another program wrote it.
pub type LogLine = Option<Box<Record>>;

/// Returns the files of the log at `path` with the full files that were kept, oldest first.
///
/// # Errors
/// When there is none.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    // The most full files that are looked for.
    for number in 1..=100 {
        let file = numbered(path, &number.to_string());
        if !file.exists() {
            break;
        }
        files.push(file);
    }
    files.reverse();
    if path.exists() {
        files.push(path.to_owned());
    }
    if files.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the file does not exist"));
    }
    Ok(files)
}

/// The name of the log that stdin is.
pub const STDIN: &str = "-";

/// Reads the log at `path`, or on stdin, line after line, and calls `each` with it.
///
/// # Errors
/// When there is none, or a file can't be read.
pub fn read(path: &Path, mut each: impl FnMut(LogLine)) -> io::Result<()> {
    if path == Path::new(STDIN) {
        return read_lines(io::stdin().lock(), &mut each);
    }
    for file in files(path)? {
        read_lines(BufReader::new(File::open(file)?), &mut each)?;
    }
    Ok(())
}

fn read_lines(lines: impl io::BufRead, each: &mut impl FnMut(LogLine)) -> io::Result<()> {
    for line in lines.split(b'\n') {
        for found in parse(&line?) {
            each(found);
        }
    }
    Ok(())
}

/// Reads a line: a record, or one that was cut and perhaps another that was appended to it.
fn parse(bytes: &[u8]) -> Vec<LogLine> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    if let Ok(record) = serde_json::from_str(text) {
        return vec![Some(Box::new(record))];
    }
    let mut found = vec![None];
    if let Some(place) = text.rfind(BEGINNING).filter(|place| *place > 0)
        && let Ok(record) = serde_json::from_str(&text[place..])
    {
        found.push(Some(Box::new(record)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookexec::Event;
    use hookexec::wire::{Input, Verdict};
    use hookexec_builtins::builtins::secrets::Redactor;

    fn line(session: &str) -> String {
        let input = Input::default().with_session(session);
        let verdict = Verdict::no_opinion(Event::Stop);
        let time = "2026-03-01T10:00:00.000Z".to_owned();
        let record = Record::new(time, &input, &verdict, 0.0);
        String::from_utf8(record.line(&Redactor::default()).unwrap()).unwrap()
    }

    fn sessions(found: &[LogLine]) -> Vec<&str> {
        found
            .iter()
            .map(|line| line.as_ref().map_or("?", |record| record.session.as_str()))
            .collect()
    }

    #[test]
    fn a_record_that_was_cut_costs_itself_alone() {
        let (first, second) = (line("a"), line("b"));
        let cut = &first[..first.len() / 2];
        let glued = parse(format!("{cut}{second}").as_bytes());
        assert_eq!(sessions(&glued), ["?", "b"]);
        assert_eq!(sessions(&parse(cut.as_bytes())), ["?"]);
        assert_eq!(sessions(&parse(second.as_bytes())), ["b"]);
        assert!(parse(b"\n").is_empty());
    }
}
