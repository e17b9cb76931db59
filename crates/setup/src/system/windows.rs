//! The rules of Windows.

use hookexec_files::platform::system::canonical;
use std::os::windows::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Punctuation that Git Bash, PowerShell and cmd leave alone, beside ASCII letters and digits.
const PLAIN_LETTERS: &str = "/._-+:~";

/// Returns a path as it is written into settings, or why it can't be.
///
/// Git Bash, PowerShell and cmd all take `C:/x/y.exe` for a program. Each of them quotes in another
/// way, and some agents escape the quotes once more. So a path with a space is written by its short
/// name, such as `C:/Users/JODOE~1/y.exe`. Other letters, such as `&`, stay in short names as well.
pub fn settings_path(path: &Path) -> Result<String, &'static str> {
    plain(path)
        .or_else(|| plain(&with_short_names(path)?))
        .ok_or("needs quotes, which Git Bash, PowerShell and cmd read in different ways,")
}

/// Returns `path` with slashes, if no shell needs quotes for it.
fn plain(path: &Path) -> Option<String> {
    let text = path.to_str()?.replace('\\', "/");
    for letter in text.chars() {
        if !letter.is_ascii_alphanumeric() && !PLAIN_LETTERS.contains(letter) {
            return None;
        }
    }
    Some(text)
}

/// Returns `path` with short names for the parts that need quotes, if the disk keeps such names. No
/// safe call tells them, but `dir` does: its lines end with the short name and the name.
fn with_short_names(path: &Path) -> Option<PathBuf> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Some(path.to_owned());
    };
    let above = with_short_names(above)?;
    if plain(Path::new(name)).is_some() {
        return Some(above.join(name));
    }
    let listed = Command::new("cmd")
        .raw_arg(r#"/d /v:off /u /c dir /x /a "%HOOKEXEC_PATH%*""#)
        .env("HOOKEXEC_PATH", path)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let pairs = listed.stdout.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let text = String::from_utf16_lossy(&pairs.collect::<Vec<_>>());
    let (name, real) = (name.to_str()?, canonical(path).ok()?);
    for line in text.lines() {
        if let Some(before) = line.trim_end().strip_suffix(name)
            && let Some(word) = before.split_whitespace().next_back()
            && canonical(above.join(word)).is_ok_and(|found| found == real)
        {
            return Some(above.join(word));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_space_is_written_by_its_short_name() {
        let directory = tempfile::tempdir().unwrap();
        let directory = canonical(directory.path()).unwrap();
        let odd = directory.join("Jo Doe").join("My Tools");
        std::fs::create_dir_all(&odd).unwrap();
        for rest in ["hookexec.exe", "not/there/yet/hookexec-1.0.0.exe"] {
            let path = odd.join(rest);
            let written = settings_path(&path).unwrap();
            assert!(written.ends_with(&format!("/{rest}")), "{written}");
            assert!(!written.contains([' ', '\\']), "{written}");
            let real = Path::new(written.strip_suffix(rest).unwrap());
            assert_eq!(canonical(real).unwrap(), odd, "{written}");
        }
        for odd in ["not there", "it's"] {
            assert!(settings_path(&directory.join(odd).join("hookexec.exe")).is_err(), "{odd}");
        }
        assert_eq!(settings_path(Path::new(r"C:\x\y.exe")).as_deref(), Ok("C:/x/y.exe"));
    }
}
