//! `hookexec bundle update`: other versions of packs, what they would decide, and their digests in the
//! hooks files.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hookexec::Config;
use hookexec::config::{Layer, Location};
use hookexec::internal::policy::{Manifest, Store, hooks_files};
use hookexec::internal::shell::quoted;
use hookexec::internal::{KeyLocations, Pack, files, packs_of};

use super::archive::Archive;
use super::refresh::{fetch_pack, keep_pack};
use super::{signature, transfer};
use crate::config::ConfigArgs;
use crate::consent::ConsentArgs;
use crate::error::{CommandError, warn};
use crate::replay::{self, Summary};
use crate::settings::store;
use crate::testing::Replay;
use crate::{Exit, output, plain};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The hooks file whose packs are meant [default: every one that counts here]
    file: Option<PathBuf>,

    /// Shows everything, and leaves the hooks files as they are
    #[arg(long)]
    dry_run: bool,

    /// Runs hooks with side effects, too
    #[arg(long)]
    run_external: bool,

    #[command(flatten)]
    consent: ConsentArgs,
}

/// Another version of a pack.
struct Change<'p> {
    pack: &'p Pack,
    store: &'p Store,
    digest: String,
    manifest: Manifest,
    /// The manifest of the version that is pinned now, if it can be had.
    before: Option<Manifest>,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        if !self.dry_run {
            self.consent.check()?;
        }
        let named: Vec<PathBuf> = self.file.iter().cloned().collect();
        let mut options = ConfigArgs::of_files(&named).options()?;
        options.named_may_fail = true;
        let mut packs = Config::load(&options).map_err(CommandError::config)?.packs;
        let is_meant = |path: &Path| named.iter().all(|it| files::real(it) == files::real(path));
        packs.retain(|pack| is_meant(pack.location.path()));
        if let Some(file) = named.iter().find(|file| !file.exists()) {
            return Err(CommandError::usage(format!("{} does not exist", file.display())));
        }
        if packs.is_empty() {
            let hint = "name the hooks file, or approve it first if a project brings it along; `hookexec check` \
                        shows the mistakes of a file";
            return Err(CommandError::negative("no hooks file uses a pack").hint(hint));
        }
        let (mut changes, mut all_well) = (Vec::new(), true);
        for pack in &packs {
            match Change::of(pack) {
                Ok(Some(change)) => {
                    output::print(&change.text())?;
                    changes.push(change);
                }
                Ok(None) => {
                    output::print(&format!("{}: {}: no change\n", pack.location, pack.source))?;
                }
                Err(problem) => {
                    all_well = false;
                    warn(&format!("{}: {}: {problem}", pack.location, pack.source));
                }
            }
        }
        let done = if all_well { Exit::Success } else { Exit::Negative };
        if changes.is_empty() {
            return Ok(done);
        }
        if changes.iter().any(|change| change.pack.digest.is_some()) {
            match self.replayed(&changes) {
                Ok(text) => output::print(&text)?,
                Err(error) => warn(&format!("the decisions can't be compared: {error}")),
            }
        }
        if self.dry_run {
            return Ok(done);
        }
        if !self.consent.ask("Pin these versions?")? {
            output::talk("nothing was changed\n");
            return Ok(Exit::Negative);
        }
        write(&changes)?;
        Ok(done)
    }

    /// Replays the decision log, and returns what is decided otherwise with the new versions. No hook of a
    /// file runs that a person only named: a project may have brought it along.
    fn replayed(&self, changes: &[Change]) -> Result<String, CommandError> {
        let mut options = ConfigArgs::default().options()?;
        let before = Config::load(&options).map_err(CommandError::config)?;
        let is_file = |change: &Change, pack: &Pack| {
            files::real(pack.location.path()) == files::real(change.pack.location.path())
        };
        for change in changes {
            let place = &change.pack.location;
            if change.before.is_none() {
                let message = format!("{place}: the version that is pinned can't be had");
                return Err(CommandError::data(message));
            }
            if !before.packs.iter().any(|pack| is_file(change, pack)) {
                let message = format!("{place}: this file does not count here, or is not approved");
                return Err(CommandError::data(message));
            }
        }
        let log = before.audit.first().map(|log| log.path.clone());
        let log = log.ok_or_else(|| CommandError::data("no hooks file says `audit:`"))?;
        let pin = |change: &Change| (change.pack.source.to_string(), change.digest.clone());
        options.pins = changes.iter().map(pin).collect();
        let mut after = Config::load(&options).map_err(CommandError::config)?;
        // What the old version answered says nothing about the new one.
        let new: Vec<PathBuf> = changes.iter().map(|it| it.store.bundle(&it.digest)).collect();
        for hook in &mut after.hooks {
            if new.iter().any(|directory| hook.location.path().starts_with(directory)) {
                hook.name = Some(format!("{} of the new version", hook.label()));
            }
        }
        let project = options.working_dir.clone().unwrap_or_default();
        let replay =
            |config| Replay::new(config, &project, self.run_external).map_err(CommandError::config);
        output::talk(&format!("replaying {}\n", log.display()));
        let summary = Summary::of(&log, Some(&replay(before)?), &replay(after)?)?;
        Ok(replay::text(&summary))
    }
}

