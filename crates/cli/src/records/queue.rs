//! The files of a log as a queue: which of their bytes are taken, and which come next.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::Path;

use hookexec::internal::audit::{Record, numbered};
use hookexec::internal::files::{digest, open_lock, open_regular};
use serde::{Deserialize, Serialize};

use super::log::{files, parse};

/// The most records of one request, as in the SDKs of OpenTelemetry.
const MOST_RECORDS: usize = 512;
/// From this many bytes of records on a request is sent; a record has at most 64 KiB.
const MOST_BYTES: u64 = 1 << 20;

/// How far one file of the log is shipped.
///
/// A file is known by its first record: its name changes when a new file is begun, and the number
/// that a file system gives it may be given again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The digest of its first line.
    first: String,
    /// How many of its bytes are shipped.
    shipped: u64,
    /// How many bytes it had when it was last looked at.
    size: u64,
}

/// A record on its way.
#[derive(Debug, Clone)]
pub(crate) struct Parcel {
    /// The same each time that the record is sent: a digest of its line and its place in the file.
    pub(crate) id: String,
    pub(crate) record: Box<Record>,
}

/// What is sent at once.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) parcels: Vec<Parcel>,
    /// How many lines are not records.
    pub(crate) unreadable: usize,
    /// Where the queue stands after it.
    pub(crate) positions: Vec<Position>,
}

/// What the log lost before it was shipped.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Loss {
    /// How many bytes that were seen, at least.
    pub(crate) bytes: u64,
    /// Whether no file is left of those that were known, so that others may have come and gone.
    pub(crate) gap: bool,
}

/// The open files of a log, oldest first.
#[derive(Debug)]
pub(crate) struct Queue {
    files: Vec<(Position, BufReader<File>)>,
    pub(crate) loss: Loss,
}

impl Queue {
    /// Opens the files of the log at `path`, of which `known` is shipped.
    pub(crate) fn open(path: &Path, known: &[Position]) -> io::Result<Self> {
        let mut files = Vec::new();
        for mut file in files_of(path)? {
            let size = file.get_ref().metadata()?.len();
            let Some(first) = first_line(&mut file)? else { continue };
            let known = known.iter().find(|position| position.first == first);
            let shipped = known.map_or(0, |position| position.shipped.min(size));
            file.seek(SeekFrom::Start(shipped))?;
            files.push((Position { first, shipped, size }, file));
        }
        let is_left = |position: &&Position| files.iter().any(|(it, _)| it.first == position.first);
        let (left, gone): (Vec<_>, Vec<_>) = known.iter().partition(is_left);
        let bytes =
            gone.iter().map(|position| position.size.saturating_sub(position.shipped)).sum();
        let gap = left.is_empty() && !known.is_empty() && !files.is_empty();
        Ok(Self { files, loss: Loss { bytes, gap } })
    }

    /// Returns where the queue stands.
    pub(crate) fn positions(&self) -> Vec<Position> {
        self.files.iter().map(|(position, _)| position.clone()).collect()
    }

    /// Returns where a queue stands that takes only what is added from now on.
    pub(crate) fn at_end(&self) -> Vec<Position> {
        let end = |position: Position| Position { shipped: position.size, ..position };
        self.positions().into_iter().map(end).collect()
    }

    /// Returns the next lines; an empty batch when all are shipped.
    pub(crate) fn next(&mut self) -> io::Result<Batch> {
        let (mut batch, mut bytes) = (Batch::default(), 0);
        let mut line = Vec::new();
        for (position, file) in &mut self.files {
            while batch.parcels.len() < MOST_RECORDS && bytes < MOST_BYTES {
                line.clear();
                let length = file.read_until(b'\n', &mut line)? as u64;
                if line.last() != Some(&b'\n') {
                    // A record that is being written, or was cut by a crash.
                    file.seek_relative(-i64::try_from(length).unwrap_or_default())?;
                    break;
                }
                let place = position.shipped;
                position.shipped += length;
                position.size = position.size.max(position.shipped);
                bytes += length;
                for found in parse(&line) {
                    match found {
                        Some(record) => {
                            let id = digest(&[&place.to_be_bytes(), &*line].concat());
                            batch.parcels.push(Parcel { id: id[..32].to_owned(), record });
                        }
                        None => batch.unreadable += 1,
                    }
                }
            }
        }
        batch.positions = self.positions();
        Ok(batch)
    }
}

