//! A hooks file and the scripts it names, as one thing to approve.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use super::named::{Named, Places, named};
use crate::config::{Config, SourceFile};

/// How many bytes the files of a bundle may have together.
const MAX_BYTES: u64 = 64 << 20;
/// How many files a bundle may have.
const MAX_FILES: usize = 1_000;

/// One file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleFile {
    /// Its path from the root of the project; `hooks.yaml` itself has its file name.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub digest: String,
}

/// A hooks file and the scripts that it names, as they are now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bundle {
    /// The hooks file.
    pub path: PathBuf,
    /// Where its hooks run.
    pub working_dir: PathBuf,
    /// The hooks file and its scripts, each once.
    pub files: Vec<BundleFile>,
    /// Programs that its commands call by a bare name, and words that only a shell can tell: what
    /// these run or read of the project is not part of the bundle.
    pub uncovered: Vec<String>,
    /// Where its words lead, links not followed.
    pub(crate) places: Vec<PathBuf>,
    digest: String,
}

impl Bundle {
    /// Returns the hooks file `source` with every file of the project that `config`, which was read
    /// from it, names, when its hooks run in `working_dir`.
    ///
    /// A file is named by a word of a command, of an argument, of a value of `env`, also inside of
    /// quotes, that leads to it from where the hook runs, from the root of the project, from beside the
    /// hooks file, or from a directory that another word names. What a script itself loads is not
    /// followed.
    ///
    /// # Errors
    /// When a script can't be read, or when they are too many or too large together.
    pub fn read(source: &SourceFile, config: &Config, working_dir: &Path) -> io::Result<Self> {
        let places = Places::new(&source.path, working_dir);
        let found = named(&config.hooks, config.processes.values(), &places)?;
        let own = source.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own_digest: [u8; 32] = Sha256::digest(&source.text).into();
        let mut files = vec![BundleFile {
            name: own,
            path: source.path.clone(),
            digest: hexadecimal(&own_digest),
        }];
        let mut hasher = Sha256::new();
        hasher.update(b"hookexec bundle 2\n");
        hasher.update(own_digest);
        let mut left = MAX_BYTES;
        let mut known: Option<(PathBuf, [u8; 32])> = None;
        for Named { name, word, path, inside } in found.files {
            // The length first: no two lists may run into one. The word as well as what it leads to:
            // two words that change places are a change.
            for part in [&word, &name] {
                hasher.update((part.len() as u64).to_be_bytes());
                hasher.update(part.as_bytes());
            }
            if !inside {
                continue;
            }
            // Sorted by name: the words for one file follow each other.
            let digest = match known.take() {
                Some((before, digest)) if before == path => digest,
                _ => {
                    if files.len() > MAX_FILES {
                        return Err(io::Error::other("it names more than 1,000 files"));
                    }
                    let digest = digest_of(&path, &mut left)?;
                    files.push(BundleFile {
                        name: shown(&name),
                        path: path.clone(),
                        digest: hexadecimal(&digest),
                    });
                    digest
                }
            };
            hasher.update(digest);
            known = Some((path, digest));
        }
        Ok(Self {
            path: source.path.clone(),
            working_dir: working_dir.to_owned(),
            files,
            uncovered: found.uncovered,
            places: found.places,
            digest: hexadecimal(&hasher.finalize()),
        })
    }

    /// Returns the digest that an approval is for, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

/// Returns `bytes` in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the digest of a file's bytes, and takes how many there are from `left`. No more than a
/// piece of the file is in memory at a time: nobody approved it yet.
fn digest_of(path: &Path, left: &mut u64) -> io::Result<[u8; 32]> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    // A pipe that took its place would keep the reader waiting.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(named)?;
    if !file.metadata().map_err(named)?.is_file() {
        return Err(named(io::Error::other("it is not a regular file")));
    }
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut piece).map_err(named)?;
        if read == 0 {
            return Ok(hasher.finalize().into());
        }
        hasher.update(&piece[..read]);
        *left = left.checked_sub(read as u64).ok_or_else(|| {
            let problem =
                "a script of more than 64 MiB, or several of more together, can't be approved";
            named(io::Error::other(problem))
        })?;
    }
}

/// Returns a name for people; two names that are not UTF-8 may look alike, and are not alike.
fn shown(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}
