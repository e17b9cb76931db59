//! The one task that attends to a child: reads what it says, writes what waits, notices its end,
//! and stops it in good order.

use std::future::{pending, poll_fn};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::time::sleep_until;

use super::client::Client;
use super::outbox::Drained;
use super::rpc::LineDecoder;

/// How long a child may take to end after the end of its input.
pub(super) const EOF_GRACE: Duration = Duration::from_secs(2);

/// How long its group may take to end after SIGTERM.
pub(super) const TERM_GRACE: Duration = Duration::from_secs(1);

/// How long the system may take to bury a killed child.
pub(super) const BURIAL: Duration = Duration::from_secs(1);

/// How long a child that closed a pipe may take to end: usually it is ending already.
const CLOSE_GRACE: Duration = Duration::from_millis(500);

/// The longest line of stderr.
const MAX_STDERR_LINE: usize = 64 * 1024;

/// The most that is read of a pipe after the child's end: more than any pipe holds.
const REST: usize = 16 << 20;

const STDOUT_BUFFER: usize = 64 * 1024;
const STDERR_BUFFER: usize = 8 * 1024;

/// Attends to one child until it has ended.
///
/// * **Order**: when the child exits, all it wrote before is read, then open calls fail.
/// * **Drop** before that, as when the runtime is shut down: the group is killed, open calls fail.
/// * **Descendants** in the child's group end with it; who left the group (`setsid`) lives on, and
///   nothing here waits for it.
#[derive(Debug)]
pub(super) struct Attendant {
    client: Arc<Client>,
    stdout: Stream<ChildStdout>,
    stderr: Stream<ChildStderr>,
    /// Whether the child's stdin is open.
    writing: bool,
    /// Whether the child was asked to end.
    stopping: bool,
}

/// What an attendant can't settle by reading and writing.
#[derive(Debug)]
enum Happening {
    Exited(io::Result<ExitStatus>),
    /// Somebody else took the child away.
    GivenUp,
    StdoutClosed,
    StdinClosed(io::Error),
    StopWished,
    TimeUp,
}

impl Attendant {
    pub(super) fn new(
        client: Arc<Client>,
        stdout: ChildStdout,
        stderr: ChildStderr,
        max_line: usize,
    ) -> Self {
        Self {
            client,
            stdout: Stream::new(stdout, STDOUT_BUFFER, max_line),
            stderr: Stream::new(stderr, STDERR_BUFFER, MAX_STDERR_LINE),
            writing: true,
            stopping: false,
        }
    }

    pub(super) async fn run(mut self) {
        let (cause, crashed) = match self.attend(None).await {
            Happening::Exited(status) => self.exited(status),
            Happening::StopWished => self.stop().await,
            Happening::StdoutClosed => self.closed("it closed its stdout").await,
            Happening::StdinClosed(error) => {
                self.closed(&format!("it closed its stdin ({error})")).await
            }
            Happening::GivenUp | Happening::TimeUp => ("it was stopped".to_owned(), false),
        };
        self.client.end(cause, crashed);
    }

    /// End of input, then SIGTERM, then SIGKILL; answers count until the end.
    async fn stop(&mut self) -> (String, bool) {
        self.stopping = true;
        self.client.outbox.close_when_written();
        if !self.gone(EOF_GRACE).await {
            tracing::warn!(process = %self.client.name, "process did not end with its input; sending SIGTERM");
            self.client.terminate();
            if !self.gone(TERM_GRACE).await {
                tracing::warn!(process = %self.client.name, "process did not end on SIGTERM; sending SIGKILL");
                self.client.kill();
                self.gone(BURIAL).await;
            }
        }
        self.read_rest();
        ("it was stopped".to_owned(), false)
    }

    /// A child that closed a pipe can't be talked to: it ends, one way or the other.
    async fn closed(&mut self, cause: &str) -> (String, bool) {
        let until = Instant::now() + CLOSE_GRACE;
        loop {
            match self.attend(Some(until)).await {
                Happening::Exited(status) => return self.exited(status),
                Happening::StdoutClosed | Happening::StdinClosed(_) => {}
                Happening::StopWished => self.stopping = true,
                Happening::GivenUp | Happening::TimeUp => break,
            }
        }
        self.client.kill();
        self.gone(BURIAL).await;
        self.read_rest();
        (format!("{cause} and was killed"), !self.stopping)
    }

    fn exited(&mut self, status: io::Result<ExitStatus>) -> (String, bool) {
        self.read_rest();
        let clean = matches!(&status, Ok(status) if status.success());
        let cause = match status {
            Ok(status) => match status.code() {
                Some(code) => format!("it exited with code {code}"),
                None => format!("it was ended by signal {}", signal_name(status)),
            },
            Err(error) => format!("it ended ({error}; does the host ignore SIGCHLD?)"),
        };
        // Who leaves in good order and owes nothing may be started again at once.
        let crashed = !self.stopping && (!clean || self.client.owes());
        (cause, crashed)
    }