impl<'p> Change<'p> {
    /// Asks the source of a pack for what it has now, tests that, and puts it into the store; `None` if
    /// it is what is pinned.
    fn of(pack: &'p Pack) -> Result<Option<Self>, String> {
        let pulled = transfer::pull(&pack.source, None)?.ok_or("the source has no bundle")?;
        if !pack.keys.is_empty() {
            signature::verify(&pulled.archive, &pulled.signature, &pack.keys)?;
        }
        let digest = files::digest(&pulled.archive);
        if pack.digest.as_ref() == Some(&digest) {
            return Ok(None);
        }
        let store = pack.store.as_ref().ok_or("no home directory is known: set HOME")?;
        let archive = Archive::read(&pulled.archive)?;
        let pinned = pack.digest.as_ref().and_then(|digest| store.manifest(digest));
        if let Some(pinned) = pinned.filter(|it| it.version > archive.manifest.version) {
            return Err(format!(
                "the source has version {}, and {} is pinned: to go back, write its digest yourself",
                archive.manifest.version, pinned.version
            ));
        }
        if store.check_pack(&digest).is_err() {
            keep_pack(store, &pulled.archive, &archive)?;
        }
        let before = pack.digest.as_ref().and_then(|digest| {
            let _ = fetch_pack(pack);
            store.check_pack(digest).ok()
        });
        Ok(Some(Self { pack, store, digest, manifest: archive.manifest, before }))
    }

    /// Returns what is new, gone and changed.
    fn text(&self) -> String {
        let (place, source) = (&self.pack.location, &self.pack.source);
        let from = self.before.as_ref().map(|it| format!("{} -> ", it.version));
        let (from, version) = (from.unwrap_or_default(), self.manifest.version);
        let mut text =
            format!("{place}: {source}: version {from}{version} (sha256:{})\n", self.digest);
        let old = self.pack.digest.as_ref().zip(self.before.as_ref());
        let before = old.map(|(digest, manifest)| content(self.store, digest, manifest));
        let before = before.unwrap_or_default();
        let after = content(self.store, &self.digest, &self.manifest);
        for (name, value) in before.iter().chain(&after).collect::<BTreeMap<_, _>>() {
            let sign = match (before.get(name), after.get(name)) {
                (None, _) => '+',
                (_, None) => '-',
                (Some(old), _) if old != value => '~',
                _ => continue,
            };
            let _ = writeln!(text, "  {sign} {name}");
        }
        text
    }
}

/// Returns the files and hooks of a version by name, each with what tells it from another.
fn content(store: &Store, digest: &str, manifest: &Manifest) -> BTreeMap<String, String> {
    let paths = hooks_files(manifest.files.keys()).unwrap_or_default();
    let paths = paths.into_iter().map(|name| store.bundle(digest).join(name));
    let hooks = Config::load_bundle(paths).map(|config| config.hooks).unwrap_or_default();
    let mut all = manifest.files.clone();
    for mut hook in hooks {
        (hook.location, hook.key_locations) = (Location::default(), KeyLocations::default());
        let name = format!("hook {} `{}`", hook.event, plain::line(&hook.label()));
        let _ = write!(all.entry(name).or_default(), "{hook:?}");
    }
    all
}

/// Writes the new digests into the hooks files, and nothing else.
fn write(changes: &[Change]) -> Result<(), CommandError> {
    let mut by_file: BTreeMap<&Path, Vec<&Change>> = BTreeMap::new();
    for change in changes {
        by_file.entry(change.pack.location.path()).or_default().push(change);
    }
    for (path, changes) in by_file {
        let failed = |problem: &dyn std::fmt::Display| {
            CommandError::usage(format!("can't write {}: {problem}", path.display()))
        };
        let known = store::read(path).map_err(|error| failed(&error))?.unwrap_or_default();
        let text = pinned(&known, &changes).ok_or_else(|| {
            failed(&"it was changed, or its text has no such digest")
                .hint("try again, or write the digests yourself")
        })?;
        store::write(path, Some(&known), &text).map_err(|error| failed(&error))?;
        output::print(&format!("{}: written\n", path.display()))?;
        let layer = changes.first().map(|change| change.pack.location.file().layer);
        if matches!(layer, Some(Layer::Project | Layer::CommandLine)) {
            let path = quoted(&path.to_string_lossy());
            output::talk(&format!(
                "a project's file must be approved again: run `hookexec trust add {path}` in a terminal\n"
            ));
        }
    }
    Ok(())
}

/// Returns the text of a hooks file with the new digests.
fn pinned(known: &str, changes: &[&Change]) -> Option<String> {
    // Without a byte order mark.
    let read = &changes.first()?.pack.location.file().text;
    let mark = known.strip_suffix(read.as_str()).filter(|mark| ["", "\u{feff}"].contains(mark))?;
    let digest_of = |pack: &Pack| {
        let change = changes.iter().find(|it| it.pack.location.range() == pack.location.range());
        change.map(|change| change.digest.clone()).or_else(|| pack.digest.clone())
    };
    let entry = |pack: &Pack, digest| (pack.source.clone(), digest);
    let wanted: Vec<_> = packs_of(read).iter().map(|it| entry(it, digest_of(it))).collect();
    let mut changes = changes.to_vec();
    // The last first: the places of the others stay what they are.
    changes.sort_by_key(|change| Reverse(change.pack.location.range().start));
    let mut text = read.clone();
    for Change { pack, digest, .. } in changes {
        let range = pack.location.range();
        match &pack.digest {
            Some(old) => {
                let start = range.start + text.get(range)?.find(old)?;
                text.replace_range(start..start + old.len(), digest);
            }
            None => text.insert_str(range.end, &format!("{}sha256:{digest}", pack.joint)),
        }
    }
    // YAML has more ways to write an entry than this knows.
    let now: Vec<_> = packs_of(&text).iter().map(|it| entry(it, it.digest.clone())).collect();
    (now == wanted).then(|| format!("{mark}{text}"))
}
