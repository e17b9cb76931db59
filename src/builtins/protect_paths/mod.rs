//! `protect_paths`: keeps tools away from files.

mod expand;
mod resolve;
mod rules;
mod targets;
mod words;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Argument, Prepared, Shipped, Surroundings};
use crate::event::Event;
use crate::handlers::builtin::BuiltinError;
use crate::wire::{Input, Output};
use expand::{Expander, has_wildcard};
use resolve::lexical;
use rules::{Rules, RulesHere};
use targets::Targets;
use words::UNKNOWN;

pub(super) const PROTECT_PATHS: Shipped = Shipped {
    name: "protect_paths",
    about: "Denies tool calls that touch protected files",
    arguments: &[
        Argument {
            usage: "GLOB...",
            optional: false,
            about: "What may not be touched, with all that lies in it. A glob that begins with `/`, `~/` \
                    or `$HOME/` stands for that place; any other counts in every directory. `*` and \
                    `?` do not match a `/`, `**` matches any number of directories; `[a-z]` and \
                    `{a,b}` work. Case does not count.",
        },
        Argument {
            usage: "write:GLOB",
            optional: true,
            about: "What may be read and not written.",
        },
        Argument { usage: "read:GLOB", optional: true, about: "What may be written and not read." },
        Argument {
            usage: "allow:GLOB",
            optional: true,
            about: "An exception to the others; here case counts.",
        },
    ],
    details: include_str!("details.md"),
    example: "pre_tool_use:\n  - hooks:\n      - { type: builtin, command: protect_paths, args: [\"~/.ssh/**\", \"**/.env*\", \"allow:**/.env.example\", \"write:**/.git/**\"] }",
    suits: |contract| {
        contract.tool_matched && contract.may_block && contract.event != Event::PostToolUse
    },
    inline: false,
    prepare,
};

/// How many directories one call may name as places that other paths start from.
const MOST_BASES: usize = 256;
/// How many paths of one call can be checked.
const MOST_PATHS: usize = 100_000;

fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    let rules = Rules::parse(args, surroundings.home())?;
    let surroundings = surroundings.clone();
    Ok(Box::new(move |input| {
        let check = Check { rules: rules.here(), surroundings: &surroundings };
        check.call(input).map(|reason| reason.map(Output::deny))
    }))
}

/// The check of one call.
struct Check<'a> {
    rules: RulesHere<'a>,
    surroundings: &'a Surroundings,
}