    /// Attends until the child is gone; returns whether it is within `time`.
    async fn gone(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            match self.attend(Some(until)).await {
                Happening::Exited(_) | Happening::GivenUp => return true,
                Happening::TimeUp => return false,
                Happening::StdoutClosed | Happening::StdinClosed(_) | Happening::StopWished => {}
            }
        }
    }

    /// Reads and writes until something happens.
    async fn attend(&mut self, until: Option<Instant>) -> Happening {
        let Self { client, stdout, stderr, writing, stopping } = self;
        let mut deadlines = pin!(client.keep_deadlines());
        loop {
            tokio::select! {
                biased;
                // First, or a child that never stops talking would hold up the calls to it.
                never = &mut deadlines => match never {},
                // Then answers: whatever else happens, what was said counts.
                open = stdout.read() => {
                    stdout.hand_over(|line| client.receive(line));
                    if !open {
                        return Happening::StdoutClosed;
                    }
                }
                _ = stderr.read() => stderr.hand_over(|line| client.overhear(line)),
                drained = poll_fn(|context| client.outbox.poll_drain(context)), if *writing => {
                    *writing = false;
                    if let Drained::Broken(error) = drained {
                        return Happening::StdinClosed(error);
                    }
                }
                exit = client.exited() => {
                    return exit.map_or(Happening::GivenUp, Happening::Exited);
                }
                () = client.stop.notified(), if !*stopping => return Happening::StopWished,
                () = async {
                    match until {
                        Some(until) => sleep_until(until.into()).await,
                        None => pending().await,
                    }
                } => return Happening::TimeUp,
            }
        }
    }

    /// Reads what the ended child left in its pipes. Whoever inherited them may hold them open for
    /// ever, so there is no waiting for their end.
    fn read_rest(&mut self) {
        let Self { client, stdout, stderr, .. } = self;
        stdout.read_rest(|line| client.receive(line));
        stderr.read_rest(|line| client.overhear(line));
    }
}

impl Drop for Attendant {
    fn drop(&mut self) {
        self.client.end("the Tokio runtime that it was started on has ended", false);
    }
}

/// A stream of a child, and the lines in it.
#[derive(Debug)]
struct Stream<R> {
    /// `None` once the stream has ended.
    reader: Option<R>,
    buffer: Box<[u8]>,
    /// How much of the buffer was read and not handed over.
    filled: usize,
    lines: LineDecoder,
}

impl<R: AsyncRead + AsFd + Unpin> Stream<R> {
    fn new(reader: R, buffer: usize, max_line: usize) -> Self {
        Self {
            reader: Some(reader),
            buffer: vec![0; buffer].into_boxed_slice(),
            filled: 0,
            lines: LineDecoder::new(max_line),
        }
    }

    /// Reads once; returns whether there may be more. Never returns again after the end was told.
    async fn read(&mut self) -> bool {
        let Some(reader) = &mut self.reader else { return pending().await };
        // A stream that can't be read has ended as far as we can tell.
        self.filled = reader.read(&mut self.buffer).await.unwrap_or(0);
        if self.filled == 0 {
            self.reader = None;
        }
        self.filled > 0
    }

    fn hand_over(&mut self, mut take: impl FnMut(&super::rpc::Line<'_>)) {
        if self.filled == 0 {
            self.lines.finish(|line| take(&line));
        } else {
            self.lines.feed(&self.buffer[..self.filled], |line| take(&line));
        }
        self.filled = 0;
    }

    /// Reads what is there, without waiting: by asking the system itself, because the reactor may
    /// not have heard of the last bytes when it hears of the child's exit.
    fn read_rest(&mut self, mut take: impl FnMut(&super::rpc::Line<'_>)) {
        let mut total = 0;
        while let Some(reader) = &self.reader
            && total < REST
        {
            match rustix::io::read(reader, &mut *self.buffer) {
                Ok(count @ 1..) => {
                    total += count;
                    self.filled = count;
                    self.hand_over(&mut take);
                }
                Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => break,
            }
        }
        self.reader = None;
        self.filled = 0;
        self.hand_over(take);
    }
}

fn signal_name(status: ExitStatus) -> String {
    // The standard library's text is `signal: 9 (SIGKILL)`.
    let text = status.to_string();
    match text.strip_prefix("signal: ") {
        Some(name) => name.to_owned(),
        None => status.signal().map_or(text, |signal| signal.to_string()),
    }
}
