//! The arguments of `run` as agents and scripts write them, read without clap: that describes every
//! option first, which takes a third of a start.

use std::ffi::OsString;

use clap::ValueEnum as _;

use super::super::from::seconds;
use super::super::output::PlainFormat;
use super::Args;

impl Args {
    /// Returns the arguments, if they are plain: options by their long names, each value with its own
    /// word or behind a `=`, nothing twice. All else, mistakes included, is for clap to read and to
    /// explain: whatever is read here, clap reads the same.
    pub(crate) fn plain(words: &[OsString]) -> Option<Self> {
        let mut args = Self::default();
        let mut words = words.iter().map(|word| word.to_str());
        while let Some(word) = words.next() {
            let (word, mut attached) = match word?.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value)),
                _ => (word?, None),
            };
            let mut value = || {
                let value = attached.take().or_else(|| words.next().flatten());
                value.filter(|value| !value.is_empty() && !value.starts_with('-'))
            };
            match word {
                "--from" => set(&mut args.from.from, value()?.parse().ok()?)?,
                "--event" => set(&mut args.from.native, value()?.to_owned())?,
                "--within" => set(&mut args.from.within, seconds(value()?).ok()?)?,
                "--config" => args.config.config.push(value()?.into()),
                "--cwd" => set(&mut args.config.cwd, value()?.into())?,
                "--connect" => set(&mut args.connect.connect, value()?.into())?,
                "--format" => set(&mut args.format, PlainFormat::from_str(value()?, false).ok()?)?,
                "--isolated" if !args.config.isolated => args.config.isolated = true,
                "-v" | "--verbose" => args.log.verbose = args.log.verbose.checked_add(1)?,
                event if !event.starts_with('-') => set(&mut args.event, event.parse().ok()?)?,
                _ => return None,
            }
            if attached.is_some() {
                return None;
            }
        }
        args.is_complete().then_some(args)
    }

    /// Returns whether what is there goes together, and nothing is missing.
    fn is_complete(&self) -> bool {
        let Self { event, from, config, connect, .. } = self;
        let called = from.from.is_some();
        (called || event.is_some() && from.native.is_none() && from.within.is_none())
            && (connect.connect.is_none() || config.is_default())
    }
}

/// Sets what is not set yet.
fn set<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.is_none().then(|| *place = Some(value))
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
