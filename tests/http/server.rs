//! A server of one answer, which notes what it is asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

#[path = "../support/request.rs"]
mod request;

pub(crate) use request::Request;

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    open: AtomicUsize,
    closed: Notify,
}

pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Seen>,
}

/// Returns a whole answer, after which the connection stays open.
pub(crate) fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    let location = "Location: http://127.0.0.1:1/";
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{location}\r\n\r\n{body}")
}

impl Server {
    /// Returns a server that answers each request with `reply`. It closes the connection unless that
    /// is a whole answer.
    pub(crate) async fn new(reply: String) -> Self {
        let ends = reply.split_once("\r\n\r\n").is_none_or(|(head, body)| {
            !head.contains(&format!("Content-Length: {}\r\n", body.len()))
        });
        Self::start(move |_: &[Request]| reply.clone(), !ends, false).await
    }

    /// Returns a server whose whole answers depend on all requests until then.
    pub(crate) async fn answering(reply: impl Fn(&[Request]) -> String + Reply) -> Self {
        Self::start(reply, true, false).await
    }

    /// Returns a server that answers no more than `partial`, and holds the connection.
    pub(crate) async fn hanging(partial: &str) -> Self {
        let partial = partial.to_owned();
        Self::start(move |_: &[Request]| partial.clone(), true, true).await
    }

    async fn start(reply: impl Fn(&[Request]) -> String + Reply, keep: bool, hang: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let seen = Arc::new(Seen::default());
        let noted = Arc::clone(&seen);
        let reply = Arc::new(reply);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                noted.connections.fetch_add(1, Ordering::Relaxed);
                noted.open.fetch_add(1, Ordering::Relaxed);
                let (reply, noted) = (Arc::clone(&reply), Arc::clone(&noted));
                tokio::spawn(async move {
                    serve(stream, reply, keep, hang, Arc::clone(&noted)).await;
                    noted.open.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        Self { url, seen }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::Relaxed)
    }

    /// Returns how many connections are open.
    pub(crate) fn open(&self) -> usize {
        self.seen.open.load(Ordering::Relaxed)
    }

    /// Waits until a client has closed a connection.
    pub(crate) async fn closed(&self) {
        self.seen.closed.notified().await;
    }
}

/// What a closure must be to answer on any connection.
pub(crate) trait Reply: Send + Sync + 'static {}

impl<T: Send + Sync + 'static> Reply for T {}

async fn serve(
    stream: TcpStream,
    reply: Arc<impl Fn(&[Request]) -> String + Reply>,
    keep: bool,
    hang: bool,
    seen: Arc<Seen>,
) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = Request::read(&mut stream).await {
        let reply = {
            let mut requests = seen.requests.lock().unwrap();
            requests.push(request);
            reply(&requests)
        };
        if stream.get_mut().write_all(reply.as_bytes()).await.is_err() || !keep {
            return;
        }
        if hang {
            let _ = stream.read(&mut [0; 64]).await;
            break;
        }
    }
    seen.closed.notify_one();
}
