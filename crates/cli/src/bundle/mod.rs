//! `hookexec bundle`: hooks files as one signed file, for many machines.

mod archive;
mod background;
mod build;
#[cfg(feature = "http")]
mod login;
pub(crate) mod refresh;
#[cfg(feature = "http")]
mod registry;
mod signature;
mod transfer;
mod unpacked;
mod update;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use hookexec::internal::files;
use hookexec::internal::policy::Source;

use super::error::{CommandError, OrCommandError as _, unreadable, warn};
use super::log::LogArgs;
use super::report::counted;
use super::{Exit, output, test_report};
use archive::{Archive, MAX_ARCHIVE};
pub(crate) use background::{Refresher, start_due};
use signature::MAX_SIGNATURE;

/// Builds, tests, signs and moves bundles: a policy for many machines as one file
///
/// A bundle is a tar archive of a directory with hooks files, their scripts and their test cases. The
/// same directory makes the same bytes everywhere. `hookexec docs fleet` shows all steps.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec bundle build policy --version 7")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Makes a bundle of a directory: its `hooks.yaml`, its `hooks.d`, and every other file in it that
    /// is not hidden
    #[command(
        after_help = "Example: hookexec bundle build policy --version 7 --by 'platform team'"
    )]
    Build(build::Args),
    /// Unpacks a bundle, and runs its test cases, `*.test.yaml`, in an empty project; exit code 1 when
    /// one fails
    #[command(after_help = "Example: hookexec bundle test policy-7.tar")]
    Test {
        /// The bundle, or the directory that one is built of
        bundle: PathBuf,
    },
    /// Signs a bundle by the program `minisign`, which writes the signature beside it
    #[command(after_help = "Example: hookexec bundle sign policy-7.tar --key fleet.key")]
    Sign {
        /// The bundle
        bundle: PathBuf,
        /// The file with the secret key, as `minisign -G` writes it
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
    },
    /// Checks a bundle and its signature, and shows what the bundle says of itself
    #[command(after_help = "Example: hookexec bundle verify policy-7.tar --key fleet.pub")]
    Verify {
        /// The bundle; its signature is beside it, with `.minisig` behind its name
        bundle: PathBuf,
        #[command(flatten)]
        key: KeyArgs,
    },
    /// Stores a signed bundle in an OCI registry, with the login of `docker login`
    #[command(after_help = "Example: hookexec bundle push policy-7.tar oci://HOST/policy:stable")]
    Push {
        /// The bundle; its signature is beside it
        bundle: PathBuf,
        /// Where to: `oci://HOST/REPOSITORY:TAG`
        #[arg(value_name = "TARGET")]
        target: Source,
    },
    /// Fetches a bundle and its signature, and writes them when the signature is that of the key
    #[command(
        after_help = "Example: hookexec bundle pull oci://HOST/policy:stable --key fleet.pub"
    )]
    Pull {
        /// Where from: `oci://HOST/REPOSITORY:TAG`, `https://HOST/FILE` or `file:///PATH`
        #[arg(value_name = "SOURCE")]
        source: Source,
        #[command(flatten)]
        key: KeyArgs,
        /// Where to write the bundle; the signature goes beside it
        #[arg(long, short, value_name = "FILE", default_value = "policy.tar")]
        output: PathBuf,
    },
    /// Fetches each policy that `policy:` names in your own or in the administrator's hooks file, and
    /// puts it in force. Also fetches the packs that `use:` names. Exit code 1 when one could not be
    /// fetched
    ///
    /// Packs of a project's file are fetched after a person approved the file.
    #[command(after_help = "Example: hookexec bundle refresh")]
    Refresh {
        /// Only those whose time has come, and without a word to a caller
        #[arg(long, hide = true)]
        due: bool,
    },
    /// Shows other versions of packs and which decisions they would change, then pins them
    ///
    /// The hooks run that declare `side_effects: none` or `idempotent`, with the inputs of the decision
    /// log. Then the command asks at the terminal, and writes the new digests into the hooks files. Exit
    /// code 1 when a source could not be asked.
    #[command(after_help = "Example: hookexec bundle update .hookexec/hooks.yaml --dry-run")]
    Update(update::Args),
}

#[derive(Debug, clap::Args)]
struct KeyArgs {
    /// A public key of minisign, or the file with it; may be given more than once: one of them must
    /// have signed
    #[arg(long, value_name = "KEY", required = true)]
    key: Vec<String>,
}

