//! What a bundle says of itself.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::directories::DropIn;
use crate::wire::parse_strict;

/// The name of the manifest in a bundle.
pub const MANIFEST: &str = "bundle.json";

/// The version of the format.
const FORMAT: u8 = 1;
/// How many files a bundle may have. All of them are hashed when its hooks are loaded.
const MAX_FILES: usize = 1_000;

/// What a bundle says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the format.
    pub format: u8,
    /// The version of the bundle. A machine takes a bundle only if its version is higher than that of
    /// the one in force.
    pub version: u64,
    /// Who built it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// The lowest version of hookexec that may use it; any when empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub minimum: String,
    /// The files of test cases, which must pass on each machine.
    pub tests: Vec<String>,
    /// Every other file, with the SHA-256 of its bytes in hexadecimal.
    pub files: BTreeMap<String, String>,
}

impl Manifest {
    /// Returns a manifest without files.
    pub fn new(version: u64, by: impl Into<String>, minimum: impl Into<String>) -> Self {
        Self {
            format: FORMAT,
            version,
            by: by.into(),
            minimum: minimum.into(),
            tests: Vec::new(),
            files: BTreeMap::new(),
        }
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let value = parse_strict(text).map_err(|error| error.to_string())?;
        let manifest: Self = serde_json::from_value(value).map_err(|error| error.to_string())?;
        manifest.check().map(|()| manifest)
    }

    /// Checks what the types do not say.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("its format {} is not known: update hookexec", self.format));
        }
        if !self.minimum.is_empty() && numbers(&self.minimum).is_none() {
            return Err(format!("`{}` is not a version such as 1.2.0", self.minimum));
        }
        if self.files.len() > MAX_FILES {
            return Err(format!("it has more than {MAX_FILES} files"));
        }
        let mut folded = BTreeSet::new();
        for (name, digest) in &self.files {
            if let Some(problem) = file_name_problem(name) {
                return Err(format!("`{}` {problem}", name.escape_default()));
            }
            let is_hexadecimal = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            if digest.len() != 64 || !digest.bytes().all(is_hexadecimal) {
                return Err(format!("the digest of `{name}` is not a SHA-256 in hexadecimal"));
            }
            if !folded.insert(name.to_ascii_lowercase()) {
                return Err(format!("`{name}` is there twice, where case does not count"));
            }
        }
        // Otherwise a file would have to be a directory, too.
        let mut above =
            folded.iter().flat_map(|name| name.match_indices('/').map(|(at, _)| &name[..at]));
        if let Some(both) = above.find(|directory| folded.contains(*directory)) {
            return Err(format!("`{both}` is both a file and a directory"));
        }
        match self.tests.iter().find(|name| !self.files.contains_key(*name)) {
            Some(name) => Err(format!("the test file `{}` is missing", name.escape_default())),
            None => Ok(()),
        }
    }

    /// Returns why this version of hookexec can't use the bundle.
    pub fn too_new(&self) -> Option<String> {
        let own = env!("CARGO_PKG_VERSION");
        let is_older = !self.minimum.is_empty() && numbers(own) < numbers(&self.minimum);
        is_older.then(|| format!("it needs hookexec {}, and this is {own}", self.minimum))
    }
}

/// Returns the three numbers of a version.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let numbers: Vec<u64> = version.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    numbers.try_into().ok()
}

/// Returns why a file of this name can't be in a bundle. The names that can mean the same file on every
/// system, and none of them leads out of the bundle.
pub fn file_name_problem(name: &str) -> Option<&'static str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-+@/".contains(letter);
    if !name.chars().all(is_plain) {
        return Some("has characters other than ASCII letters, digits and `._-+@`");
    }
    if name.split('/').any(str::is_empty) {
        return Some("is not a relative path");
    }
    if name.split('/').any(|part| part.starts_with('.') || part.ends_with('.')) {
        return Some("has a part that begins or ends with a dot");
    }
    if name.len() > 100 {
        return Some("is longer than 100 characters");
    }
    (name.eq_ignore_ascii_case(MANIFEST)).then_some("is the name of the manifest")
}

