//! The page: a static one, whose script shows the open questions and sends the answers. Its requests have no
//! body, and everything of them is bounded.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hookexec_files::files;
use hookexec_files::template::filled;
use percent_encoding::percent_decode_str;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::desk::{Choice, Desk, DeskError};

const PAGE: &str = include_str!("page.html");
const OWN_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The place of the page. Who knows the token may answer.
pub struct Page {
    /// The authority: what `Host` must be.
    host: String,
    token: String,
    /// The style that it shares with other pages.
    style: &'static str,
}

/// Returns whether a host, with its port or without, is this machine.
fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "127.0.0.1" | "[::1]" | "localhost")
}

impl Page {
    /// Opens a port at `address` for a page that has `style`, too.
    pub async fn open(address: SocketAddr, style: &'static str) -> io::Result<(TcpListener, Self)> {
        let listener = TcpListener::bind(address).await?;
        let mut host = listener.local_addr()?.to_string();
        // A browser leaves the usual port out.
        if address.port() == 80 {
            host.truncate(host.len() - ":80".len());
        }
        Ok((listener, Self { host, token: files::random_id()?, style }))
    }

    /// Returns its address.
    pub fn address(&self) -> String {
        format!("http://{}/{}/", self.host, self.token)
    }

    /// Returns whether a request is for this page. A browser that comes by `localhost` or by a tunnel
    /// names a loopback host and the port of its own side.
    fn is_own(&self, host: &str) -> bool {
        host == self.host || is_loopback(&self.host) && is_loopback(host)
    }

    /// Reads one request of a browser at `peer`, and answers it.
    pub(super) async fn serve(&self, mut stream: TcpStream, peer: IpAddr, desk: &Desk) {
        // A browser keeps a connection ready that it may never use. An answer there would look like that to
        // its next request.
        // How long a client may take to send its request, and to read the answer.
        let Ok(read) =
            tokio::time::timeout(Duration::from_secs(1), read_request(&mut stream)).await
        else {
            return;
        };
        let Response { status, head, body } = match read {
            Ok(request) => self.answer(&request, peer, desk),
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

    /// Answers a request. Without the token there is nothing; other pages in a browser are kept out
    /// by `Host`, which DNS rebinding can't forge, and by `Origin`.
    fn answer(&self, request: &Request, peer: IpAddr, desk: &Desk) -> Response {
        let Some(host) = request.host.as_deref().filter(|host| self.is_own(host)) else {
            return Response::text("403 Forbidden", "the request is for another host");
        };
        let (token, path) =
            request.path.trim_start_matches('/').split_once('/').unwrap_or_default();
        // The time that it takes to compare digests tells nothing of the token.
        if files::digest(token.as_bytes()) != files::digest(self.token.as_bytes()) {
            return Response::text(
                "404 Not Found",
                "open the address that `hookexec approve` shows",
            );
        }
        let is_foreign = match &request.origin {
            Some(origin) => *origin != format!("http://{host}"),
            None => request.method != "GET",
        };
        if is_foreign {
            return Response::text("403 Forbidden", "the request comes from another page");
        }
        match (&*request.method, path) {
            ("GET", "") => page(self.style),
            ("GET", "questions") => Response {
                status: "200 OK",
                head: "Content-Type: application/json\r\n".to_owned(),
                body: desk.for_page(&request.query).to_string(),
            },
            ("POST", path) => match answer(path, &request.query, peer, desk) {
                Ok(said) => Response::text("200 OK", &said),
                Err(error) => Response::text("409 Conflict", &error.to_string()),
            },
            _ => Response::text("404 Not Found", "there is nothing here"),
        }
    }
}

/// Returns the page, which is the same for any questions: its script gets them.
fn page(style: &str) -> Response {
    let Ok(nonce) = files::random_id() else {
        return Response::text("500 Internal Server Error", "the system has no random numbers");
    };
    let style = format!("{style}{OWN_STYLE}");
    let values = [("nonce", &*nonce), ("style", &style), ("script", SCRIPT)];
    let head = format!(
        "Content-Type: text/html; charset=utf-8\r\nContent-Security-Policy: default-src 'none'; \
         style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; \
         form-action 'none'; base-uri 'none'; frame-ancestors 'none'\r\nX-Frame-Options: DENY\r\n\
         Referrer-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n"
    );
    Response { status: "200 OK", head, body: filled(PAGE, &values) }
}

/// Answers a question. The address is `CHOICE/ID/DIGEST`, and the reason of a denial behind it.
fn answer(path: &str, reason: &str, peer: IpAddr, desk: &Desk) -> Result<String, DeskError> {
    let (choice, question) = path.split_once('/').unwrap_or_default();
    let (id, digest) = question.split_once('/').unwrap_or_default();
    let choice = match choice {
        "allow" => Choice::Allow,
        "deny" => Choice::Deny(reason.trim().to_owned()),
        _ => return Err(DeskError::NoAnswer),
    };
    // The log of decisions has where an answer comes from.
    let place = if peer.is_loopback() { "page".to_owned() } else { format!("page, from {peer}") };
    desk.answer(id, Some(digest), &choice, &place)
}

/// A request, with the fields of the head that the page needs.
struct Request {
    method: String,
    path: String,
    /// The text behind the `?` of the address.
    query: String,
    host: Option<String>,
    origin: Option<String>,
}

struct Response {
    status: &'static str,
    /// Further fields of the head: lines that end in `\r\n`.
    head: String,
    body: String,
}

impl Response {
    /// Returns a plain text.
    fn text(status: &'static str, body: &str) -> Self {
        let head = "Content-Type: text/plain; charset=utf-8\r\n".to_owned();
        Self { status, head, body: format!("{body}\n") }
    }
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