impl KeyArgs {
    fn read(&self) -> Result<Vec<String>, CommandError> {
        self.key.iter().map(|named| signature::key_of(named)).collect()
    }
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        LogArgs::default().start();
        match &self.action {
            Action::Build(args) => args.execute(),
            Action::Test { bundle } => test(bundle),
            Action::Sign { bundle, key } => {
                read(bundle)?;
                signature::sign(bundle, key)?;
                let shown = signature::beside(bundle);
                output::print(&format!("wrote {}\n", shown.display()))?;
                Ok(Exit::Success)
            }
            Action::Verify { bundle, key } => {
                let bytes = bytes_of(bundle, MAX_ARCHIVE)?;
                let signature = bytes_of(&signature::beside(bundle), MAX_SIGNATURE)?;
                let checked = verified(&bytes, &signature, &key.read()?);
                let archive = checked.map_err(|problem| wrong(bundle, &problem))?;
                output::print(&described(&archive, &bytes))?;
                Ok(Exit::Success)
            }
            Action::Push { bundle, target } => push(bundle, target),
            Action::Refresh { due } => refresh::execute(*due),
            Action::Update(args) => args.execute(),
            Action::Pull { source, key, output } => pull(source, &key.read()?, output),
        }
    }
}

/// Returns the bundle that these bytes are, if one of `keys` signed them. Nothing is read of an archive
/// that is not signed.
fn verified(bytes: &[u8], signature: &[u8], keys: &[String]) -> Result<Archive, String> {
    signature::verify(bytes, signature, keys)?;
    Archive::read(bytes)
}

fn test(path: &Path) -> Result<Exit, CommandError> {
    let archive = if path.is_dir() { build::archive(path, 0, "", "")? } else { read(path)?.0 };
    if archive.manifest.tests.is_empty() {
        warn("the bundle has no test cases");
    }
    let scratch = unpacked::Scratch::new(&std::env::temp_dir())?;
    let mut results = unpacked::test(&archive, scratch.path())?;
    // They ran in a copy, which is removed.
    for file in &mut results.files {
        let name = file.path.file_name().unwrap_or_default();
        file.path = if path.is_dir() { path.join(name) } else { name.into() };
    }
    output::print(&test_report::text(&results))?;
    Ok(if results.failed == 0 { Exit::Success } else { Exit::Negative })
}

fn push(path: &Path, target: &Source) -> Result<Exit, CommandError> {
    let (archive, bytes) = read(path)?;
    let signature = bytes_of(&signature::beside(path), MAX_SIGNATURE)?;
    let digest = transfer::push(target, &bytes, &signature, archive.manifest.version)?;
    let version = archive.manifest.version;
    output::print(&format!("pushed version {version}: {}\n", target.pinned(&digest)))?;
    Ok(Exit::Success)
}

fn pull(source: &Source, keys: &[String], path: &Path) -> Result<Exit, CommandError> {
    let pulled = transfer::pull(source, None).map_err(CommandError::negative)?;
    let pulled = pulled.ok_or_else(|| CommandError::negative("the source has no bundle"))?;
    let archive = verified(&pulled.archive, &pulled.signature, keys).map_err(|problem| {
        CommandError::negative(format!("the bundle was not written: {problem}"))
    })?;
    for (path, bytes) in
        [(path.to_owned(), &pulled.archive), (signature::beside(path), &pulled.signature)]
    {
        output::write(&path, bytes)?;
    }
    output::print(&described(&archive, &pulled.archive))?;
    output::print(&format!("from {}\n", source.pinned(&pulled.tag)))?;
    Ok(Exit::Success)
}

fn described(archive: &Archive, bytes: &[u8]) -> String {
    let manifest = &archive.manifest;
    let by = if manifest.by.is_empty() { String::new() } else { format!(" by {}", manifest.by) };
    format!(
        "version {}{by}: {}, {} of test cases\nsha256:{}\n",
        manifest.version,
        counted(archive.files.len(), "file"),
        counted(manifest.tests.len(), "file"),
        files::digest(bytes),
    )
}

/// Reads the bundle at `path`, which need not be signed.
fn read(path: &Path) -> Result<(Archive, Vec<u8>), CommandError> {
    let bytes = bytes_of(path, MAX_ARCHIVE)?;
    let archive = Archive::read(&bytes).map_err(|problem| wrong(path, &problem))?;
    Ok((archive, bytes))
}

fn wrong(path: &Path, problem: &str) -> CommandError {
    CommandError::negative(format!("{} is not a valid bundle: {problem}", path.display()))
}

fn bytes_of(path: &Path, most: u64) -> Result<Vec<u8>, CommandError> {
    files::read_regular(path, most).or_usage(unreadable(path))
}
