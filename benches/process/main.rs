//! What hooks cost beyond the programs they run: the engine and its baseline in turn, in one run.
//!
//! Run with `cargo bench --bench process`; words after `--` choose the lines that contain them.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark that can't run stops")]

#[path = "../support/mod.rs"]
mod support;

mod ballast;
mod cli;
mod command;
mod engine;
mod measure;
mod peers;
mod programs;
mod raw;
mod round_trip;
mod server;
#[cfg_attr(target_os = "linux", path = "system/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "system/other.rs")]
mod system;

use measure::Finding;

/// How a benchmark is to be run.
struct Options {
    /// How many samples a measurement takes.
    samples: usize,
    words: Vec<String>,
    /// Whether to get the guards of others first.
    install: bool,
    /// Whether to measure only the lines about a whole policy.
    policy: bool,
}

impl Options {
    /// Reads the command line. Without cargo's `--bench` it is only seen whether everything runs.
    fn read() -> Self {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let has = |option: &str| arguments.iter().any(|argument| argument == option);
        let (measures, install, policy) = (has("--bench"), has("--install"), has("--policy"));
        let words = arguments.into_iter().filter(|argument| !argument.starts_with('-'));
        Self { samples: if measures { 400 } else { 6 }, words: words.collect(), install, policy }
    }

    /// Adds what `measure` finds when the line is wanted.
    fn add(&self, findings: &mut Vec<Finding>, work: &str, measure: impl FnOnce(usize) -> Finding) {
        if self.wants(work) {
            findings.push(measure(self.samples));
        }
    }

    fn wants(&self, work: &str) -> bool {
        (self.words.is_empty() || self.words.iter().any(|word| work.contains(word.as_str())))
            && (!self.policy || work.contains("policy"))
    }
}

fn main() {
    if ballast::is_child() {
        return ballast::serve();
    }
    let options = Options::read();
    let mut findings = Vec::new();
    engine::measure(&options, &mut findings);
    command::measure(&options, &mut findings);
    round_trip::measure(&options, &mut findings);
    cli::measure(&options, &mut findings);
    server::measure(&options, &mut findings);
    peers::measure(&options, &mut findings);
    assert!(!findings.is_empty(), "no line of work contains any of {:?}", options.words);
    measure::print(&findings);
}
