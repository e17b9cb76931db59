//! The files of a project that wait for a person, for an agent's own dialogue.

use std::io;
use std::path::PathBuf;

use super::project_file::{Blocked, ProjectFile};
use super::store::TrustStore;
use crate::load::{LoadOptions, Loading};

/// A hooks file of a project that does not run until a person approves it.
#[derive(Debug)]
pub struct Pending {
    /// Its path.
    pub path: PathBuf,
    /// Its text, which a person must see, with control characters and all.
    pub text: String,
    /// The files of the project that its commands name: an approval covers them as they are.
    pub covers: Vec<PathBuf>,
    file: ProjectFile,
    store: TrustStore,
}

impl Pending {
    /// Returns the files that wait. Those that no approval can help are missing: a file that can't be
    /// read, and one that another user can change.
    pub fn find(options: &LoadOptions) -> Vec<Self> {
        let options = &LoadOptions { only_show: true, ..options.clone() };
        let Some(store) = options.trust_store() else { return Vec::new() };
        let mut pending = Vec::new();
        for file in Loading::layers(options).project_files {
            let waits =
                matches!(&file.blocked, Some(blocked) if !matches!(blocked, Blocked::Unsafe(_)));
            let text = file.coverage.text.clone();
            if waits && !text.is_empty() {
                let covers = file.coverage.files.iter().map(|named| named.path.clone()).collect();
                let (path, store) = (file.path.clone(), store.clone());
                pending.push(Self { path, text, covers, file, store });
            }
        }
        pending
    }

    /// Records that a person approved the file, and those that it covers, as they were when they were
    /// read. Call it only for a person who saw them. Load the files anew then.
    ///
    /// # Errors
    /// When the approval can't be written, or could not count.
    pub fn approve(self) -> io::Result<()> {
        self.store.add(&self.file).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::load::load;

    #[test]
    fn a_file_waits_until_it_is_approved_as_it_was_shown() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("project/.git")).unwrap();
        let text = "stop: [{ type: command, command: ./a.sh }]";
        fs::write(at("project/hooks.yaml"), text).unwrap();
        fs::write(at("project/a.sh"), "").unwrap();
        let options = LoadOptions {
            working_dir: Some(at("project")),
            home: Some(at("home")),
            managed_dir: Some(at("managed")),
            trust_dir: Some(at("trust")),
            ..LoadOptions::default()
        };
        let pending = || Pending::find(&options);
        let file = pending().remove(0);
        assert_eq!((file.path.file_name().unwrap(), &*file.text), ("hooks.yaml".as_ref(), text));
        assert!(file.covers[0].ends_with("a.sh"));
        fs::write(at("project/a.sh"), "echo changed").unwrap();
        file.approve().unwrap();
        assert_eq!(pending().len(), 1, "it covers the script as it was shown");
        pending().remove(0).approve().unwrap();
        assert!(pending().is_empty());
        assert!(load(&options).unwrap().config.failed.is_empty());
    }
}
