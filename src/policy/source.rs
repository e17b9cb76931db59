//! Where a bundle is pulled from.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a bundle is pulled from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// `oci://HOST/REPOSITORY:TAG`, or `@sha256:...`.
    Oci(OciReference),
    /// `https://...`: the archive; its signature is at the same address with `.minisig` behind it.
    Https(String),
    /// `file:///...`: the archive; its signature is beside it.
    File(PathBuf),
}

/// An artifact of an OCI registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OciReference {
    /// The host, with its port.
    pub host: String,
    /// The repository.
    pub repository: String,
    /// A tag, or the digest of a manifest.
    pub reference: String,
}

const FORMS: &str = "write `oci://HOST/REPOSITORY:TAG`, `https://HOST/FILE` or `file:///PATH`";

impl FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let has_space = text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
        match text.split_once("://") {
            Some((_, rest)) if host_of(rest).contains('@') => {
                Err("an address holds no user and no password: use `docker login`".to_owned())
            }
            _ if has_space => Err("an address has no spaces".to_owned()),
            Some(("oci" | "https" | "http", rest)) if rest.contains(['?', '#']) => {
                Err("an address holds no query: it would be in messages and in the log".to_owned())
            }
            Some(("oci", rest)) => OciReference::of(rest).map(Self::Oci).ok_or_else(|| {
                "it is not a valid reference: write `oci://HOST/REPOSITORY:TAG`, in lower case"
                    .to_owned()
            }),
            Some(("https", rest)) if !rest.is_empty() => Ok(Self::Https(text.to_owned())),
            Some(("http", rest)) if is_loopback(host_of(rest)) => Ok(Self::Https(text.to_owned())),
            Some(("http", _)) => {
                Err("`http://` is only for this machine: use `https://`".to_owned())
            }
            Some(("file", path)) if path.starts_with('/') => {
                // `file:///C:/x` on Windows.
                let drive = path.as_bytes().get(2) == Some(&b':');
                Ok(Self::File(path[usize::from(drive)..].into()))
            }
            _ => Err(FORMS.to_owned()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oci(reference) => reference.fmt(formatter),
            Self::Https(address) => formatter.write_str(address),
            Self::File(path) => write!(formatter, "file://{}", path.display()),
        }
    }
}

impl Source {
    /// Returns the source by the tag that it gave for its content now: in a registry, by digest.
    #[must_use]
    pub fn pinned(&self, tag: &str) -> Self {
        match self {
            Self::Oci(reference) => {
                Self::Oci(OciReference { reference: tag.to_owned(), ..reference.clone() })
            }
            other => other.clone(),
        }
    }
}

impl OciReference {
    fn of(text: &str) -> Option<Self> {
        let (host, rest) = text.split_once('/')?;
        let (repository, reference) = match rest.split_once('@') {
            Some((name, digest)) => {
                let hex = digest.strip_prefix("sha256:")?;
                let is_hex = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
                // A tag before a digest says nothing more.
                (name.split_once(':').map_or(name, |(name, _)| name), is_hex.then_some(digest)?)
            }
            None => rest.split_once(':')?,
        };
        let is_in = |text: &str, more: &str| {
            !text.is_empty()
                && text.bytes().all(|byte| {
                    byte.is_ascii_lowercase()
                        || byte.is_ascii_digit()
                        || more.contains(char::from(byte))
                })
        };
        let parts = repository.split('/').all(|part| is_in(part, "._-") && !part.starts_with('.'));
        let is_tag = reference.starts_with("sha256:")
            || is_in(&reference.to_ascii_lowercase(), "._-") && reference.len() <= 128;
        (is_in(&host.to_ascii_lowercase(), ".-:[]") && parts && is_tag).then(|| Self {
            host: host.to_owned(),
            repository: repository.to_owned(),
            reference: reference.to_owned(),
        })
    }

    /// Returns the address of the repository's part of the registry. Only this machine is spoken to
    /// without TLS.
    pub fn base(&self) -> String {
        let scheme = if is_loopback(&self.host) { "http" } else { "https" };
        format!("{scheme}://{}/v2/{}", self.host, self.repository)
    }
}

impl fmt::Display for OciReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.reference.starts_with("sha256:") { '@' } else { ':' };
        write!(formatter, "oci://{}/{}{sign}{}", self.host, self.repository, self.reference)
    }
}

fn host_of(address: &str) -> &str {
    address.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Returns whether a host, with or without a port, is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_read() {
        let digest = "a".repeat(64);
        for text in [
            "oci://registry.example/team/policy:stable".to_owned(),
            "oci://127.0.0.1:5000/policy:v7".to_owned(),
            format!("oci://registry.example/policy@sha256:{digest}"),
        ] {
            let Ok(Source::Oci(reference)) = text.parse() else { panic!("{text}") };
            assert_eq!(reference.to_string(), text);
        }
        let Ok(Source::Oci(local)) = "oci://127.0.0.1:5000/policy:v7".parse() else { panic!() };
        assert_eq!(local.base(), "http://127.0.0.1:5000/v2/policy");
        let Ok(Source::Oci(other)) = "oci://127.0.0.1.example/policy:v7".parse() else { panic!() };
        assert_eq!(other.base(), "https://127.0.0.1.example/v2/policy");
        assert_eq!("file:///a/b".parse(), Ok(Source::File("/a/b".into())));
        assert_eq!("https://x.example/b".parse(), Ok(Source::Https("https://x.example/b".into())));
        assert!("http://127.0.0.1:80/b".parse::<Source>().is_ok());
    }

    #[test]
    fn what_is_not_a_source_is_refused() {
        for text in [
            "",
            "policy",
            "oci://host",
            "oci://host/policy",
            "oci://host/../x:v",
            "oci://host/A:v",
            "oci://host/p@sha256:12",
            "oci://u@host/p:v",
            "oci://host/p:v w",
            "http://host/x",
            "http://127.0.0.1@evil.example/x",
            "https://me:secret@host.example/x",
            "https://host.example/x?sig=secret",
            "https://host.example/x#part",
            "http://127.0.0.1.evil.example/x",
            "file://x",
            "ftp://x",
            "https://",
        ] {
            assert!(text.parse::<Source>().is_err(), "{text}");
        }
    }
}
