//! The arguments of `run` as agents and scripts write them, read without clap: that describes every
//! option first, which takes a third of a start.

use std::ffi::OsString;

use clap::ValueEnum as _;

use super::Args;
use crate::commands::run::from::seconds;
use crate::console::output::PlainFormat;

impl Args {
    /// Returns the arguments, if they are plain: options by their long names, each value with its own
    /// word or behind a `=`, nothing twice. All else, mistakes included, is for clap to read and to
    /// explain: whatever is read here, clap reads the same.
    pub(crate) fn plain(words: &[OsString]) -> Option<Self> {
        let mut args = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let word = word.to_str()?;
            let (option, mut attached) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value)),
                _ => (word, None),
            };
            match option {
                "--isolated" if !args.config.isolated => args.config.isolated = true,
                "-v" | "--verbose" => args.log.verbose = args.log.verbose.checked_add(1)?,
                event if !event.starts_with('-') => set(&mut args.event, event.parse().ok()?)?,
                _ => {
                    let value = match attached.take() {
                        Some(value) => value,
                        None => words.next()?.to_str()?,
                    };
                    args.set_option(option, value)?;
                }
            }
            if attached.is_some() {
                return None;
            }
        }
        if args.is_complete() { Some(args) } else { None }
    }

    fn set_option(&mut self, option: &str, value: &str) -> Option<()> {
        if value.is_empty() || value.starts_with('-') {
            return None;
        }
        match option {
            "--from" => set(&mut self.from.from, value.parse().ok()?),
            "--event" => set(&mut self.from.native, value.to_owned()),
            "--within" => set(&mut self.from.within, seconds(value).ok()?),
            "--config" => {
                self.config.config.push(value.into());
                Some(())
            }
            "--cwd" => set(&mut self.config.cwd, value.into()),
            "--connect" => set(&mut self.connect, value.into()),
            "--format" => set(&mut self.format, PlainFormat::from_str(value, false).ok()?),
            _ => None,
        }
    }

    /// Returns whether what is there goes together, and nothing is missing.
    fn is_complete(&self) -> bool {
        let Self { event, from, config, connect, .. } = self;
        let called = from.from.is_some();
        (called || event.is_some() && from.native.is_none() && from.within.is_none())
            && (connect.is_none() || config.config.is_empty() && !config.isolated)
    }
}

/// Sets what is not set yet.
fn set<T>(place: &mut Option<T>, value: T) -> Option<()> {
    if place.is_some() {
        return None;
    }
    *place = Some(value);
    Some(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn words(line: &[&str]) -> Vec<OsString> {
        line.iter().map(OsString::from).collect()
    }

    #[test]
    fn what_agents_and_scripts_write_is_plain() {
        for line in [
            "pre_tool_use",
            "--from claude-code --event PreToolUse --within 54",
            "--config a.yaml pre_tool_use --config=b.yaml --isolated --cwd /x",
            "stop -v --verbose --format text --connect /run/socket",
        ] {
            let line: Vec<&str> = line.split(' ').collect();
            assert!(Args::plain(&words(&line)).is_some(), "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_here_clap_reads_the_same(
            line in prop::collection::vec(prop::sample::select(vec![
                "--from", "--event", "--within", "--config", "--cwd", "--connect", "--format",
                "--isolated", "--verbose", "-v", "-vv", "--", "-", "", "=", "--background", "--log",
                "pre_tool_use", "stop", "PreToolUse", "claude-code", "codex", "a b", "a=b", "5",
                "0", "-1", "json", "text", "JSON", "é", "--from=codex", "--config=x", "--config=",
                "--cwd=-x", "--cwd==", "--isolated=", "--isolated=true", "--within=0.5", "--conf",
                "--event=x=y", "-v=1", "--format=text", "run", "--help",
            ]), 0..6),
        ) {
            if let Some(read) = Args::plain(&words(&line)) {
                let clap = Line::try_parse_from([&["run"], &*line].concat());
                let clap = clap.map_err(|error| TestCaseError::fail(error.to_string()))?.args;
                prop_assert_eq!(format!("{read:?}"), format!("{clap:?}"));
            }
        }
    }
}
