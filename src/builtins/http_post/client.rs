//! The client of `http_post`, which connects to public addresses only.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

use crate::builtins::secrets::Redactor;
use crate::builtins::{Prepared, Surroundings};
use crate::handlers::builtin::BuiltinError;
use crate::wire::Input;

/// How long one post may take, from the look-up of the name to the answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    let post = Post::parse(surroundings, args)?;
    Ok(Box::new(move |input| post.send(input).map(|()| None)))
}

/// A post, ready to be sent.
struct Post {
    agent: Agent,
    url: String,
    host: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
    redactor: Redactor,
}

impl Post {
    fn parse(surroundings: &Surroundings, args: &[String]) -> Result<Self, String> {
        let (mut headers, mut texts, mut private) = (Vec::new(), Vec::new(), false);
        for arg in args {
            if let Some(field) = arg.strip_prefix("--header=") {
                headers.push(header(surroundings, field)?);
            } else if arg == "--allow-private" {
                private = true;
            } else if arg.starts_with("--") {
                return Err(format!(
                    "unknown option `{arg}`; it knows `--header=`, `--allow-private`"
                ));
            } else {
                texts.push(arg.clone());
            }
        }
        let mut texts = texts.into_iter();
        let url = texts.next().ok_or("it needs the address to post to, `URL`")?;
        let body = texts.next();
        if let Some(third) = texts.next() {
            return Err(format!("it takes an address and a text, found a third: `{third}`"));
        }
        let host = host(&url)?;
        let named = |name: &str| {
            headers.iter().any(|(known, _): &(String, String)| known.eq_ignore_ascii_case(name))
        };
        if !named("content-type") {
            let json = body
                .as_ref()
                .is_none_or(|body| serde_json::from_str::<serde::de::IgnoredAny>(body).is_ok());
            let kind = if json { "application/json" } else { "text/plain; charset=utf-8" };
            headers.push(("Content-Type".to_owned(), kind.to_owned()));
        }
        let agent = agent(private);
        Ok(Self { agent, url, host, headers, body, redactor: Redactor::new(surroundings.env()) })
    }

    fn send(&self, input: &Input) -> Result<(), BuiltinError> {
        let event = || -> Result<String, BuiltinError> {
            let mut event = serde_json::to_value(input)?;
            self.redactor.redact_value(&mut event);
            Ok(event.to_string())
        };
        let body = self.body.clone().map_or_else(event, Ok)?;
        let mut request = self.agent.post(&self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        // The address may hold a key, so only the host is named.
        let failed = |why: String| format!("the post to {} failed: {why}", self.host);
        let response = request.send(body).map_err(|error| failed(error.to_string()))?;
        if response.status().is_success() {
            Ok(())
        } else {
            Err(failed(format!("it answered {}", response.status())).into())
        }
    }
}

fn agent(private: bool) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .max_redirects(0)
        // A proxy would look names up where nothing is checked.
        .proxy(None)
        .user_agent(concat!("hookexec/", env!("CARGO_PKG_VERSION")))
        .build();
    Agent::with_parts(
        config,
        DefaultConnector::new(),
        Checked { private, inner: DefaultResolver::default() },
    )
}

fn host(url: &str) -> Result<String, String> {
    let wrong = || "the address must be `https://...` or `http://...`".to_owned();
    let uri: Uri = url.parse().map_err(|_| wrong())?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(wrong());
    }
    uri.host().filter(|host| !host.is_empty()).map(str::to_owned).ok_or_else(wrong)
}

fn header(surroundings: &Surroundings, field: &str) -> Result<(String, String), String> {
    let wrong = || format!("`--header={field}` must be `--header=NAME:VALUE`");
    let (name, value) = field.split_once(':').ok_or_else(wrong)?;
    let value = value.trim();
    let (before, last) =
        value.rsplit_once(' ').map_or(("", value), |(before, last)| (before, last));
    let value = match last.strip_prefix('$') {
        None => value.to_owned(),
        Some(variable) => {
            let variable = variable.trim_start_matches('{').trim_end_matches('}');
            let secret = surroundings.var(variable).and_then(|value| value.to_str());
            let secret =
                secret.ok_or_else(|| format!("`--header={field}`: `{variable}` is not set"))?;
            format!("{before} {secret}").trim().to_owned()
        }
    };
    // Checked here, where it is shown with file and line.
    ureq::http::HeaderName::try_from(name).map_err(|_| wrong())?;
    ureq::http::HeaderValue::try_from(&value).map_err(|_| wrong())?;
    Ok((name.to_owned(), value))
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
        // One private address among public ones is a trap, too.
        match found.iter().find(|address| !self.private && !is_public(address.ip())) {
            Some(address) => Err(Error::Other(
                format!(
                    "its address {} is not public; `--allow-private` would allow it",
                    address.ip()
                )
                .into(),
            )),
            None => Ok(found),
        }
    }
}

/// Returns whether an address is public, and not one of this machine, its networks or special.
fn is_public(address: IpAddr) -> bool {
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
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // An IPv4 address in another form: mapped, translated, 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            embedded(high, low)
        }
        [0x2002, high, low, ..] => embedded(high, low),
        // Teredo, benchmarks, ORCHID; documentation.
        [0x2001, 0..=0x01ff | 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "172.32.0.1",
            "2606:4700::1",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1",
            "127.8.8.8",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "0.1.2.3",
            "100.64.0.1",
            "192.0.0.1",
            "192.0.2.1",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "100::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
