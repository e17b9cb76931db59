//! Patterns of addresses, and whether an address fits them.

use std::borrow::Cow;
use std::path::Path;

use crate::glob::{glob_any_case, has_part};
use crate::paths::lexical;

/// Schemes of addresses in a network.
const NETWORK_SCHEMES: [&str; 24] = [
    "http", "https", "ws", "wss", "ftp", "ftps", "git", "ssh", "sftp", "s3", "gs", "az",
    "postgres", "postgresql", "mysql", "mongodb", "mongodb+srv", "redis", "rediss", "amqp", "tcp",
    "udp", "docker", "oci",
];

/// A pattern of an address: `https://*.a.b/x/**`, `*://**?token=**`.
#[derive(Debug)]
pub struct AddressPattern(pub String);

impl AddressPattern {
    /// Returns whether an address is like the pattern, or below it: by its scheme, its host and its path,
    /// and by its query if the pattern has one. A pattern with `**` in the place of the host is about the
    /// whole text.
    pub fn fits(&self, address: &str) -> bool {
        let Some((scheme, rest)) = self.0.split_once("://") else { return false };
        // Clients drop letters that can't be seen, and take one slash or three for two.
        let visible = address.replace(char::is_control, "");
        let Some((own_scheme, own)) = visible.split_once(':') else { return false };
        let (host, path) = host_and_path(rest);
        if host.contains("**") {
            return glob_any_case(&self.0, address);
        }
        let own = own.trim_start_matches(['/', '\\']);
        let (own_host, own_path) = host_and_path(own);
        let own_host = own_host.rsplit('@').next().unwrap_or_default().trim_end_matches('.');
        let (without_port, _) = own_host.rsplit_once(':').unwrap_or((own_host, ""));
        let fits_host = glob_any_case(host, own_host) || glob_any_case(host, without_port);
        glob_any_case(scheme, own_scheme) && fits_host && fits_path(path, own_path)
    }

    /// Returns whether it fits for certain. Programs differ in how they read letters beside ASCII, an
    /// escaped dot, slash or mark, an empty part, and what `curl` takes for a list: an address with one of
    /// these never does.
    pub fn certainly_fits(&self, address: &str) -> bool {
        let lower = address.to_lowercase();
        let (_, mut behind) = lower.split_once("://").unwrap_or_default();
        let (_, pattern) = self.0.split_once("://").unwrap_or_default();
        let (_, path) = host_and_path(pattern);
        // For any path only the host counts. To some programs a backslash does not end it.
        if matches!(path, "" | "/" | "/**") {
            behind = behind.split(['/', '?', '#']).next().unwrap_or_default();
        }
        if has_part(behind, &["%2e", "%2f", "%5c", "%23", "//"]) || behind.contains(is_odd) {
            return false;
        }
        self.fits(address)
    }
}

fn is_odd(letter: char) -> bool {
    !letter.is_ascii_graphic() || "\\{}[];".contains(letter)
}

/// Returns the host of an address behind its scheme, with its port, and what follows.
fn host_and_path(rest: &str) -> (&str, &str) {
    rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()))
}

fn fits_path(pattern: &str, own: &str) -> bool {
    let (path, query) = own.split_at(own.find(['?', '#']).unwrap_or(own.len()));
    let mut path = lexical(Path::new(path)).to_string_lossy().into_owned();
    if pattern.contains('?') {
        path.push_str(query);
    }
    let pattern = pattern.trim_end_matches("/**").trim_end_matches('/');
    pattern.is_empty()
        || glob_any_case(pattern, &path)
        || glob_any_case(&format!("{pattern}/*"), &path)
}

/// Returns a text with a `,` in place of each address in a network: no part of it is a path.
pub fn without_addresses(text: &str) -> Cow<'_, str> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("://") {
        let scheme = before.rsplit(ends_scheme).next().unwrap_or_default();
        let name = scheme.to_ascii_lowercase();
        if !NETWORK_SCHEMES.contains(&&*name) {
            plain.push_str(before);
            plain.push_str("://");
            rest = behind;
            continue;
        }
        plain.push_str(&before[..before.len() - scheme.len()]);
        plain.push(',');
        let mut address = behind.split(ends_address).next().unwrap_or_default();
        // The address of a database may name files behind its `?`.
        if !name.starts_with("http") && !name.starts_with("ws") {
            address = address.split('?').next().unwrap_or_default();
        }
        rest = &behind[address.len()..];
    }
    if plain.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(plain + rest) }
}

fn ends_scheme(letter: char) -> bool {
    !letter.is_ascii_alphanumeric() && letter != '+'
}

fn ends_address(letter: char) -> bool {
    letter.is_whitespace() || "\"'`<>,|;)]}".contains(letter)
}
