//! The rules of `protect_paths`, read from its arguments.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use hookexec_files::paths::{lexical, physical};
use hookexec_files::pattern::check_glob;
use hookexec_files::platform::{Platform, strip_base};

/// The access of a call to the paths it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// The rules of one hook.
#[derive(Debug)]
pub(super) struct Rules {
    protected: Vec<Rule>,
    protecting: GlobSet,
    excepting: GlobSet,
    platform: Platform,
}

#[derive(Debug)]
struct Rule {
    /// As it is written in the configuration.
    written: String,
    /// The access that it protects from.
    from: Access,
    /// The directory or file that everything it protects lies in; `None` when that can be anywhere.
    root: Option<PathBuf>,
}

impl Rules {
    pub(super) fn parse(
        args: &[String],
        home: Option<&Path>,
        platform: Platform,
    ) -> Result<Self, String> {
        let mut protected = Vec::new();
        let (mut protecting, mut excepting) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for arg in args {
            let (from, glob) = match arg.split_once(':') {
                Some(("read", glob)) => (Access { reads: true, writes: false }, glob),
                Some(("write", glob)) => (Access { reads: false, writes: true }, glob),
                Some(("allow", glob)) => {
                    let (glob, _) = expand(glob, home, platform)?;
                    // An exception is taken at its word, a protection is not.
                    excepting.add(compile(&glob, false).map_err(|e| bad(arg, &e))?);
                    continue;
                }
                _ => (Access { reads: true, writes: true }, arg.as_str()),
            };
            let (glob, root) = expand(glob, home, platform)?;
            protecting.add(compile(&glob, true).map_err(|error| bad(arg, &error))?);
            protected.push(Rule { written: arg.clone(), from, root });
        }
        if protected.is_empty() {
            return Err("it needs at least one glob to protect".to_owned());
        }
        let build = |builder: &GlobSetBuilder| builder.build().map_err(|error| error.to_string());
        Ok(Self {
            protected,
            protecting: build(&protecting)?,
            excepting: build(&excepting)?,
            platform,
        })
    }

    /// Returns the rules as they are on this machine now.
    pub(super) fn here(&self) -> RulesHere<'_> {
        let real = |root: &Path| real(root, self.platform);
        let roots = self.protected.iter().map(|rule| rule.root.as_deref().map(real)).collect();
        RulesHere { rules: self, roots }
    }
}

/// Rules with the links before what they protect followed.
pub(super) struct RulesHere<'r> {
    rules: &'r Rules,
    roots: Vec<Option<PathBuf>>,
}

impl RulesHere<'_> {
    /// Returns the system that the rules are for.
    pub(super) fn platform(&self) -> Platform {
        self.rules.platform
    }

    /// Returns the names of the file that `path` leads to.
    pub(super) fn names(&self, path: &Path) -> Vec<PathBuf> {
        let mut names = vec![lexical(path), real(path, self.rules.platform)];
        names.dedup();
        let first = names.iter().filter_map(|name| self.rules.platform.first_name(name));
        names.extend(first.collect::<Vec<_>>());
        // `~/.ssh` may be a link itself: what it leads to is protected under its own name, too.
        for (rule, real) in self.rules.protected.iter().zip(&self.roots) {
            if let (Some(written), Some(real)) = (&rule.root, real)
                && written != real
            {
                let below = names.iter().filter_map(|name| strip_base(name, real, false));
                let below: Vec<_> = below.map(|rest| lexical(&written.join(rest))).collect();
                names.extend(below);
            }
        }
        names
    }

    /// Returns the rule that protects one of the `names` of a file from `access`. A path is protected
    /// when it or a directory it is in matches.
    pub(super) fn protecting(&self, names: &[PathBuf], access: Access) -> Option<&str> {
        let rules = self.rules;
        let matching = |path: &Path| {
            let found = rules.protecting.matches(path).into_iter();
            found.map(|index| &rules.protected[index]).find_map(|rule| rule.against(access))
        };
        let excepted = |path: &Path| path.ancestors().any(|path| rules.excepting.is_match(path));
        let mut found =
            names.iter().filter_map(|path| Some((path, path.ancestors().find_map(matching)?)));
        found.find(|(path, _)| !excepted(path)).map(|(_, rule)| rule)
    }

    /// Returns the rule that protects something below a directory. Only rules that say where what they
    /// protect lies can tell.
    pub(super) fn protecting_below(&self, names: &[PathBuf], access: Access) -> Option<&str> {
        self.rules.protected.iter().zip(&self.roots).find_map(|(rule, real)| {
            let mut roots = rule.root.iter().chain(real);
            let below =
                |root: &PathBuf| names.iter().any(|name| strip_base(root, name, false).is_some());
            let inside = roots.any(below);
            rule.against(access).filter(|_| inside)
        })
    }

    /// Returns the directories above what is protected, where rules say where that lies.
    pub(super) fn above(&self) -> impl Iterator<Item = &Path> {
        let roots = self.rules.protected.iter().filter_map(|rule| rule.root.as_deref());
        roots.flat_map(|root| root.ancestors().skip(1))
    }
}

impl Rule {
    /// Returns the rule as it is written, when it protects from `access`.
    fn against(&self, access: Access) -> Option<&str> {
        let hits = self.from.reads && access.reads || self.from.writes && access.writes;
        if hits { Some(self.written.as_str()) } else { None }
    }
}

