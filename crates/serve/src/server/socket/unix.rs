//! The Unix socket: private to the user, and never in two hands.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::FutureExt as _;
use hookexec_files::files;
use hookexec_files::platform::system;
use rustix::process::geteuid;
use tokio::io::Interest;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Instant, sleep};

use crate::server::{ListenError, NoVerdict};

/// A socket that only processes of the same user can connect to.
///
/// Dropping it removes its file. The file beside it that ends in `.lock` stays: it is what tells a
/// socket in use from one that a killed server left behind.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// The device and the inode of its file.
    identity: Option<(u64, u64)>,
    _lock: File,
}

impl Socket {
    /// Listens at `path`, in a directory that only the user can enter; it is made when it is
    /// missing. What a killed server left there is removed.
    ///
    /// # Errors
    /// When the directory is not private, something else is there, or another server listens.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has I/O enabled.
    pub fn bind(path: &Path) -> Result<Self, ListenError> {
        let (shown, place) = (path, path.display());
        let path = std::path::absolute(path).or_failed(shown)?;
        check_directory(path.parent().unwrap_or(Path::new("/")), shown)?;

        // The holder of the lock owns the path: no other server uses the file there.
        let lock = path.with_added_extension("lock");
        let Some(lock) = files::try_lock(&lock).or_failed(shown)? else {
            let problem = format!("another process of hookexec is listening at {place}");
            return Err(ListenError::new(problem, "use that process, or end it"));
        };
        if let Ok(found) = path.symlink_metadata() {
            if !found.file_type().is_socket() {
                let problem = format!("{place} exists and is not a socket");
                let hint = "choose another path, or remove what is there";
                return Err(ListenError::new(problem, hint));
            }
            if is_in_use(&path) {
                let problem = format!("another program is listening at {place}");
                return Err(ListenError::new(problem, "choose another path"));
            }
            fs::remove_file(&path).or_failed(shown)?;
        }
        let listener = UnixListener::bind(&path).or_failed(shown)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).or_failed(shown)?;
        let identity = system::identity(&path);
        Ok(Self { listener, path, identity, _lock: lock })
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for the next client; `None` when it went away, is another user's, or no file descriptor
    /// is left.
    pub async fn accept(&self) -> Option<UnixStream> {
        match self.listener.accept().await {
            Ok((stream, _)) if is_own(&stream) => return Some(stream),
            Ok(_) => tracing::warn!("a connection of another user was refused"),
            Err(error) => {
                tracing::warn!("can't accept a connection: {error}");
                // Out of descriptors, most likely: without a pause this would be a busy loop.
                sleep(Duration::from_millis(50)).await;
            }
        }
        None
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // If its file and the lock were deleted, another server may be there.
        if self.identity.is_some() && system::identity(&self.path) == self.identity {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns whether a process listens at `path`. A socket that a killed process left refuses connections.
fn is_in_use(path: &Path) -> bool {
    match UnixStream::connect(path).now_or_never() {
        Some(Err(error)) => error.kind() != ErrorKind::ConnectionRefused,
        Some(Ok(_)) | None => true,
    }
}

trait OrFailed<T> {
    /// Returns an error that says that the socket at `path` can't be made.
    fn or_failed(self, path: &Path) -> Result<T, ListenError>;
}

impl<T> OrFailed<T> for io::Result<T> {
    fn or_failed(self, path: &Path) -> Result<T, ListenError> {
        self.map_err(|cause| {
            let problem = format!("can't listen at {}: {cause}", path.display());
            ListenError { problem, hint: None }
        })
    }
}

/// Makes sure that only the user can enter the directory of the socket `shown`.
fn check_directory(directory: &Path, shown: &Path) -> Result<(), ListenError> {
    files::private_directory(directory).or_failed(shown)?;
    let found = directory.metadata().or_failed(shown)?;
    let shown = directory.display();
    if !system::belongs_to_user(&found) {
        let problem = format!("the directory {shown} belongs to another user");
        return Err(ListenError { problem, hint: None });
    }
    if found.mode() & 0o077 != 0 {
        let problem = "is open to other users, so a socket in it would be, too";
        let hint = format!("take a directory of its own, or run `chmod 700 {shown}`");
        return Err(ListenError::new(format!("the directory {shown} {problem}"), &hint));
    }
    Ok(())
}

/// A connection to a client.
pub type Stream = UnixStream;

/// Returns whether the other end is a process of the user.
fn is_own(stream: &Stream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw())
}

/// Returns the two halves of a connection, and a future that ends when the client has closed it.
pub(crate) fn split(
    stream: Stream,
) -> io::Result<(OwnedReadHalf, OwnedWriteHalf, impl Future<Output = ()> + Send + use<>)> {
    let gone = hangup(&stream)?;
    let (reader, writer) = stream.into_split();
    Ok((reader, writer, gone))
}

/// Returns a future that ends when the other end has been closed, both ways.
fn hangup(stream: &UnixStream) -> io::Result<impl Future<Output = ()> + Send + use<>> {
    // A stream of its own: waiting here must not take events from the reader and the writer.
    let other = std::os::unix::net::UnixStream::from(stream.as_fd().try_clone_to_owned()?);
    let other = UnixStream::from_std(other)?;
    Ok(async move {
        while let Ok(ready) = other.ready(Interest::WRITABLE).await {
            if ready.is_write_closed() {
                return;
            }
            // There is room to write, which is not what is waited for: until the next event.
            let _ = other.try_io(Interest::WRITABLE, || Err::<(), _>(ErrorKind::WouldBlock.into()));
        }
    })
}

/// Connects within `limit` to the process that listens at `path`. The user decides for the user: a
/// socket that another user planted would allow anything.
pub(crate) async fn connect(path: &Path, limit: Duration) -> Result<Stream, NoVerdict> {
    let end = Instant::now() + limit;
    loop {
        match UnixStream::connect(path).await {
            Ok(stream) if is_own(&stream) => return Ok(stream),
            Ok(_) => return Err(NoVerdict::OtherUser),
            Err(cause) if cause.kind() != ErrorKind::WouldBlock => {
                return Err(NoVerdict::NotThere(cause));
            }
            // The queue of the socket is full, for example because the server is suspended.
            Err(_) if Instant::now() < end => sleep(Duration::from_millis(10)).await,
            Err(_) => return Err(io::Error::from(ErrorKind::TimedOut).into()),
        }
    }
}
