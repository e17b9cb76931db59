//! Signs what is sent, as Standard Webhooks says: <https://www.standardwebhooks.com>.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use sha2::Sha256;

/// The secret that the server has, too.
pub(super) struct Secret(Vec<u8>);

impl Secret {
    /// Reads `whsec_` and the base64 of 24 to 64 bytes.
    pub(super) fn read(text: &str) -> Option<Self> {
        let key = STANDARD.decode(text.strip_prefix("whsec_")?).ok()?;
        if (24..=64).contains(&key.len()) { Some(Self(key)) } else { None }
    }

    /// Returns the headers of the message `id` with this body.
    pub(super) fn headers(&self, id: &str, body: &[u8]) -> Vec<(&'static str, String)> {
        self.headers_at(Timestamp::now().as_second(), id, body)
    }

    fn headers_at(&self, second: i64, id: &str, body: &[u8]) -> Vec<(&'static str, String)> {
        // A key of any length will do for HMAC.
        let signature = Hmac::<Sha256>::new_from_slice(&self.0).map(|mac| {
            let mac = mac.chain_update(format!("{id}.{second}.")).chain_update(body);
            STANDARD.encode(mac.finalize().into_bytes())
        });
        vec![
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", second.to_string()),
            ("webhook-signature", format!("v1,{}", signature.unwrap_or_default())),
        ]
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_the_reference_libraries() {
        // The example of the libraries of Standard Webhooks.
        let secret = Secret::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = br#"{"test": 2432232314}"#;
        let headers = secret.headers_at(1_614_265_330, "msg_p5jXN8AQM9LWM0D4loKWxJek", body);
        assert_eq!(headers[2].1, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn what_is_no_secret_is_refused() {
        for text in ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ=", "whsec_!"]
        {
            assert!(Secret::read(text).is_none(), "{text}");
        }
    }
}
