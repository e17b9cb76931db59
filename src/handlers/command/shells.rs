//! How each shell is given a command text.

use crate::handler::BuildError;

/// The language that a shell understands, by the name of its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// `SHELL -c TEXT NAME ARGUMENTS...`
    Posix,
    /// `cmd.exe`
    Cmd,
    /// Windows PowerShell and `pwsh`
    PowerShell,
}

/// Returns whether the shell called `name`, which may be a path, reads the language of POSIX.
pub fn is_posix(name: &str) -> bool {
    Language::of(name) == Language::Posix
}

/// The arguments that run a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Invocation {
    pub(super) arguments: Vec<String>,
    /// Text that follows them on the command line as it is, on systems that have such lines.
    pub(super) raw: Option<String>,
}

/// Ends PowerShell as a POSIX shell ends: with the exit code of the last program if it failed, with 1
/// if another command failed. Otherwise PowerShell makes 1 of every failure, also of a denial.
const LAST_STATUS: &str = "if (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE } exit 1 }";

impl Language {
    /// Returns the language of the shell called `name`, which may be a path.
    pub(crate) fn of(name: &str) -> Self {
        let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
        match file.to_ascii_lowercase().as_str() {
            "cmd" | "cmd.exe" => Self::Cmd,
            "powershell" | "powershell.exe" | "pwsh" | "pwsh.exe" => Self::PowerShell,
            _ => Self::Posix,
        }
    }

    /// Returns how a shell runs `text` with the hook's `args`; `file` is the shell itself.
    pub(super) fn run(
        self,
        text: &str,
        args: &[String],
        file: &str,
    ) -> Result<Invocation, BuildError> {
        if self != Self::Posix && !args.is_empty() {
            return Err(BuildError::new("this shell can't be given `args`")
                .at("args")
                .hint("write them into the command, or make the command a list"));
        }
        let (arguments, raw) = match self {
            Self::Posix => {
                let mut arguments = vec!["-c".to_owned(), text.to_owned()];
                if !args.is_empty() {
                    // The shell's `$0`; the arguments are counted from `$1`.
                    arguments.push(file.to_owned());
                    arguments.extend_from_slice(args);
                }
                (arguments, None)
            }
            // cmd would leave out all lines but the first.
            Self::Cmd if text.trim_end().contains(['\n', '\r']) => {
                return Err(BuildError::new("cmd runs one line, and the command has several")
                    .at("command")
                    .hint("join the lines by `&&`, or move them to a `.cmd` file"));
            }
            // No `AutoRun` of the registry; only the outer quotes are taken away.
            Self::Cmd => {
                let arguments = ["/d", "/s", "/c"].map(str::to_owned).to_vec();
                (arguments, Some(format!("\"{}\"", text.trim_end())))
            }
            Self::PowerShell => {
                let text = format!("{text}\n{LAST_STATUS}");
                let arguments = ["-NoProfile", "-NonInteractive", "-Command", &text];
                (arguments.map(str::to_owned).to_vec(), None)
            }
        };
        Ok(Invocation { arguments, raw })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_shell_says_its_language() {
        for (name, language) in [
            ("/bin/sh", Language::Posix),
            ("bash", Language::Posix),
            (r"C:\Program Files\Git\bin\bash.exe", Language::Posix),
            ("cmd", Language::Cmd),
            (r"C:\Windows\System32\CMD.EXE", Language::Cmd),
            ("powershell.exe", Language::PowerShell),
            ("/usr/bin/pwsh", Language::PowerShell),
        ] {
            assert_eq!(Language::of(name), language, "{name}");
        }
    }

    #[test]
    fn each_language_is_given_the_text_whole_or_not_at_all() {
        let run = |language: Language, text: &str, args: &[&str]| {
            let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
            language.run(text, &args, "/bin/sh")
        };
        let posix = run(Language::Posix, "exit 2", &["a"]).unwrap();
        assert_eq!(posix.arguments, ["-c", "exit 2", "/bin/sh", "a"]);
        let cmd = run(Language::Cmd, "echo \"a\" & exit /b 2\n", &[]).unwrap();
        assert_eq!(cmd.arguments, ["/d", "/s", "/c"]);
        assert_eq!(cmd.raw.as_deref(), Some("\"echo \"a\" & exit /b 2\""));
        assert!(run(Language::Cmd, "echo a\nexit /b 2", &[]).is_err(), "the second line is lost");
        // `-Command -` alone would run the event's data.
        let power_shell = run(Language::PowerShell, "-", &[]).unwrap();
        assert!(power_shell.arguments[3].starts_with("-\nif (-not $?)"));
        for language in [Language::Cmd, Language::PowerShell] {
            assert!(run(language, "exit 2", &["a"]).is_err(), "the argument would be code");
        }
    }
}
