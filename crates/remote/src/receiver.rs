//! `type: receiver`: a person answers, at the `hookexec approve` of the same user.
//!
//! A question is one line of JSON, the hook's input; its answer is one line of JSON, as a command
//! writes it. The connection is the question: when the caller goes away, it is withdrawn.

use std::path::PathBuf;
use std::sync::Arc;

use hookexec::config::Hook;
use hookexec::{BuildError, Event, Handler};
use hookexec_files::directories::state_directory;

/// Returns where the receiver of this user listens; `None` when the user has no home directory.
pub fn receiver_socket() -> Option<PathBuf> {
    let mut base = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR").unwrap_or_default());
    if !base.is_absolute() {
        base = state_directory()?;
    }
    // A directory of its own, which no other user may enter.
    Some(base.join("hookexec/approve/socket"))
}

/// Builds the handler of a hook that asks a person.
pub(crate) fn build(hook: &Hook) -> Result<Arc<dyn Handler>, BuildError> {
    if hook.event != Event::Approval {
        let message = format!("a receiver answers at `approval`, and not at `{}`", hook.event);
        let hint = "move the hook to `approval:`, and let a hook here answer `ask`";
        return Err(BuildError::new(message).at("type").hint(hint));
    }
    #[cfg(not(unix))]
    {
        let message = "hooks of type `receiver` are not available on Windows";
        let hint = "ask by a hook of type `command` or `http`";
        Err(BuildError::new(message).at("type").hint(hint))
    }
    #[cfg(unix)]
    {
        let remedy = format!(
            "a person must decide: run `hookexec approve` in another terminal, repeat the call, and \
             answer there within {:?} (the hook's `timeout`)",
            hook.timeout
        );
        Ok(Arc::new(unix::Receiver { timeout: hook.timeout, max_output: hook.max_output, remedy }))
    }
}

#[cfg(unix)]
mod unix {
    use std::io::ErrorKind;
    use std::path::Path;
    use std::time::Duration;

    use rustix::process::geteuid;
    use tokio::io::{AsyncWriteExt as _, BufReader};
    use tokio::net::UnixStream;

    use hookexec::{BoxFuture, Call, Exited, Failure, Handler, HandlerError, HandlerResult};
    use hookexec_files::bounded::read_line;

    #[derive(Debug)]
    pub(super) struct Receiver {
        pub(super) timeout: Duration,
        pub(super) max_output: usize,
        /// An instruction for the user; the model can only pass it on.
        pub(super) remedy: String,
    }

    impl Handler for Receiver {
        fn run<'a>(
            &'a self,
            call: &'a Call<'a>,
        ) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
            Box::pin(async move {
                let asked = tokio::time::timeout_at(call.deadline.into(), self.ask(call));
                asked.await.unwrap_or_else(|_| {
                    let message = format!(
                        "no answer came from `hookexec approve` within {:?}; tell the user",
                        self.timeout
                    );
                    Err(HandlerError::new(Failure::TimedOut, message))
                })
            })
        }

        fn remedy(&self) -> Option<&str> {
            Some(&self.remedy)
        }
    }

    impl Receiver {
        async fn ask(&self, call: &Call<'_>) -> Result<HandlerResult, HandlerError> {
            let mut stream = connect().await?;
            let mut question = call.json().to_vec();
            question.push(b'\n');
            // The answer of the receiver is read also when it does not take all of it.
            let written = stream.write_all(&question).await;
            let cause = match read_line(&mut BufReader::new(stream), self.max_output).await {
                Ok(answer) => {
                    return Ok(Exited::new(0, answer, Vec::new()).into());
                }
                Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                    let message = format!(
                        "the receiver answered with more than {} bytes; raise the hook's `max_output`",
                        self.max_output
                    );
                    return Err(HandlerError::new(Failure::OutputLimit, message));
                }
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => written.err(),
                Err(error) => Some(written.err().unwrap_or(error)),
            };
            let cause = cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
            let message = format!("the receiver ended before it answered{cause}; tell the user");
            Err(HandlerError::new(Failure::Other, message))
        }
    }

    /// Connects to the receiver, which must be a process of the same user.
    async fn connect() -> Result<UnixStream, HandlerError> {
        let Some(path) = super::receiver_socket() else {
            return Err(not_asked("a receiver needs a home directory; set HOME".to_owned()));
        };
        let stream = match UnixStream::connect(&path).await {
            Ok(stream) => stream,
            Err(cause)
                if matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
            {
                return Err(not_asked(format!(
                    "no receiver listens at {}: a person must decide about this call; tell the user",
                    path.display()
                )));
            }
            Err(cause) => return Err(unusable(&path, &cause)),
        };
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == geteuid().as_raw() => Ok(stream),
            Ok(peer) => {
                let uid = peer.uid();
                let cause = format!("the process there belongs to another user (uid {uid})");
                Err(unusable(&path, &cause))
            }
            Err(cause) => Err(unusable(&path, &cause)),
        }
    }

    fn not_asked(message: String) -> HandlerError {
        HandlerError::new(Failure::Start, message)
    }

    fn unusable(path: &Path, cause: &dyn std::fmt::Display) -> HandlerError {
        not_asked(format!("the receiver at {} can't be asked: {cause}", path.display()))
    }
}