impl Check<'_> {
    /// Returns why the call must not be made.
    fn call(&self, input: &Input) -> Result<Option<String>, BuiltinError> {
        let variable = |name: &str| Some(self.surroundings.var(name)?.to_str()?.to_owned());
        let targets = Targets::of(input, &variable);
        let checkable = |bases: usize| match targets.texts.len().saturating_mul(bases) {
            0..=MOST_PATHS => Ok(()),
            _ => Err("the call names more paths than can be checked"),
        };
        checkable(1)?;
        let bases = self.bases(&input.cwd, &targets)?;
        checkable(bases.len())?;
        let mut expander = Expander::new(targets.dots);
        for text in &targets.texts {
            for path in self.places(text, &bases) {
                // A name may contain a `*` itself.
                let mut meant = vec![PathBuf::from(&path)];
                if has_wildcard(&path) {
                    let found = expander.expand(&path).map_err(|_| {
                        format!("`{}` matches more files than can be checked", shown(text))
                    })?;
                    meant.extend(found);
                }
                for path in meant {
                    if let Some(reason) = self.path(text, &path, &targets) {
                        return Ok(Some(reason));
                    }
                }
            }
        }
        Ok(None)
    }

    fn path(&self, text: &str, path: &Path, targets: &Targets) -> Option<String> {
        let name = || match lexical(path) {
            place if place == Path::new(text) => format!("`{}`", shown(text)),
            place => format!("`{}` (`{}`)", shown(text), place.display()),
        };
        if let Some(rule) = self.rules.protecting(path, targets.access) {
            return Some(format!("{} is protected by `{rule}`", name()));
        }
        if targets.descends
            && path.is_dir()
            && let Some(rule) = self.rules.protecting_below(path, targets.access)
        {
            return Some(format!("{} holds what is protected by `{rule}`", name()));
        }
        None
    }

    /// Returns the directories that a relative path may start from: the agent's, and every one that
    /// the call names, since it may go there first.
    fn bases(&self, cwd: &str, targets: &Targets) -> Result<BTreeSet<PathBuf>, BuiltinError> {
        let cwd = Path::new(cwd);
        let start = if cwd.is_absolute() { cwd.to_owned() } else { std::env::current_dir()? };
        let mut bases = BTreeSet::from([start]);
        let mut fresh = bases.clone();
        while !fresh.is_empty() {
            let found: BTreeSet<PathBuf> = targets
                .texts
                .iter()
                .filter(|text| !has_wildcard(text))
                .flat_map(|text| self.places(text, &fresh))
                .map(PathBuf::from)
                .filter(|path| path.is_dir())
                .map(|path| lexical(&resolve::physical(&path)))
                .collect();
            fresh = found.difference(&bases).cloned().collect();
            bases.extend(fresh.iter().cloned());
            if bases.len() > MOST_BASES {
                return Err("the call names more directories than can be checked".into());
            }
        }
        Ok(bases)
    }

    /// Returns the absolute paths that `text` may stand for, wildcards still in them.
    fn places(&self, text: &str, bases: &BTreeSet<PathBuf>) -> Vec<String> {
        let decoded;
        let text = match text.strip_prefix("file://") {
            Some(path) => {
                decoded = percent_decoded(path);
                &decoded
            }
            None => text,
        };
        let at_bases = |rest: &str| -> Vec<String> {
            bases.iter().map(|base| format!("{}/{rest}", base.display())).collect()
        };
        if let Some(rest) = text.strip_prefix('~') {
            let (user, rest) = rest.split_once('/').unwrap_or((rest, ""));
            let mut places: Vec<String> =
                self.home(user).iter().map(|home| format!("{}/{rest}", home.display())).collect();
            // A tool that does not know `~` takes it for a name.
            places.extend(at_bases(text));
            return places;
        }
        if text.starts_with('/') {
            return self.proc(text, &at_bases).unwrap_or_else(|| vec![text.to_owned()]);
        }
        // Where a word begins with what only the shell knows, the rest may lie in any directory that
        // is known.
        let rest = text.trim_start_matches([UNKNOWN, '/']);
        if rest.is_empty() { Vec::new() } else { at_bases(rest) }
    }

    /// Returns the home directories that `~user` may stand for.
    fn home(&self, user: &str) -> Vec<PathBuf> {
        let home = self.surroundings.home().map(Path::to_owned);
        match user {
            "" => home.into_iter().collect(),
            "root" => vec!["/root".into()],
            user => {
                let known = self.surroundings.var("USER").is_some_and(|name| name == user);
                let beside = home.as_deref().and_then(Path::parent).map(|homes| homes.join(user));
                home.filter(|_| known).into_iter().chain(beside).collect()
            }
        }
    }

    /// Returns what a path through `/proc/PID/cwd` or `/proc/PID/root` leads to, for the process
    /// that will read it and not for this one.
    fn proc(&self, text: &str, at_bases: &dyn Fn(&str) -> Vec<String>) -> Option<Vec<String>> {
        let rest = text.trim_start_matches('/').strip_prefix("proc/")?;
        let mut parts = rest.split('/').filter(|part| !part.is_empty() && *part != ".");
        let (_, link) = (parts.next()?, parts.next()?);
        // `/proc/PID/task/TID/cwd` is the same again.
        let link = if link == "task" { parts.nth(1)? } else { link };
        let behind = parts.collect::<Vec<_>>().join("/");
        match link {
            "cwd" => Some(at_bases(&behind)),
            "root" => Some(self.places(&format!("/{behind}"), &BTreeSet::new())),
            _ => None,
        }
    }
}

/// Returns a text for people: what only the shell knows is a `*` to them.
fn shown(text: &str) -> String {
    super::text::one_line(&text.replace(UNKNOWN, "*"))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