/// Returns where the system would go for a path from `/` on, as such a path.
pub(super) fn real(path: &Path, platform: Platform) -> PathBuf {
    let place = physical(&platform.native(path));
    if platform.has_drives { rooted(&place, platform) } else { place }
}

/// Returns a path of the system as a path from `/` on.
pub(super) fn rooted(path: &Path, platform: Platform) -> PathBuf {
    match path.to_str() {
        Some(text) => PathBuf::from(platform.rooted(text).as_ref()),
        None => path.to_owned(),
    }
}

/// Returns the whole glob, and the path before its first wildcard when it is absolute.
fn expand(
    glob: &str,
    home: Option<&Path>,
    platform: Platform,
) -> Result<(String, Option<PathBuf>), String> {
    let glob = platform.rooted(glob);
    let glob = glob.as_ref();
    let wrong = |why: &str| Err(format!("glob `{glob}` {why}"));
    let at_home = ["~", "$HOME", "${HOME}"].iter().find_map(|name| {
        glob.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    let whole = match (at_home, home) {
        (Some(rest), Some(home)) => {
            globset::escape(&platform.rooted(&home.to_string_lossy())) + rest
        }
        (Some(_), None) => return wrong("needs the home directory, which is not known"),
        (None, _) if glob.starts_with(['~', '$']) => {
            return wrong("can begin with `~/` or `$HOME/`, not with another user or variable");
        }
        (None, _) if glob.starts_with('!') => return wrong("must be written as `allow:...`"),
        (None, _) => glob.to_owned(),
    };
    if whole.split('/').any(|part| part == "..") {
        return wrong("must not contain `..`");
    }
    let parts: Vec<&str> =
        whole.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    // A directory stands for all that is in it, so these ends say nothing.
    let kept = parts.iter().rposition(|part| *part != "**").map_or(0, |last| last + 1);
    let parts = &parts[..kept];
    if parts.is_empty() {
        return wrong("protects everything; to deny tools whatever they touch, use `deny_tools`");
    }
    if !whole.starts_with('/') {
        // The directory it is relative to is not known, so it counts in each.
        return Ok((format!("**/{}", parts.join("/")), None));
    }
    let root: PathBuf =
        parts.iter().take_while(|part| !part.contains(['*', '?', '[', '{', '\\'])).collect();
    Ok((format!("/{}", parts.join("/")), Some(Path::new("/").join(root))))
}

fn compile(glob: &str, case_insensitive: bool) -> Result<globset::Glob, String> {
    GlobBuilder::new(check_glob(glob).map_err(|problem| problem.to_string())?)
        .literal_separator(true)
        .case_insensitive(case_insensitive)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .map_err(|error| error.kind().to_string())
}

fn bad(arg: &str, error: &str) -> String {
    format!("`{arg}` is not a valid glob: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Access = Access { reads: true, writes: false };

    fn rules(platform: Platform) -> Rules {
        let home = if platform.has_drives { r"C:\Users\jo" } else { "/Users/jo" };
        Rules::parse(&["~/.ssh/**".to_owned()], Some(Path::new(home)), platform).unwrap()
    }

    #[test]
    fn a_file_that_macos_shows_twice_is_protected_under_both_names() {
        for (path, linux, macos) in [
            ("/Users/jo/.ssh/key", true, true),
            ("/System/Volumes/Data/Users/jo/.ssh/key", false, true),
            ("/system/volumes/data/users/jo/.SSH/key", false, true),
            ("/System/Volumes/Data/Users/jo/notes", false, false),
        ] {
            for (platform, expected) in [(Platform::LINUX, linux), (Platform::MACOS, macos)] {
                let rules = rules(platform);
                let here = rules.here();
                let found = here.protecting(&here.names(Path::new(path)), READ);
                assert_eq!(found.is_some(), expected, "{path} {platform:?}");
            }
        }
    }

    #[test]
    fn on_windows_every_spelling_of_a_path_is_one_path() {
        let args = [r"C:\Users\jo\.ssh\**", "**/.env*", "allow:**/.env.example"];
        let args = args.map(str::to_owned);
        let rules = Rules::parse(&args, None, Platform::WINDOWS).unwrap();
        let here = rules.here();
        for (path, expected) in [
            (r"C:\Users\jo\.ssh\key", true),
            (r"c:\users\JO\.SSH\key", true),
            ("C:/Users/jo/.ssh/key", true),
            ("/c/Users/jo/.ssh/key", true),
            (r"\\?\C:\Users\jo\.ssh\key", true),
            (r"C:\Users\jo\.ssh.\key", true),
            (r"C:\Users\jo\.ssh \key::$DATA", true),
            (r"C:\Users\jo\docs\..\.ssh", true),
            (r"C:\Users\jo\notes", false),
            (r"D:\Users\jo\.ssh\key", false),
            (r"D:\work\.env", true),
            (r"D:\work\.env.example", false),
        ] {
            let rooted = rooted(Path::new(path), Platform::WINDOWS);
            let found = here.protecting(&here.names(&rooted), READ);
            assert_eq!(found.is_some(), expected, "{path}");
        }
    }

    // The paths are those of Unix.
    #[cfg(unix)]
    #[test]
    fn a_directory_holds_what_is_protected_in_any_case() {
        let rules = rules(Platform::HERE);
        let here = rules.here();
        for (path, expected) in [("/USERS/Jo", true), ("/users", true), ("/Users/joe", false)] {
            let found = here.protecting_below(&here.names(Path::new(path)), READ);
            assert_eq!(found.is_some(), expected, "{path}");
        }
    }
}
