//! New records of a log, through the files that it begins meanwhile.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use hookexec::internal::audit::numbered;
use hookexec::internal::files::{digest, open_lock, open_regular};

use super::log::{LogLine, files, parse};

/// How far one file of the log was read.
///
/// A file is known by its first record: its name changes when a new file is begun, and the number
/// that a file system gives it may be given again.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    /// The digest of its first line.
    first: String,
    /// How many of its bytes were read.
    bytes: u64,
}

/// Follows a log.
#[derive(Debug)]
pub(crate) struct Follower {
    path: PathBuf,
    positions: Vec<Position>,
}

impl Follower {
    /// Follows the log at `path` from its end.
    ///
    /// # Errors
    /// When a file of the log can't be read.
    pub(crate) fn at_end(path: &Path) -> io::Result<Self> {
        let mut follower = Self { path: path.to_owned(), positions: Vec::new() };
        // A line that is not whole yet is news later.
        follower.read_on(|_| {})?;
        Ok(follower)
    }

    /// Reads the lines that were added since the last call.
    ///
    /// # Errors
    /// When a file of the log can't be read.
    pub(crate) fn next_lines(&mut self) -> io::Result<Vec<LogLine>> {
        let mut lines = Vec::new();
        self.read_on(|line| lines.extend(parse(line)))?;
        Ok(lines)
    }

    /// Calls `each` with every whole line that was not read yet.
    fn read_on(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let mut positions = Vec::new();
        for mut file in files_of(&self.path)? {
            let size = file.get_ref().metadata()?.len();
            let Some(first) = first_line(&mut file)? else { continue };
            let known = self.positions.iter().find(|position| position.first == first);
            let mut bytes = known.map_or(0, |position| position.bytes.min(size));
            file.seek(SeekFrom::Start(bytes))?;
            let mut line = Vec::new();
            loop {
                line.clear();
                let length = file.read_until(b'\n', &mut line)?;
                // The last line may still be in the making, or a crash cut it.
                if line.last() != Some(&b'\n') {
                    break;
                }
                bytes += length as u64;
                each(&line);
            }
            positions.push(Position { first, bytes });
        }
        self.positions = positions;
        Ok(())
    }
}

/// Opens all files while none of them is renamed.
fn files_of(path: &Path) -> io::Result<Vec<BufReader<File>>> {
    if files(path).is_err() {
        return Ok(Vec::new());
    }
    // Where only another user may write, the files are opened without the lock.
    let lock = open_lock(&numbered(path, "lock")).ok();
    if let Some(lock) = &lock {
        lock.lock()?;
    }
    files(path)?.iter().map(|file| Ok(BufReader::new(open_regular(file)?))).collect()
}

/// Returns the digest of the first line, or `None` when it is not whole yet.
fn first_line(file: &mut BufReader<File>) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    file.read_until(b'\n', &mut line)?;
    Ok((line.last() == Some(&b'\n')).then(|| digest(&line)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    struct Files(tempfile::TempDir);

    impl Files {
        fn path(&self) -> PathBuf {
            self.0.path().join("log")
        }

        fn append(&self, name: &str, text: &str) {
            let mut options = std::fs::OpenOptions::new();
            let mut file =
                options.append(true).create(true).open(self.0.path().join(name)).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        fn rename(&self, from: &str, to: &str) {
            std::fs::rename(self.0.path().join(from), self.0.path().join(to)).unwrap();
        }
    }

    /// Returns the sessions of what is new; `?` stands for a line that is not a record.
    fn news(follower: &mut Follower) -> Vec<String> {
        let session = |line: LogLine| line.map_or("?".to_owned(), |record| record.session);
        follower.next_lines().unwrap().into_iter().map(session).collect()
    }

    fn line(session: &str) -> String {
        format!(
            "{{\"v\":1,\"time\":\"2026-03-01T10:00:00.000Z\",\"event\":\"stop\",\
             \"session\":\"{session}\",\"decision\":null,\"allowed\":true,\"hooks\":[],\
             \"duration_ms\":0.0}}\n"
        )
    }

    #[test]
    fn each_record_comes_once_through_rotations_and_late_lines() {
        let files = Files(tempfile::tempdir().unwrap());
        let mut follower = Follower::at_end(&files.path()).unwrap();
        assert!(news(&mut follower).is_empty());
        files.append("log", &line("a"));
        let half = line("b");
        files.append("log", &half[..20]);
        assert_eq!(news(&mut follower), ["a"], "half a line waits");
        files.append("log", &half[20..]);
        files.rename("log", "log.1");
        files.append("log", &line("c"));
        assert_eq!(news(&mut follower), ["b", "c"]);
        // A process had opened the file before it was renamed.
        files.append("log.1", &(line("late") + "not a record\n"));
        assert_eq!(news(&mut follower), ["late", "?"]);
        assert!(news(&mut follower).is_empty());
    }

    #[test]
    fn from_the_end_on_only_what_is_added_comes() {
        let files = Files(tempfile::tempdir().unwrap());
        files.append("log", &line("old"));
        let second = line("b");
        files.append("log", &second[..10]);
        let mut follower = Follower::at_end(&files.path()).unwrap();
        assert!(news(&mut follower).is_empty());
        files.append("log", &second[10..]);
        files.rename("log", "log.1");
        files.append("log", &line("c"));
        assert_eq!(news(&mut follower), ["b", "c"]);
    }

    #[test]
    fn a_file_that_takes_the_place_of_another_is_read_from_its_beginning() {
        let files = Files(tempfile::tempdir().unwrap());
        files.append("log", &line("a"));
        let mut follower = Follower::at_end(&files.path()).unwrap();
        std::fs::remove_file(files.path()).unwrap();
        files.append("log", &line("c"));
        assert_eq!(news(&mut follower), ["c"]);
    }
}
