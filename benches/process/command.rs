//! Command hooks through the library.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use hookexec::{Decision, Event, Executor, Input};
use tokio::runtime::Runtime;

use crate::engine::{executor, runtime};
use crate::measure::{Finding, ratio, timed};
use crate::{Options, ballast, raw, support};

/// What the hooks run: nearly all of its time goes into starting two programs.
pub(crate) const COMMAND: &str = "cat >/dev/null";

pub(crate) fn measure(options: &Options, findings: &mut Vec<Finding>) {
    let input = support::input(2_000);
    let json = serde_json::to_vec(&input).unwrap();

    let work = "one command hook through `dispatch` / raw spawn";
    options.add(findings, work, |samples| {
        let mut hooks = Hooks::new(&hook(COMMAND), 1);
        let raw = || timed(|| raw::run(vec![shell(COMMAND)], &json));
        ratio(work, Some(1.05), samples, raw, || hooks.dispatch(&input))
    });

    let work = "the same, parent of 1 GiB / small parent";
    options.add(findings, work, |samples| {
        let (mut small, mut large) = (ballast::Child::start(0), ballast::Child::start(1 << 30));
        ratio(work, Some(1.05), samples, || small.dispatch(), || large.dispatch())
    });

    let work = "argv hook / `sh -c` of it";
    options.add(findings, work, |samples| {
        let mut text = Hooks::new(&hook("exec 3>&1; wc -c"), 1);
        let mut argv = Hooks::new("[wc, -c]", 1);
        ratio(work, Some(0.65), samples, || text.dispatch(&input), || argv.dispatch(&input))
    });

    let work = "shell string that needs no shell / the same through `sh -c`";
    options.add(findings, work, |samples| {
        let mut shell = Hooks::new(&hook("exec 3>&1; wc -c"), 1);
        let mut plain = Hooks::new(&hook("wc -c"), 1);
        ratio(work, Some(0.65), samples, || shell.dispatch(&input), || plain.dispatch(&input))
    });

    let work = "50 command hooks at once / raw";
    options.add(findings, work, |samples| {
        let mut hooks = Hooks::new(&hook(COMMAND), 50);
        let commands = || (0..50).map(|_| shell(COMMAND)).collect();
        let raw = || timed(|| raw::run(commands(), &json));
        ratio(work, Some(1.05), samples / 8 + 2, raw, || hooks.dispatch(&input))
    });
}

/// A number of alike command hooks, and a runtime to run them in.
pub(crate) struct Hooks {
    executor: Executor,
    runtime: Runtime,
    count: usize,
}

impl Hooks {
    /// Returns `count` hooks of a command as written in YAML.
    pub(crate) fn new(command: &str, count: usize) -> Self {
        let mut text = String::from("pre_tool_use:\n  - hooks:\n");
        for number in 0..count {
            let _ =
                writeln!(text, "    - {{ type: command, name: h{number}, command: {command} }}");
        }
        Self { executor: executor(&text), runtime: runtime(), count }
    }

    /// Returns how long one dispatch takes.
    pub(crate) fn dispatch(&mut self, input: &Input) -> Duration {
        timed(|| {
            let verdict = self.runtime.block_on(self.executor.dispatch(Event::PreToolUse, input));
            assert_eq!(verdict.hooks.len(), self.count);
            assert!(verdict.failed_open.is_empty(), "{verdict:?}");
            assert_ne!(verdict.decision, Some(Decision::Deny), "{verdict:?}");
        })
    }
}

/// Returns a command in YAML.
pub(crate) fn hook(command: &str) -> String {
    format!("\"{command}\"")
}

pub(crate) fn shell(command: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]);
    shell
}
