//! System calls and rules of Windows. Access lists are not read: `docs/platforms.md`.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use super::{resolve, strip_base};
use known_folders::{KnownFolder, get_known_folder_path};
use winapi_util::sysinfo::{ComputerNameKind, get_computer_name};

/// Where programs are looked for when the child has no `PATH`.
pub const DEFAULT_PATH: &str = r"C:\Windows\System32;C:\Windows";

/// Variables that every child gets: without them many programs of Windows do not start.
pub const NEEDED_VARIABLES: &[&str] = &["SystemRoot", "SystemDrive"];

/// The endings of what Windows starts as a program, in the order in which they are tried.
const PROGRAM_ENDINGS: [&str; 4] = ["exe", "com", "cmd", "bat"];

/// Returns the path of a file that exists, without links and `..`, and without `\\?\` where no
/// program needs it.
pub fn canonical(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// Returns the path without `\\?\`, where no program needs it.
pub fn simplified(path: &Path) -> &Path {
    dunce::simplified(path)
}

/// Does nothing: a file inherits the rights of its directory, which is below the user's profile.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Does nothing: a file inherits the rights of its directory, and is a program by its ending.
pub fn share(_file: &File, _is_program: bool) -> io::Result<()> {
    Ok(())
}

/// Does nothing: a directory passes its rights on.
pub fn share_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Does nothing: the caller asks what it opened for its metadata, and a pipe or a device has none.
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Makes opening a link open the link itself. The caller then sees that it is not a regular file.
pub fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
    // FILE_FLAG_OPEN_REPARSE_POINT
    options.custom_flags(0x0020_0000)
}

/// Returns `false`: opening does not fail because of a link, see [`without_links`].
pub fn is_link(_error: &io::Error) -> bool {
    false
}

/// Makes a directory, which inherits its rights; with `above`, also those above it.
pub fn make_private_directory(path: &Path, above: bool) -> io::Result<()> {
    DirBuilder::new().recursive(above).create(path)
}

/// Returns whether `path` is a directory, and no link to one, below the user's profile.
pub fn is_private_directory(path: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(path)?.is_dir() && is_in_profile(path))
}

/// Returns whether `path`, which need not exist, is below the user's profile: Windows lets no other
/// user but the administrators and the system itself enter it.
pub fn is_in_profile(path: &Path) -> bool {
    // The profile as the system knows it, whatever the environment says.
    let Some(home) = get_known_folder_path(KnownFolder::Profile) else { return false };
    // Both by their long names: `PROGRA~1` is `Program Files`.
    strip_base(&resolve(path), &resolve(&home), false).is_some()
}

/// Owners and rights are not known.
pub fn check_owned(_found: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Owners are not known; a profile belongs to its user.
pub fn belongs_to_user(_found: &Metadata) -> bool {
    true
}

/// Returns whether an open file still has a name.
pub fn has_name(file: &File) -> io::Result<bool> {
    Ok(winapi_util::file::information(file)?.number_of_links() > 0)
}

/// Returns what tells the file at `path` from every other: several names may lead to one file.
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    let handle = winapi_util::Handle::from_path_any(path).ok()?;
    let found = winapi_util::file::information(handle).ok()?;
    Some((found.volume_serial_number(), found.file_index()))
}

/// Returns whether Windows starts the file at `path` as a program.
pub fn user_may_execute(path: &Path) -> bool {
    let Some(own) = path.extension() else { return false };
    PROGRAM_ENDINGS.iter().any(|ending| own.eq_ignore_ascii_case(ending))
}

/// Like [`user_may_execute`]: a file of Windows has no bit that makes it a program.
pub fn has_execute_bit(path: &Path, _found: &Metadata) -> bool {
    user_may_execute(path)
}

/// Returns the names that a program called `name` may have in a directory: with its ending as it is,
/// else with each ending of a program.
pub fn program_names(name: &OsStr) -> impl Iterator<Item = PathBuf> {
    let mut names = Vec::new();
    if user_may_execute(Path::new(name)) {
        names.push(PathBuf::from(name));
        return names.into_iter();
    }
    for ending in PROGRAM_ENDINGS {
        names.push(Path::new(name).with_added_extension(ending));
    }
    names.into_iter()
}

/// Returns the file of a shell that is not looked for by its name: `bash` and `sh` are those of Git for
/// Windows. The `bash.exe` on the search path is usually that of WSL, which sees other files.
pub fn shell_file(name: &str, path: Option<&OsStr>) -> Option<String> {
    let file = match name.to_ascii_lowercase().as_str() {
        "bash" | "bash.exe" => "bash.exe",
        "sh" | "sh.exe" => "sh.exe",
        _ => return None,
    };
    let mut places = Vec::new();
    for directory in std::env::split_paths(path.unwrap_or_default()) {
        if directory.is_absolute() && directory.join("git.exe").is_file() {
            // `git.exe` is in `Git\cmd`, or in `Git\mingw64\bin`.
            places.extend(directory.ancestors().skip(1).take(2).map(Path::to_owned));
            break;
        }
    }
    if let Some(programs) = get_known_folder_path(KnownFolder::ProgramFiles) {
        places.push(programs.join("Git"));
    }
    let shells: Vec<PathBuf> = places.iter().map(|place| place.join("bin").join(file)).collect();
    let shell = shells.iter().find(|shell| shell.is_file()).or(shells.last())?;
    shell.to_str().map(str::to_owned)
}

/// Returns what to do when a shell is missing, where it is not plain.
pub fn shell_hint(name: &str) -> Option<&'static str> {
    shell_file(name, None)?;
    Some("install Git for Windows, or set `shell` to `powershell` or `cmd`")
}

/// Returns a word for the user: the directory for temporary files is the user's own.
pub fn user_id() -> String {
    "user".to_owned()
}

/// Returns the name of this machine.
pub fn host_name() -> String {
    let name = get_computer_name(ComputerNameKind::DnsHostname).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A process is not ended by signals here.
pub fn ending_signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// Copies nothing: a file inherits the rights of its directory.
pub fn keep_attributes(_old: &File, _new: &File) -> io::Result<()> {
    Ok(())
}
