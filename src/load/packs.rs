//! The hooks of packs: of bundles that a hooks file uses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::acceptance::check_file;
use super::file::{self, Origin};
use super::loading::Loading;
use crate::config::{Layer, Pack, SourceFile};
use crate::policy::{MANIFEST, Manifest, Store, hooks_files};
use crate::trust::ProjectFile;

/// What to do when a pack can't be used.
const REMEDY: &str = "run `hookexec bundle refresh`: it fetches the packs of approved files, or says \
                      why it can't";

impl Loading {
    /// Reads the hooks files of a pack that `user` uses. They count as files of its layer, and its
    /// approval covers them: it pins their bytes. If one was changed, or is not there, the pack is a
    /// failure at every event.
    pub(super) fn pack(
        &mut self,
        mut pack: Pack,
        user: &Arc<SourceFile>,
        project_file: &mut Option<ProjectFile>,
    ) {
        if let Some(digest) = self.acceptance.options.pins.get(&pack.source.to_string()) {
            pack.digest = Some(digest.clone());
        }
        pack.store = self.acceptance.options.pack_store(user.layer);
        let found = self.pack_files(&mut pack, user.layer);
        // A file that is not approved fails at every event anyway, and so does one with an error.
        let is_approved = project_file.as_ref().is_none_or(|file| file.blocked.is_none());
        let counts = is_approved && pack.digest.is_some();
        match found {
            Ok(files) => self.bundle(files, user, project_file),
            Err(cause) if counts => {
                let cause = format!("the pack {} can't be used: {cause}", pack.source);
                let remedy = if self.in_bundle { "copy its hooks into this one" } else { REMEDY };
                self.unavailable(&pack.location, &cause, remedy);
            }
            Err(_) => {}
        }
        self.assembly.config.packs.push(pack);
    }

    /// Returns the hooks files of a pack whose files are all as they were fetched.
    fn pack_files(&self, pack: &mut Pack, layer: Layer) -> Result<Vec<Arc<SourceFile>>, String> {
        if self.in_bundle {
            return Err("a bundle can't use another one".to_owned());
        }
        let digest = pack.digest.as_ref().ok_or("it is not pinned")?;
        let store = pack.store.as_ref().ok_or("no home directory is known")?;
        // Those of a project lie in the user's directory, too.
        let owner = if layer == Layer::Managed { layer } else { Layer::User };
        let archive = store.archive(digest);
        check_file(owner, &archive).map_err(|problem| problem.message)?;
        pack.files = known_files(store, digest);
        let manifest = store.check_pack(digest)?;
        pack.found = true;
        read_bundle(&store.bundle(digest), &manifest, layer, owner)
    }

    /// Evaluates the hooks files of a bundle that `user` brings in. They can't bring in another one.
    pub(super) fn bundle(
        &mut self,
        files: Vec<Arc<SourceFile>>,
        user: &Arc<SourceFile>,
        project_file: &mut Option<ProjectFile>,
    ) {
        let outer = std::mem::replace(&mut self.in_bundle, true);
        for file in files {
            if self.assembly.may_read(file.layer, &file.path) && self.assembly.admit(&file) {
                self.evaluate(&file, user, project_file);
            }
        }
        self.in_bundle = outer;
    }
}

/// Reads the hooks files that the manifest of a bundle lists. They lie in the directory of `owner`,
/// and belong to `layer`.
pub(super) fn read_bundle(
    directory: &Path,
    manifest: &Manifest,
    layer: Layer,
    owner: Layer,
) -> Result<Vec<Arc<SourceFile>>, String> {
    let read = |name| {
        let path = directory.join(name);
        let text = check_file(owner, &path).and_then(|()| file::read(&path, Origin::Found));
        let text = text.map_err(|problem| problem.message)?;
        Ok(Arc::new(SourceFile::new(path, text).in_layer(layer)))
    };
    hooks_files(manifest.files.keys())?.into_iter().map(read).collect()
}

/// Returns the files of a bundle, as far as they are known. They are watched also when one of them was
/// changed: it may be restored.
pub(super) fn known_files(store: &Store, digest: &str) -> Vec<PathBuf> {
    let directory = store.bundle(digest);
    let known = store.manifest(digest).map(|it| it.files).unwrap_or_default();
    let names = known.keys().map(String::as_str).chain([MANIFEST]);
    names.map(|name| directory.join(name)).collect()
}
