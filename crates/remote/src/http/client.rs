//! A client that posts, and connects only to public addresses by default.

use std::io::ErrorKind;
use std::time::Duration;

use ureq::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error, RequestBuilder};

use super::address::is_public;
use super::roots::tls_for;
use hookexec::handler::{Failure, HandlerError};
use hookexec_files::bounded::{Beginning, read_beginning};

/// Posts to one address, each time over a connection of its own.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    url: String,
    /// The address may hold a key, so messages name only the host.
    host: String,
    headers: Vec<(String, String)>,
}

/// A question to a server.
#[derive(Debug, Clone, Copy)]
pub enum Ask<'a> {
    /// To take this body, at the address of the client.
    Post(&'a [u8]),
    /// For what is at this address.
    Get(&'a str),
}

/// The answer of a server.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// At most what was asked for.
    pub body: Vec<u8>,
    /// Whether the body goes on.
    pub is_cut: bool,
}

impl Client {
    /// Returns a client for `url`. With `private` it also connects to this machine and to private
    /// networks.
    pub fn new(url: &str, private: bool) -> Result<Self, &'static str> {
        let config = Agent::config_builder()
            .tls_config(tls_for(url))
            .max_redirects(0)
            .http_status_as_error(false)
            // A proxy would look names up where nothing is checked.
            .proxy(None)
            // An answer that a server sent too early must not be taken for that of the next call.
            .max_idle_connections(0)
            .user_agent(concat!("hookexec/", env!("CARGO_PKG_VERSION")))
            .build();
        let resolver = Checked { private, inner: DefaultResolver::default() };
        let agent = Agent::with_parts(config, DefaultConnector::new(), resolver);
        Ok(Self { agent, host: host(url)?, url: url.to_owned(), headers: Vec::new() })
    }

    /// Adds a header, and returns whether it is a valid one. One that says where a message ends or which
    /// server it is for is not.
    pub fn header(&mut self, name: &str, value: &str) -> bool {
        const FRAMING: [&str; 5] =
            ["host", "content-length", "transfer-encoding", "connection", "upgrade"];
        if FRAMING.iter().any(|known| name.eq_ignore_ascii_case(known)) {
            return false;
        }
        if HeaderName::try_from(name).is_err() || HeaderValue::try_from(value).is_err() {
            return false;
        }
        self.headers.push((name.to_owned(), value.to_owned()));
        true
    }

    /// Returns whether a header of this name is set.
    pub fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// Returns the host, as messages name it.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the host and its port, as messages name them.
    pub fn address(&self) -> String {
        let uri: Option<Uri> = self.url.parse().ok();
        match uri.and_then(|uri| uri.port_u16()) {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        }
    }

    /// Returns the address that `location` of a reply leads to, if it is of the same server.
    pub fn on_same_server(&self, location: &str) -> Option<String> {
        let own: Uri = self.url.parse().ok()?;
        let (scheme, authority) = (own.scheme()?, own.authority()?);
        if location.starts_with('/') && !location.starts_with("//") {
            return Some(format!("{scheme}://{authority}{location}"));
        }
        let is_relative = !location.contains(':') && !location.starts_with(['/', '?', '#']);
        if is_relative && !location.is_empty() {
            let (directory, _) = own.path().rsplit_once('/').unwrap_or_default();
            return Some(format!("{scheme}://{authority}{directory}/{location}"));
        }
        let next: Uri = location.parse().ok()?;
        if next.scheme()? != scheme || next.authority()? != authority {
            return None;
        }
        Some(location.to_owned())
    }

    /// Ends what a server keeps for this client, as far as it can within `patience`.
    pub fn delete(&self, headers: &[(&str, &str)], patience: Duration) {
        let request = self.prepared(self.agent.delete(&self.url), headers, patience);
        if let Err(error) = request.call() {
            tracing::debug!(host = self.host, "a session was not ended: {error}");
        }
    }

    /// Asks the server, with headers of this request, and reads at most `most` bytes of the answer,
    /// and one more if there are more. Blocks for up to `patience`, from the look-up of the name to
    /// the end of the answer. It is a failure to start when the server got nothing of the request.
    pub fn ask(
        &self,
        ask: Ask<'_>,
        headers: &[(&str, &str)],
        most: usize,
        patience: Duration,
    ) -> Result<Reply, HandlerError> {
        let sent = match ask {
            Ask::Post(body) => {
                self.prepared(self.agent.post(&self.url), headers, patience).send(body)
            }
            Ask::Get(url) => self.prepared(self.agent.get(url), headers, patience).call(),
        };
        let response = sent.map_err(|error| self.failed(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        // Of the encodings of a transfer only this one tells where the answer ends.
        let is_chunked = headers
            .get("transfer-encoding")
            .is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"chunked"));
        let has_length = is_chunked || headers.contains_key("content-length");
        if !has_length && status.as_u16() != 204 {
            let why = "its answer has no length, so a broken connection looks like its end";
            let message = format!("the post to {} failed: {why}", self.host);
            return Err(HandlerError::new(Failure::Other, message));
        }
        let read = read_beginning(response.into_body().into_reader(), most);
        let Beginning { bytes: body, is_cut } = read.map_err(|error| self.failed(&error.into()))?;
        Ok(Reply { status, headers, body, is_cut })
    }

    fn prepared<B>(
        &self,
        request: RequestBuilder<B>,
        headers: &[(&str, &str)],
        patience: Duration,
    ) -> RequestBuilder<B> {
        let mut request = request.config().timeout_global(Some(patience)).build();
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request
    }

    fn failed(&self, error: &Error) -> HandlerError {
        let failure = match error {
            Error::Timeout(_) => Failure::TimedOut,
            Error::HostNotFound | Error::ConnectionFailed => Failure::Start,
            Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => Failure::Start,
            _ => Failure::Other,
        };
        let mut message = format!("the post to {} failed: {error}", self.address());
        if message.contains("UnknownIssuer") {
            message.push_str("; name the file of its certificate authority in `SSL_CERT_FILE`");
        }
        HandlerError::new(failure, message)
    }
}

impl Reply {
    /// Returns a header, if it is readable.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Returns the host of `url`.
fn host(url: &str) -> Result<String, &'static str> {
    if let Ok(uri) = url.parse::<Uri>()
        && let (Some("http" | "https"), Some(host)) = (uri.scheme_str(), uri.host())
        && !host.is_empty()
    {
        return Ok(host.to_owned());
    }
    Err("the address must be `https://...` or `http://...`")
}

/// Looks names up and keeps the addresses that may be connected to; the client connects to one of
/// them and does not look again.
#[derive(Debug)]
struct Checked {
    private: bool,
    inner: DefaultResolver,
}

impl Resolver for Checked {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        for address in &found {
            // One private address among public ones is a trap, too.
            if !self.private && !is_public(address.ip()) {
                let (ip, remedy) = (address.ip(), "private addresses must be allowed");
                return Err(Error::Other(
                    format!("its address {ip} is not public; {remedy}").into(),
                ));
            }
        }
        Ok(found)
    }
}
