//! A small HTTP server for the page: one request a connection, and bounds for everything.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// How many requests are read and answered at once.
const CONNECTIONS: usize = 16;
/// How long a client may take to send the head of a request, and for the whole of it.
const HEAD_TIME: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest head of a request, the most fields in it, and the longest body.
const HEAD: usize = 8 << 10;
const FIELDS: usize = 64;
const BODY: usize = 16 << 10;

/// A request, with what the page needs of it.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) host: Option<String>,
    pub(super) origin: Option<String>,
    /// The address of the client.
    pub(super) peer: IpAddr,
    /// The fields of a form.
    pub(super) form: BTreeMap<String, String>,
}

pub(super) struct Response {
    pub(super) status: &'static str,
    /// Further fields of the head: lines that end in `\r\n`.
    pub(super) head: String,
    pub(super) body: String,
}

impl Response {
    /// Returns a plain text.
    pub(super) fn text(status: &'static str, body: &str) -> Self {
        let head = "Content-Type: text/plain; charset=utf-8\r\n".to_owned();
        Self { status, head, body: format!("{body}\n") }
    }

    /// Returns data for the script of the page.
    pub(super) fn json(data: &impl Serialize) -> Self {
        let head = "Content-Type: application/json\r\n".to_owned();
        Self { status: "200 OK", head, body: serde_json::to_string(data).unwrap_or_default() }
    }

    fn bytes(&self) -> Vec<u8> {
        let Self { status, head, body } = self;
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\n{head}Content-Length: {length}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

/// Answers requests until it is dropped.
pub(super) async fn serve(
    listener: &TcpListener,
    answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
) {
    let (seats, answer) = (Arc::new(Semaphore::new(CONNECTIONS)), Arc::new(answer));
    let mut connections = JoinSet::new();
    loop {
        let accepted = listener.accept().await;
        while connections.try_join_next().is_some() {}
        let Ok((stream, peer)) = accepted else {
            // Out of descriptors, most likely: without a pause this would be a busy loop.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Beyond the limit a client sees the end of its connection.
        let Ok(seat) = Arc::clone(&seats).try_acquire_owned() else { continue };
        let answer = Arc::clone(&answer);
        connections.spawn(async move {
            let _ = tokio::time::timeout(PATIENCE, one(stream, peer.ip(), &*answer)).await;
            drop(seat);
        });
    }
}

async fn one(
    mut stream: TcpStream,
    peer: IpAddr,
    answer: &impl Fn(&Request) -> Response,
) -> io::Result<()> {
    let response = match read(&mut stream, peer).await {
        Ok(request) => answer(&request),
        // A browser keeps a connection ready that it may never use. An answer there would look like
        // that to its next request.
        Err(late) if late.kind() == io::ErrorKind::TimedOut => return Ok(()),
        Err(problem) => Response::text("400 Bad Request", &problem.to_string()),
    };
    stream.write_all(&response.bytes()).await?;
    stream.shutdown().await
}

async fn read(stream: &mut TcpStream, peer: IpAddr) -> io::Result<Request> {
    let mut bytes = Vec::with_capacity(HEAD);
    let head = tokio::time::timeout(HEAD_TIME, read_head(stream, peer, &mut bytes));
    let (mut request, length, body_at) = head.await??;
    if length > BODY {
        return Err(invalid("the body of the request is too long"));
    }
    let end = body_at + length;
    while bytes.len() < end {
        read_more(stream, &mut bytes).await?;
    }
    for (key, value) in form_urlencoded::parse(&bytes[body_at..end]).into_owned() {
        if request.form.insert(key, value).is_some() {
            return Err(invalid("a field of the form is there twice"));
        }
    }
    Ok(request)
}

/// Returns the request without its form, the length of its body and where it begins.
async fn read_head(
    stream: &mut TcpStream,
    peer: IpAddr,
    bytes: &mut Vec<u8>,
) -> io::Result<(Request, usize, usize)> {
    loop {
        if let Some(found) = head(bytes, peer).map_err(invalid)? {
            return Ok(found);
        }
        if bytes.len() >= HEAD {
            return Err(invalid("the head of the request is too long"));
        }
        read_more(stream, bytes).await?;
    }
}

async fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    match stream.read_buf(bytes).await? {
        0 => Err(invalid("the request ended early")),
        _ => Ok(()),
    }
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// Returns the request, the length of its body and where it begins, once the head is whole.
fn head(bytes: &[u8], peer: IpAddr) -> Result<Option<(Request, usize, usize)>, &'static str> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let Ok(status) = parsed.parse(bytes) else { return Err("the request is not valid HTTP") };
    let httparse::Status::Complete(body_at) = status else { return Ok(None) };
    // Two fields of one name are two readings of a request.
    let field = |name: &str| -> Result<Option<String>, &'static str> {
        let mut values = parsed.headers.iter().filter(|it| it.name.eq_ignore_ascii_case(name));
        let Some(field) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err("a field of the head is there twice");
        }
        let text = std::str::from_utf8(field.value).map_err(|_| "a field is not UTF-8")?;
        Ok(Some(text.to_owned()))
    };
    if field("transfer-encoding")?.is_some() {
        return Err("`Transfer-Encoding` is not supported");
    }
    let length = match field("content-length")? {
        Some(length) => length.parse().map_err(|_| "`Content-Length` is not a number")?,
        None => 0,
    };
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: parsed.path.unwrap_or_default().to_owned(),
        host: field("host")?,
        origin: field("origin")?,
        peer,
        form: BTreeMap::new(),
    };
    Ok(Some((request, length, body_at)))
}