/// Returns the hooks files of a bundle, in their order.
///
/// # Errors
/// When a file may be meant to be one, and is not named like one.
pub fn hooks_files<'n>(names: impl Iterator<Item = &'n String>) -> Result<Vec<&'n String>, String> {
    let (mut own, mut nearly, mut drop_ins) = (None, None, Vec::new());
    for name in names {
        let kind = match name.strip_prefix("hooks.d/") {
            Some(drop_in) if !drop_in.contains('/') => DropIn::of(drop_in.as_ref()),
            _ => DropIn::Other,
        };
        match kind {
            DropIn::HooksFile => drop_ins.push(name),
            DropIn::Misnamed => {
                return Err(format!("`{name}` is not read: let its name end in `.yaml`"));
            }
            DropIn::Other if name == "hooks.yaml" => own = Some(name),
            DropIn::Other
                if ["hooks.yaml", "hooks.yml"].iter().any(|it| name.eq_ignore_ascii_case(it)) =>
            {
                nearly = Some(name);
            }
            DropIn::Other => {}
        }
    }
    match (own, nearly) {
        (None, Some(name)) => Err(format!("`{name}` is not read: rename it to `hooks.yaml`")),
        _ => Ok(own.into_iter().chain(drop_ins).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(files: &[&str]) -> Manifest {
        let mut manifest = Manifest::new(1, "me", "");
        manifest.files = files.iter().map(|name| ((*name).to_owned(), "0".repeat(64))).collect();
        manifest
    }

    #[test]
    fn only_plain_names_are_accepted() {
        assert_eq!(manifest(&["hooks.yaml", "hooks.d/a.yaml", "lib/x_1-2+3@4.py"]).check(), Ok(()));
        for name in [
            "/etc/passwd", "../x", "a/../b", "a/./b", "a//b", "a/", "", ".hidden", "a\\b", "C:x",
            "a b", "ä", "a\0", "a\n", "x.", "bundle.json", "Bundle.JSON",
        ] {
            assert!(manifest(&[name]).check().is_err(), "{name:?}");
        }
        let long = "x".repeat(101);
        assert!(manifest(&[&long]).check().is_err());
    }

    #[test]
    fn two_names_of_one_file_are_refused() {
        let problem = manifest(&["a/Guard.sh", "A/guard.sh"]).check().unwrap_err();
        assert!(problem.contains("twice"), "{problem}");
        let problem = manifest(&["a", "A/guard.sh"]).check().unwrap_err();
        assert!(problem.contains("both a file and a directory"), "{problem}");
    }

    #[test]
    fn what_is_read_is_strict() {
        let text = serde_json::to_string(&manifest(&["hooks.yaml"])).unwrap();
        assert!(Manifest::read(text.as_bytes()).is_ok());
        for (from, to, problem) in [
            ("\"version\":1", "\"version\":1,\"version\":2", "twice"),
            ("\"version\":1", "\"version\":1,\"extra\":2", "unknown field"),
            ("\"version\":1", "\"version\":-1", "invalid number"),
            ("\"format\":1", "\"format\":2", "update hookexec"),
            ("\"tests\":[]", "\"tests\":[\"no.test.yaml\"]", "is missing"),
        ] {
            let error = Manifest::read(text.replacen(from, to, 1).as_bytes()).unwrap_err();
            assert!(error.contains(problem), "{to}: {error}");
        }
    }

    #[test]
    fn an_older_hookexec_is_told() {
        let needs = |minimum: &str| Manifest::new(1, "", minimum).too_new();
        assert_eq!(needs(""), None);
        assert_eq!(needs(env!("CARGO_PKG_VERSION")), None);
        assert!(needs("999.0.0").unwrap().contains("needs hookexec 999.0.0"));
        assert!(Manifest::new(1, "", "soon").check().is_err());
    }
}
