//! HTTP, for the builtin `http_post` and for hooks of the types `http` and `model`.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;
use std::time::Duration;

use hookexec::{Failure, HandlerError};
use hookexec_files::bounded::{Beginning, read_beginning};
use rustls_native_certs::load_native_certs;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error, RequestBuilder};

/// Posts to one address, each time over a connection of its own.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    url: Uri,
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
        Ok(Self { agent, url: web_address(url)?, headers: Vec::new() })
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

    /// Returns the host. The address may hold a key, so messages name only this.
    pub fn host(&self) -> &str {
        self.url.host().unwrap_or_default()
    }

    /// Returns the host and its port, as messages name them.
    pub fn address(&self) -> String {
        match self.url.port_u16() {
            Some(port) => format!("{}:{port}", self.host()),
            None => self.host().to_owned(),
        }
    }

    /// Returns the address that `location` of a reply leads to, if it is of the same server.
    pub fn on_same_server(&self, location: &str) -> Option<String> {
        let (scheme, authority) = (self.url.scheme()?, self.url.authority()?);
        if location.starts_with('/') && !location.starts_with("//") {
            return Some(format!("{scheme}://{authority}{location}"));
        }
        let is_relative = !location.contains(':') && !location.starts_with(['/', '?', '#']);
        if is_relative && !location.is_empty() {
            let (directory, _) = self.url.path().rsplit_once('/').unwrap_or_default();
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
            tracing::debug!(host = self.host(), "a session was not ended: {error}");
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
        // Only this encoding of a transfer tells where the answer ends.
        let is_chunked = headers
            .get("transfer-encoding")
            .is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"chunked"));
        let has_length = is_chunked || headers.contains_key("content-length");
        if !has_length && status.as_u16() != 204 {
            let why = "its answer has no length, so a broken connection looks like its end";
            let message = format!("the request to {} failed: {why}", self.host());
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
        let mut message = format!("the request to {} failed: {error}", self.address());
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

/// Reads an address with a host.
fn web_address(url: &str) -> Result<Uri, &'static str> {
    if let Ok(uri) = url.parse::<Uri>()
        && let Some("http" | "https") = uri.scheme_str()
        && uri.host().is_some_and(|host| !host.is_empty())
    {
        return Ok(uri);
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

/// Returns whether an address is public, and not one of this machine, its networks or special.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!(
        (a, b, c),
        (0 | 240..=255, _, _) // this network; reserved
            | (100, 64..=127, _) // shared by a provider's customers
            | (192, 0, 0) // protocol assignments
            | (192, 88, 99) // 6to4 relays
            | (198, 18 | 19, _) // benchmarks
    );
    !(special
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // An IPv4 address in another form: mapped, translated, 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_embedded(high, low)
        }
        [0x2002, high, low, ..] => is_public_embedded(high, low),
        // Teredo, benchmarks, ORCHID; documentation.
        [0x2001, 0..=0x01ff | 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// Returns whether the IPv4 address in two segments is public.
fn is_public_embedded(high: u16, low: u16) -> bool {
    is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

/// Returns how connections to `address` are protected: with the authorities of this system, which the
/// variables `SSL_CERT_FILE` and `SSL_CERT_DIR` replace, or with those of Mozilla where it has none.
pub fn tls_for(address: &str) -> TlsConfig {
    let tls = TlsConfig::builder();
    if !address.starts_with("https://") {
        return tls.build();
    }
    tls.root_certs(SYSTEM.clone()).build()
}

/// Name a file or directory of authorities to use instead.
const VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

static SYSTEM: LazyLock<RootCerts> = LazyLock::new(|| {
    let loaded = load_native_certs();
    for error in &loaded.errors {
        tracing::warn!("certificate authorities can't be read: {error}");
    }
    // With a file that can't be read, or has none, no server is trusted. Small containers have no file.
    let is_named = VARIABLES.iter().any(|name| std::env::var_os(name).is_some());
    if loaded.certs.is_empty() && loaded.errors.is_empty() && !is_named {
        return RootCerts::WebPki;
    }
    let certificates = loaded.certs.iter();
    certificates.map(|certificate| Certificate::from_der(certificate).to_owned()).into()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        for address in [
            "1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1", "64:ff9b::808:808",
            "2002:808:808::1", "::ffff:8.8.8.8",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "169.254.169.254", "0.0.0.0", "0.1.2.3", "100.64.0.1", "192.0.0.1", "192.0.2.1",
            "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1",
            "fec0::1", "fc00::1", "fd12::1", "ff02::1", "::ffff:127.0.0.1",
            "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "2001::1",
            "2001:db8::1", "100::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
