//! The Unix socket: private to the user, and never in two hands.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookexec::internal::{files, system};
use rustix::io::{FdFlags, fcntl_setfd, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, socket};
use rustix::process::geteuid;
use tokio::io::Interest;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

use crate::error::CommandError;

/// A socket that only processes of the same user can connect to.
///
/// Dropping it removes its file. The file beside it that ends in `.lock` stays: it is what tells a
/// socket in use from one that a killed server left behind.
#[derive(Debug)]
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// Which file it is, so that another's is never removed.
    identity: (u64, u64),
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
    pub(crate) fn bind(path: impl Into<PathBuf>) -> Result<Self, CommandError> {
        let path = path.into();
        let absolute = std::path::absolute(&path);
        let path = absolute.map_err(|cause| of_system(&path, &cause))?;
        let failed = |cause: io::Error| of_system(&path, &cause);
        check_directory(&path)?;

        // The holder of the lock owns the path: no other server uses the file there.
        let mut lock_path = path.clone().into_os_string();
        lock_path.push(".lock");
        let lock = files::try_lock(lock_path.as_ref()).map_err(failed)?.ok_or_else(|| {
            let path = path.display();
            CommandError::usage(format!("another process of hookexec is listening at {path}"))
                .hint("use that process, or end it")
        })?;
        match path.symlink_metadata() {
            Ok(found) if found.file_type().is_socket() => fs::remove_file(&path).map_err(failed)?,
            Ok(_) => {
                let problem = format!("{} exists and is not a socket", path.display());
                let hint = "choose another path, or remove what is there";
                return Err(CommandError::usage(problem).hint(hint));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }

        let listener = UnixListener::bind(&path).map_err(failed)?;
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(&path, private).map_err(failed)?;
        let found = path.symlink_metadata().map_err(failed)?;
        Ok(Self { listener, identity: (found.dev(), found.ino()), _lock: lock, path })
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for the next client; `None` when it went away, is another user's, or there are no file
    /// descriptors left.
    pub(crate) async fn accept(&self) -> Option<UnixStream> {
        let stream = match self.listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!("can't accept a connection: {error}");
                // Out of descriptors, most likely: without a pause this would be a busy loop.
                tokio::time::sleep(Duration::from_millis(50)).await;
                return None;
            }
        };
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == geteuid().as_raw() => Some(stream),
            Ok(peer) => {
                tracing::warn!(uid = peer.uid(), "a connection of another user was refused");
                None
            }
            Err(error) => {
                tracing::warn!("a connection was refused, since its user is not known: {error}");
                None
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let found = self.path.symlink_metadata();
        if found.is_ok_and(|found| (found.dev(), found.ino()) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns what the system says of the socket at `path`.
fn of_system(path: &Path, cause: &io::Error) -> CommandError {
    CommandError::usage(format!("can't listen at {}: {cause}", path.display()))
}

/// Makes sure that only the user can enter the directory of `path`.
fn check_directory(path: &Path) -> Result<(), CommandError> {
    let failed = |cause: io::Error| of_system(path, &cause);
    let directory = path.parent().unwrap_or(Path::new("/"));
    files::private_directory(directory).map_err(failed)?;
    let found = directory.metadata().map_err(failed)?;
    let shown = directory.display();
    if !system::belongs_to_user(&found) {
        let problem = format!("the directory {shown} belongs to another user");
        return Err(CommandError::usage(problem));
    }
    if found.mode() & 0o077 != 0 {
        let problem = "is open to other users, so a socket in it would be, too";
        let hint = format!("take a directory of its own, or run `chmod 700 {shown}`");
        return Err(CommandError::usage(format!("the directory {shown} {problem}")).hint(hint));
    }
    Ok(())
}

/// A connection to a client.
pub(crate) type Stream = UnixStream;

/// Returns the two halves of a connection, and a future that ends when the client has closed it.
pub(crate) fn split(
    stream: Stream,
) -> io::Result<(OwnedReadHalf, OwnedWriteHalf, impl Future<Output = ()> + Send + use<>)> {
    let gone = hangup(&stream)?;
    let (reader, writer) = stream.into_split();
    Ok((reader, writer, gone))
}

/// Writes as much of `text` as the system takes at once.
pub(crate) fn write_at_once(stream: &Stream, text: &[u8]) {
    let _ = stream.try_write(text);
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
pub(crate) fn connect(path: &Path, limit: Duration) -> Result<Stream, String> {
    let place = path.display();
    let stream = open(path, limit).map_err(|cause| match cause.kind() {
        // A socket whose timeout has passed would block.
        ErrorKind::WouldBlock => format!("the server at {place} does not answer: timed out"),
        _ => format!("nothing listens at {place}: {cause}"),
    })?;
    if stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw()) {
        return Ok(stream);
    }
    Err(format!("the process that listens at {place} is another user's"))
}

/// Connects within `limit`: a suspended server accepts no connection once the queue of its socket is
/// full.
fn open(path: &Path, limit: Duration) -> io::Result<UnixStream> {
    let socket: OwnedFd = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    set_socket_timeout(&socket, Timeout::Send, Some(limit))?;
    let address = SocketAddrUnix::new(path)?;
    retry_on_intr(|| rustix::net::connect(&socket, &address))?;
    let stream = std::os::unix::net::UnixStream::from(socket);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
