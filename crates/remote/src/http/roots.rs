//! Which certificate authorities servers are checked against.

use std::sync::LazyLock;

use rustls_native_certs::load_native_certs;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

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
