//! The floor: the standard library's `posix_spawn`, and one `poll` over all pipes and children.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};

use rustix::event::{PollFd, PollFlags, poll};

use crate::system::end_of;

/// Starts the commands, gives each `input`, reads all they say and waits for the end of all.
pub(crate) fn run(commands: Vec<Command>, input: &[u8]) {
    let mut running: Vec<Running> =
        commands.into_iter().map(|command| Running::start(command, input)).collect();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let waiting: Vec<(usize, usize)> = running
            .iter()
            .enumerate()
            .flat_map(|(child, running)| {
                let open = running.sources.iter().enumerate();
                open.filter(|(_, source)| source.is_some()).map(move |(source, _)| (child, source))
            })
            .collect();
        if waiting.is_empty() {
            for mut ended in running {
                assert!(ended.child.wait().expect("it ended").success());
            }
            return;
        }
        let ready: Vec<bool> = {
            let source =
                |&(child, source): &(usize, usize)| running[child].sources[source].as_ref();
            let mut all: Vec<PollFd<'_>> = waiting
                .iter()
                .filter_map(source)
                .map(|source| PollFd::new(source, PollFlags::IN))
                .collect();
            poll(&mut all, None).expect("poll works");
            all.iter().map(|one| !one.revents().is_empty()).collect()
        };
        for ((child, source), _) in waiting.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            running[child].progress(source, &mut buffer);
        }
    }
}

/// Returns what a command answers to `input`, to look at before it is measured.
pub(crate) fn output(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(input).expect("the program reads");
    child.wait_with_output().expect("the program ends")
}

struct Running {
    child: Child,
    /// Standard output, standard error, and the process itself; `None` once it has ended.
    sources: [Option<File>; 3],
}

impl Running {
    fn start(mut command: Command, input: &[u8]) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("the program starts");
        // The inputs of the benchmarks fit into a pipe: this never waits.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        let end = end_of(&child);
        let sources =
            [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from), end];
        Self { child, sources: sources.map(|source| source.map(File::from)) }
    }

    fn progress(&mut self, source: usize, buffer: &mut [u8]) {
        if source == 2 {
            let status = self.child.wait().expect("it ended");
            assert!(status.success(), "{status}");
            self.sources[2] = None;
            return;
        }
        let Some(stream) = &mut self.sources[source] else { return };
        if !matches!(stream.read(buffer), Ok(1..)) {
            self.sources[source] = None;
        }
    }
}
