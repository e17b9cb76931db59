//! One HTTP request of the page: it has no body, and everything is bounded.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A request, with the fields of the head that the page needs.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    /// The text behind the `?` of the address.
    pub(super) query: String,
    pub(super) host: Option<String>,
    pub(super) origin: Option<String>,
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
}

/// Reads one request and sends what `answer` returns.
pub(super) async fn serve(mut stream: TcpStream, answer: impl Fn(&Request) -> Response) {
    // A browser keeps a connection ready that it may never use. An answer there would look like that to
    // its next request.
    // How long a client may take to send its request, and to read the answer.
    let Ok(read) = tokio::time::timeout(Duration::from_secs(1), read_request(&mut stream)).await
    else {
        return;
    };
    let Response { status, head, body } = match read {
        Ok(request) => answer(&request),
        Err(problem) => Response::text("400 Bad Request", problem),
    };
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\n{head}Content-Length: {length}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n{body}"
    );
    let sent = async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await
    };
    // A client that is gone needs no answer.
    let _ = tokio::time::timeout(Duration::from_secs(10), sent).await;
}

async fn read_request(stream: &mut TcpStream) -> Result<Request, &'static str> {
    let mut bytes = Vec::new();
    loop {
        if !matches!(stream.read_buf(&mut bytes).await, Ok(1..)) {
            return Err("the request ended early");
        }
        if let Some(request) = parse(&bytes)? {
            return Ok(request);
        }
        // The longest request.
        if bytes.len() >= 8 << 10 {
            return Err("the request is too long");
        }
    }
}

/// Returns the request, once its head is whole.
fn parse(bytes: &[u8]) -> Result<Option<Request>, &'static str> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut fields);
    let Ok(status) = parsed.parse(bytes) else { return Err("the request is not valid HTTP") };
    if status.is_partial() {
        return Ok(None);
    }
    let address = parsed.path.unwrap_or_default();
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    Ok(Some(Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: percent_decode_str(query).decode_utf8_lossy().into_owned(),
        host: field(parsed.headers, "host")?,
        origin: field(parsed.headers, "origin")?,
    }))
}

/// Returns a field of the head. Two of one name are two readings of a request.
fn field(head: &[httparse::Header<'_>], name: &str) -> Result<Option<String>, &'static str> {
    let mut named = head.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
    let Some(found) = named.next() else { return Ok(None) };
    if named.next().is_some() {
        return Err("a field of the head is there twice");
    }
    match std::str::from_utf8(found.value) {
        Ok(text) => Ok(Some(text.to_owned())),
        Err(_) => Err("a field is not UTF-8"),
    }
}