/// Returns how many bytes are not shipped yet.
pub(crate) fn waiting(positions: &[Position]) -> u64 {
    positions.iter().map(|position| position.size.saturating_sub(position.shipped)).sum()
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
    use std::path::PathBuf;

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

        /// Returns the sessions of what is new, the positions after it, and what was lost.
        fn pass(&self, known: &[Position]) -> (Vec<String>, Vec<Position>, Loss) {
            let mut queue = Queue::open(&self.path(), known).unwrap();
            let batch = queue.next().unwrap();
            let sessions = batch.parcels.iter().map(|parcel| parcel.record.session.clone());
            (sessions.collect(), batch.positions, queue.loss)
        }
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
        let (found, known, _) = files.pass(&[]);
        assert_eq!((found.len(), known.len()), (0, 0));
        files.append("log", &line("a"));
        let half = line("b");
        files.append("log", &half[..20]);
        let (found, known, _) = files.pass(&known);
        assert_eq!(found, ["a"], "half a line waits");
        files.append("log", &half[20..]);
        files.rename("log", "log.1");
        files.append("log", &line("c"));
        let (found, known, loss) = files.pass(&known);
        assert_eq!((found, loss), (vec!["b".to_owned(), "c".to_owned()], Loss::default()));
        // A process had opened the file before it was renamed.
        files.append("log.1", &line("late"));
        let (found, known, _) = files.pass(&known);
        assert_eq!(found, ["late"]);
        assert_eq!(waiting(&known), 0);
    }

    #[test]
    fn from_the_end_on_only_what_is_added_comes() {
        let files = Files(tempfile::tempdir().unwrap());
        files.append("log", &line("old"));
        let known = Queue::open(&files.path(), &[]).unwrap().at_end();
        let second = line("b");
        files.append("log", &line("a"));
        files.append("log", &second[..10]);
        let (found, known, _) = files.pass(&known);
        assert_eq!(found, ["a"]);
        files.append("log", &second[10..]);
        files.rename("log", "log.1");
        files.append("log", &line("c"));
        let (found, known, _) = files.pass(&known);
        assert_eq!(found, ["b", "c"]);
        assert!(files.pass(&known).0.is_empty());
    }

    #[test]
    fn what_is_removed_before_it_is_shipped_is_counted() {
        let files = Files(tempfile::tempdir().unwrap());
        files.append("log", &line("a"));
        let (_, known, _) = files.pass(&[]);
        files.append("log", &line("b"));
        let seen = Queue::open(&files.path(), &known).unwrap().positions();
        let unshipped = line("b").len() as u64;
        assert_eq!(waiting(&seen), unshipped);
        std::fs::remove_file(files.path()).unwrap();
        files.append("log", &line("c"));
        let (found, _, loss) = files.pass(&seen);
        assert_eq!((found, loss), (vec!["c".to_owned()], Loss { bytes: unshipped, gap: true }));
    }

    #[test]
    fn ids_are_the_same_each_time_and_differ_for_equal_lines() {
        let files = Files(tempfile::tempdir().unwrap());
        files.append("log", &(line("a") + "not a record\n" + &line("a")));
        let ids = || {
            let batch = Queue::open(&files.path(), &[]).unwrap().next().unwrap();
            assert_eq!(batch.unreadable, 1);
            batch.parcels.into_iter().map(|parcel| parcel.id).collect::<Vec<_>>()
        };
        let first = ids();
        assert_ne!(first[0], first[1]);
        files.rename("log", "log.1");
        files.append("log", &line("b"));
        assert_eq!(ids()[..2], first);
    }
}
