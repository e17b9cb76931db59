//! Where a policy comes from.

use std::fmt;
use std::str::FromStr;

/// Where a policy comes from: the address of an archive. Its signature is at the same address with
/// `.minisig` behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source(String);

impl FromStr for Source {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let has_space = text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let host = rest.split('/').next().unwrap_or_default();
        match scheme {
            _ if has_space => Err("an address has no spaces"),
            "file" if rest.starts_with('/') => Ok(Self(text.to_owned())),
            "https" if host.contains('@') => Err("an address holds no user and no password"),
            "https" if rest.contains(['?', '#']) => {
                Err("an address holds no query: it would be in messages and in the log")
            }
            "https" if !host.is_empty() => Ok(Self(text.to_owned())),
            "oci" => {
                Err("fetch it with `oras pull` and write `file:///PATH`; see `hookexec docs fleet`")
            }
            _ => Err("write `https://HOST/FILE` or `file:///PATH`"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Source {
    /// Returns the path of a file; `None` for an address of a server.
    pub fn path(&self) -> Option<&str> {
        let path = self.0.strip_prefix("file://")?;
        // `file:///C:/x` on Windows.
        Some(if path.as_bytes().get(2) == Some(&b':') { &path[1..] } else { path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_read() {
        for (text, path) in [
            ("file:///a/b", Some("/a/b")),
            ("file:///C:/b", Some("C:/b")),
            ("https://x.example/b", None),
        ] {
            let source: Source = text.parse().unwrap();
            assert_eq!((&*source.to_string(), source.path()), (text, path));
        }
    }

    #[test]
    fn an_address_that_is_not_a_source_is_refused() {
        for text in [
            "",
            "policy",
            "oci://host/policy:stable",
            "http://host/x",
            "https://me:secret@host.example/x",
            "https://host.example/x?sig=secret",
            "https://host.example?sig=secret",
            "https://host.example/x#part",
            "https://host.example/x y",
            "http://127.0.0.1/x",
            "file://x",
            "ftp://x",
            "https://",
        ] {
            assert!(text.parse::<Source>().is_err(), "{text}");
        }
    }
}
