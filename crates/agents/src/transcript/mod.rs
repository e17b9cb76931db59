//! Transcripts: what an agent wrote down of its own sessions, read into the calls that hookexec would
//! have seen.
//!
//! The formats are those that the clients of the measured versions wrote.

mod formats;
mod session;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use hookexec_files::directories::base_directory;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::payload::PayloadError;
use super::{Agent, AgentInputError, NativeCall, payload};
pub use session::SeenCalls;
use session::Session;

/// The longest line of a transcript that is read, in bytes.
const LONGEST_LINE: u64 = 16 << 20;

/// Where an agent keeps its transcripts, and how they are read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Transcripts {
    /// The directory of transcripts in that of the agent.
    within: &'static str,
    /// The endings of their names.
    endings: Vec<&'static str>,
    /// Whether the agent's own program has to print them.
    #[serde(default)]
    pub is_database: bool,
    /// A line that counts has one of these texts.
    marks: Vec<String>,
    /// The agent's event before a call.
    before: &'static str,
}

/// One thing that is found in a transcript.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "each caller handles both")]
pub enum Found {
    /// The moment before a call, or after it.
    Call {
        /// When it was, as RFC 3339 in UTC.
        time: String,
        /// The call as `run --from` reads it, or why it can't be used.
        call: Result<Box<NativeCall>, AgentInputError>,
    },
    /// A line that can't be read.
    Broken {
        /// Its number, from 1.
        line: usize,
        /// The problem.
        why: String,
    },
}

/// Facts about a transcript that was read.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Transcript {
    /// The version of the agent that wrote it, where it says so.
    pub version: Option<String>,
    /// Whether a line had a shape that is known.
    pub is_known: bool,
}

impl Transcripts {
    /// Returns the directory of the transcripts of `agent`; `None` without a home directory.
    pub fn directory(&self, agent: Agent) -> Option<PathBuf> {
        let directory = match agent.settings() {
            Some(_) => agent.place()?.user_directory()?,
            None => base_directory("XDG_DATA_HOME", ".local/share")?,
        };
        Some(directory.join(self.within))
    }

    /// Returns the transcripts of `agent` that were written to since `since`, the newest first.
    ///
    /// # Errors
    /// When a directory can't be read.
    pub fn files(&self, agent: Agent, since: SystemTime) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        // How deep the directories are searched.
        let deepest = if self.is_database { 0 } else { 6 };
        if let Some(directory) = self.directory(agent)
            && directory.is_dir()
        {
            self.search(&directory, since, deepest, &mut files)?;
        }
        files.sort();
        Ok(files.into_iter().rev().map(|(_, path)| path).collect())
    }

    fn search(
        &self,
        directory: &Path,
        since: SystemTime,
        depth: usize,
        files: &mut Vec<(SystemTime, PathBuf)>,
    ) -> io::Result<()> {
        let entries = fs::read_dir(directory).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", directory.display()))
        })?;
        for entry in entries {
            let entry = entry?;
            // The agent may take a file away meanwhile.
            let Ok(metadata) = entry.metadata() else { continue };
            let path = entry.path();
            if metadata.is_dir() && depth > 0 {
                self.search(&path, since, depth - 1, files)?;
            }
            let name = entry.file_name();
            let is_transcript =
                self.endings.iter().any(|ending| name.to_string_lossy().ends_with(ending));
            // A database is written to later, from a file beside it.
            let modified = metadata.modified()?;
            let is_new = self.is_database || modified >= since;
            if metadata.is_file() && is_transcript && is_new {
                files.push((modified, path));
            }
        }
        Ok(())
    }

    /// Reads a transcript of `agent`, and calls `each` with the calls that `seen` does not hold yet and
    /// that were made since `since`, a time as RFC 3339 in UTC. Stops at `until`.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn read(
        &self,
        agent: Agent,
        path: &Path,
        since: &str,
        seen: &SeenCalls,
        until: Option<Instant>,
        mut each: impl FnMut(Found),
    ) -> io::Result<Transcript> {
        let file = if self.is_database { formats::print(path, since)? } else { File::open(path)? };
        let take = match agent {
            Agent::ClaudeCode => formats::take_claude_code,
            Agent::Codex => formats::take_codex,
            Agent::Gemini => formats::take_gemini,
            _ => formats::take_opencode,
        };
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut session = Session {
            agent,
            before: self.before,
            path,
            since,
            seen,
            each: &mut each,
            id: String::new(),
            cwd: String::new(),
            project: String::new(),
            time: String::new(),
            transcript: Transcript::default(),
            held: HashMap::new(),
            waiting: HashMap::new(),
        };
        // No JSON has a zero byte: a file of one object is one line.
        let is_one = path.extension().is_some_and(|extension| extension == "json");
        let (end, mut bytes) = (if is_one { 0 } else { b'\n' }, Vec::new());
        for line in 1.. {
            if until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            bytes.clear();
            (&mut reader).take(LONGEST_LINE + 1).read_until(end, &mut bytes)?;
            if bytes.is_empty() {
                break;
            }
            if bytes.len() as u64 > LONGEST_LINE {
                reader.skip_until(end)?;
                let why = format!("it is longer than {} MiB", LONGEST_LINE >> 20);
                (session.each)(Found::Broken { line, why });
                continue;
            }
            match self.parse(&bytes) {
                Ok(Some(value)) => take(&value, &mut session),
                Ok(None) => {}
                Err(why) => (session.each)(Found::Broken { line, why }),
            }
        }
        Ok(session.transcript)
    }

    /// Reads a line; `None` if it is JSON that does not count.
    fn parse(&self, bytes: &[u8]) -> Result<Option<Value>, String> {
        let text = payload::text_of(bytes);
        if text.trim().is_empty() {
            return Ok(None);
        }
        if self.marks.iter().any(|mark| text.contains(mark)) {
            return match payload::parse(bytes) {
                Ok(object) => Ok(Some(Value::Object(object))),
                Err(PayloadError::NotJson(error)) => Err(error.to_string()),
                Err(error) => Err(error.to_string()),
            };
        }
        match serde_json::from_str::<IgnoredAny>(&text) {
            Ok(_) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}
