//! `protect_paths`: keeps tools away from files.

mod expand;
mod rules;
mod targets;
mod texts;
mod words;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Argument, Prepared, Shipped, Surroundings, tool};
use crate::event::Event;
use crate::handlers::builtin::BuiltinError;
use crate::paths::{lexical, physical};
use crate::wire::{Input, Output};
use expand::{Expander, has_wildcard};
use rules::{Access, Rules, RulesHere};
use targets::Targets;
use texts::{TOO_MANY, Unchecked, Wildcards};
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
    rewrites: false,
    on_failure: |_| None,
    prepare,
};

/// How many directories one call may name as places that other paths start from.
const MOST_BASES: usize = 256;
/// How many paths of one call can be checked.
const MOST_PATHS: usize = 200_000;

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
        let environment = |name: &str| match name {
            // Of the agent's shell, which is elsewhere.
            "PWD" => Some(input.cwd.clone()).filter(|cwd| !cwd.is_empty()),
            "OLDPWD" => None,
            name => Some(self.surroundings.var(name)?.to_str()?.to_owned()),
        };
        let targets = Targets::of(input, &environment)?;
        let access = Access { reads: !tool::only_writes(input), writes: !tool::only_reads(input) };
        let bases = self.bases(&input.cwd, &targets)?;
        let guesses = if targets.strays { self.guesses() } else { BTreeSet::new() };
        checkable(&targets, bases.len() + guesses.len())?;
        let mut expander = Expander::default();
        for (text, wildcards) in targets.texts.iter() {
            let known = self.places(text, &bases).into_iter().map(|path| (path, targets.descends));
            let strays = guessed(text, &guesses).into_iter().map(|path| (path, false));
            for (path, descends) in known.chain(strays) {
                // A name may contain a `*` itself.
                let mut meant = vec![PathBuf::from(&path)];
                if wildcards > Wildcards::None && has_wildcard(&path) {
                    let dots = wildcards == Wildcards::All;
                    let found = expander.expand(&path, dots).map_err(|_| {
                        format!("`{}` matches more files than can be checked", shown(text))
                    })?;
                    meant.extend(found);
                }
                for path in meant {
                    if let Some(reason) = self.path(text, &path, access, descends)? {
                        return Ok(Some(reason));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns why `path`, which `text` stands for, must not be touched.
    fn path(
        &self,
        text: &str,
        path: &Path,
        access: Access,
        descends: bool,
    ) -> Result<Option<String>, BuiltinError> {
        let name = || match lexical(path) {
            place if place == Path::new(text) => format!("`{}`", shown(text)),
            place => format!("`{}` (`{}`)", shown(text), place.display()),
        };
        let Some(real) = physical(path) else {
            let name = name();
            return Err(
                format!("{name} leads elsewhere in each process, so it can't be checked").into()
            );
        };
        let forms = [lexical(path), real];
        if let Some(rule) = self.rules.protecting(&forms, access) {
            return Ok(Some(format!("{} is protected by `{rule}`", name())));
        }
        let below =
            (descends && path.is_dir()).then(|| self.rules.protecting_below(&forms, access));
        Ok(below.flatten().map(|rule| format!("{} holds what is protected by `{rule}`", name())))
    }

    /// Returns the directories that a relative path may start from: the agent's, and every one that
    /// the call names, since it may go there first.
    fn bases(&self, cwd: &str, targets: &Targets) -> Result<BTreeSet<PathBuf>, BuiltinError> {
        let cwd = Path::new(cwd);
        let start = if cwd.is_absolute() { cwd.to_owned() } else { std::env::current_dir()? };
        let mut bases = BTreeSet::from([start]);
        let mut fresh = bases.clone();
        while !fresh.is_empty() {
            checkable(targets, bases.len())?;
            let found: BTreeSet<PathBuf> = targets
                .texts
                .iter()
                .filter(|(text, _)| !has_wildcard(text))
                .flat_map(|(text, _)| self.places(text, &fresh))
                .map(PathBuf::from)
                .filter(|path| path.is_dir())
                .filter_map(|path| physical(&path))
                .collect();
            fresh = found.difference(&bases).cloned().collect();
            bases.extend(fresh.iter().cloned());
            if bases.len() > MOST_BASES {
                return Err("the call names more directories than can be checked".into());
            }
        }
        Ok(bases)
    }

    /// Returns where a path may start from when the call does not tell: home, and every directory
    /// on the way to what is protected.
    fn guesses(&self) -> BTreeSet<PathBuf> {
        let home = self.surroundings.home().map(Path::to_owned);
        self.rules.above().map(Path::to_owned).chain(home).collect()
    }

    /// Returns the absolute paths that `text` may stand for, wildcards still in them.
    fn places(&self, text: &str, bases: &BTreeSet<PathBuf>) -> Vec<String> {
        let at_bases = |rest: &str| at(bases, rest);
        if let Some(rest) = text.strip_prefix('~') {
            let (user, rest) = rest.split_once('/').unwrap_or((rest, ""));
            let mut places: Vec<String> =
                self.home(user).iter().map(|home| format!("{}/{rest}", home.display())).collect();
            // A tool that does not know `~` takes it for a name.
            places.extend(at_bases(text));
            return places;
        }
        if text.starts_with('/') {
            return vec![text.to_owned()];
        }
        from_unknown(text).iter().flat_map(|rest| at(bases, rest)).collect()
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
}

fn checkable(targets: &Targets, bases: usize) -> Result<(), Unchecked> {
    if targets.texts.len().saturating_mul(bases) > MOST_PATHS { Err(TOO_MANY) } else { Ok(()) }
}

/// Returns the absolute paths that `text`, if it is a relative one, stands for in unknown places.
fn guessed(text: &str, guesses: &BTreeSet<PathBuf>) -> Vec<String> {
    if text.starts_with(['/', '~']) {
        return Vec::new();
    }
    let rests = from_unknown(text);
    // Everything in an unknown place is no guess.
    let rests = rests.iter().filter(|rest| !rest.starts_with(['*', '?', '[']));
    rests.flat_map(|rest| at(guesses, rest)).collect()
}

/// Returns what to look for in a directory: of a word that begins with what only the shell knows,
/// the rest may lie in any that is known, or end a name there.
fn from_unknown(text: &str) -> Vec<&str> {
    let rest = text.trim_start_matches([UNKNOWN, '/']);
    if rest.is_empty() {
        Vec::new()
    } else if text.starts_with(UNKNOWN) && text.trim_start_matches(UNKNOWN) == rest {
        vec![rest, text]
    } else {
        vec![rest]
    }
}

fn at(bases: &BTreeSet<PathBuf>, rest: &str) -> Vec<String> {
    bases.iter().map(|base| format!("{}/{rest}", base.display())).collect()
}

/// Returns a text for people: what only the shell knows is a `*` to them.
fn shown(text: &str) -> String {
    super::text::one_line(&text.replace(UNKNOWN, "*"))
}
