//! Requests to an OCI registry, and to other servers that hold bundles.
//!
//! A bundle is an OCI artifact: its manifest has two layers, the archive and the signature. Pulling
//! takes three requests, and one while nothing changed.

use std::cell::RefCell;
use std::io::Read as _;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hookexec::internal::policy::OciReference;
use hookexec::internal::{files, tls_for};
use hookexec::wire::parse_strict;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::{Method, Request, Response};

use super::archive::MAX_ARCHIVE;
use super::signature::MAX_SIGNATURE;
use super::transfer::Pulled;

const ARTIFACT: &str = "application/vnd.hookexec.bundle.v1";
const ARCHIVE: &str = "application/vnd.hookexec.bundle.v1.tar";
const SIGNATURE: &str = "application/vnd.hookexec.bundle.v1.minisig";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const EMPTY: &str = "application/vnd.oci.empty.v1+json";
const BYTES: &str = "application/octet-stream";

/// The largest manifest and answer of a server of tokens, in bytes.
const MAX_JSON: u64 = 1 << 20;
/// How long a request may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// An answer.
struct Reply {
    status: u16,
    headers: ureq::http::HeaderMap,
    body: Vec<u8>,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

fn agent(address: &str) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .https_only(address.starts_with("https://"))
        .tls_config(tls_for(address))
        .timeout_global(Some(PATIENCE))
        .user_agent(concat!("hookexec/", env!("CARGO_PKG_VERSION")));
    config.build().new_agent()
}

/// Sends a request, and reads at most `most` bytes of the answer.
fn send(
    agent: &Agent,
    method: &Method,
    address: &str,
    headers: &[(&str, &str)],
    body: &[u8],
    most: u64,
) -> Result<Reply, String> {
    let mut request = Request::builder().method(method.clone()).uri(address);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let shown = || address.split('?').next().unwrap_or_default();
    let failed = |error: &dyn std::fmt::Display| format!("{method} {}: {error}", shown());
    let unanswered = |error: ureq::Error| match error {
        ureq::Error::Timeout(_) => format!("{} did not answer in {PATIENCE:?}", shown()),
        error => failed(&error),
    };
    let sent = if body.is_empty() && *method != Method::POST {
        agent.run(request.body(()).map_err(|error| failed(&error))?)
    } else {
        agent.run(request.body(body).map_err(|error| failed(&error))?)
    };
    let response: Response<_> = sent.map_err(unanswered)?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let mut body = Vec::new();
    let mut reader = response.into_body().into_reader().take(most + 1);
    reader.read_to_end(&mut body).map_err(|error| failed(&error))?;
    if body.len() as u64 > most {
        return Err(failed(&format!("the answer is larger than {most} bytes")));
    }
    Ok(Reply { status, headers, body })
}

/// Returns the file at an `https` address; `None` if it is still the one with the tag `known`.
pub(super) fn download(address: &str, known: Option<&str>) -> Result<Option<Pulled>, String> {
    let agent = agent(address);
    let condition: Vec<(&str, &str)> = known.iter().map(|tag| ("if-none-match", *tag)).collect();
    let get = |address: &str, headers: &[(&str, &str)], most| {
        let reply = send(&agent, &Method::GET, address, headers, &[], most)?;
        match reply.status {
            200 | 304 => Ok(reply),
            status => Err(format!("GET {address}: the server answered {status}")),
        }
    };
    let archive = get(address, &condition, MAX_ARCHIVE)?;
    if archive.status == 304 {
        return Ok(None);
    }
    let tag = archive.header("etag").unwrap_or_default().to_owned();
    let signature = get(&format!("{address}{}", super::signature::ENDING), &[], MAX_SIGNATURE)?;
    Ok(Some(Pulled { archive: archive.body, signature: signature.body, tag }))
}

/// One repository of a registry.
pub(super) struct Registry<'r> {
    agent: Agent,
    source: &'r OciReference,
    base: String,
    /// The value of `authorization` that the registry took last.
    granted: RefCell<Option<String>>,
}

impl<'r> Registry<'r> {
    pub(super) fn new(source: &'r OciReference) -> Self {
        let base = source.base();
        Self { agent: agent(&base), source, base, granted: RefCell::default() }
    }

    /// Returns the bundle; `None` if it is still the one with the tag `known`.
    pub(super) fn pull(&self, known: Option<&str>) -> Result<Option<Pulled>, String> {
        let address = format!("{}/manifests/{}", self.base, self.source.reference);
        let etag = known.map(|known| format!("\"{known}\""));
        let mut headers = vec![("accept", MANIFEST)];
        headers.extend(etag.iter().map(|etag| ("if-none-match", etag.as_str())));
        let reply = self.ask(&Method::GET, &address, &headers, &[], MAX_JSON)?;
        if reply.status == 304 {
            return Ok(None);
        }
        if reply.status == 404 {
            return Err(format!("the registry has no {}", self.source));
        }
        let reply = expect(reply, 200, "the manifest")?;
        let tag = format!("sha256:{}", files::digest(&reply.body));
        if known == Some(&*tag) {
            return Ok(None);
        }
        if self.source.reference.starts_with("sha256:") && self.source.reference != tag {
            return Err("the registry sent a manifest of another digest".to_owned());
        }
        let text = String::from_utf8_lossy(&reply.body);
        let manifest = parse_strict(&text).map_err(|error| format!("the manifest: {error}"))?;
        let layer = |kind: &str| {
            let layers = manifest["layers"].as_array().map(Vec::as_slice).unwrap_or_default();
            let layer = layers.iter().find(|layer| layer["mediaType"] == kind);
            let digest = layer.and_then(|layer| layer["digest"].as_str());
            digest.ok_or_else(|| format!("{} is not a bundle of hookexec", self.source))
        };
        let (archive, signature) = (layer(ARCHIVE)?, layer(SIGNATURE)?);
        let archive = self.blob(archive, MAX_ARCHIVE, "archive")?;
        let signature = self.blob(signature, MAX_SIGNATURE, "signature")?;
        Ok(Some(Pulled { archive, signature, tag }))
    }

    /// Returns the archive with this digest.
    pub(super) fn archive(&self, digest: &str) -> Result<Vec<u8>, String> {
        self.blob(&format!("sha256:{digest}"), MAX_ARCHIVE, "archive")
    }

    fn blob(&self, digest: &str, most: u64, what: &str) -> Result<Vec<u8>, String> {
        let hex = digest.strip_prefix("sha256:").filter(|hex| hex.len() == 64);
        let hex = hex.ok_or_else(|| {
            format!("the manifest names the {what} by another digest than SHA-256")
        })?;
        let address = format!("{}/blobs/sha256:{hex}", self.base);
        let reply = self.ask(&Method::GET, &address, &[("accept", BYTES)], &[], most)?;
        if reply.status == 404 {
            return Err(format!("the registry has no {what} with the digest sha256:{hex}"));
        }
        let reply = expect(reply, 200, &format!("the {what}"))?;
        let is_it = files::digest(&reply.body) == hex;
        is_it.then_some(reply.body).ok_or_else(|| {
            format!("the {what} has another digest than the one asked for: it was changed")
        })
    }

    /// Stores a bundle under the tag, and returns the digest of its manifest.
    pub(super) fn push(
        &self,
        archive: &[u8],
        signature: &[u8],
        version: u64,
    ) -> Result<String, String> {
        let part = |kind: &str, bytes: &[u8]| -> Result<Value, String> {
            let digest = self.upload(bytes)?;
            Ok(json!({ "mediaType": kind, "digest": digest, "size": bytes.len() }))
        };
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": ARTIFACT,
            "config": part(EMPTY, b"{}")?,
            "layers": [part(ARCHIVE, archive)?, part(SIGNATURE, signature)?],
            "annotations": { "org.opencontainers.image.version": version.to_string() },
        });
        let manifest = manifest.to_string();
        let address = format!("{}/manifests/{}", self.base, self.source.reference);
        let headers = [("content-type", MANIFEST)];
        let put = self.ask(&Method::PUT, &address, &headers, manifest.as_bytes(), MAX_JSON)?;
        expect(put, 201, "the manifest")?;
        Ok(format!("sha256:{}", files::digest(manifest.as_bytes())))
    }

    /// Stores bytes, unless they are there.
    fn upload(&self, bytes: &[u8]) -> Result<String, String> {
        let digest = format!("sha256:{}", files::digest(bytes));
        let blob = format!("{}/blobs/{digest}", self.base);
        if self.ask(&Method::HEAD, &blob, &[], &[], MAX_JSON)?.status == 200 {
            return Ok(digest);
        }
        let start = format!("{}/blobs/uploads/", self.base);
        let started =
            expect(self.ask(&Method::POST, &start, &[], &[], MAX_JSON)?, 202, "an upload")?;
        let place =
            started.header("location").ok_or("the registry names no place for an upload")?;
        let place = match place.strip_prefix('/') {
            Some(path) => {
                let host = self.base.split("/v2/").next().unwrap_or_default();
                format!("{host}/{path}")
            }
            None => place.to_owned(),
        };
        let sign = if place.contains('?') { '&' } else { '?' };
        let put = format!("{place}{sign}digest={digest}");
        let sent = self.ask(&Method::PUT, &put, &[("content-type", BYTES)], bytes, MAX_JSON)?;
        expect(sent, 201, "a blob").map(|_| digest)
    }

    /// Sends a request, and once more with a token if the registry wants one.
    fn ask(
        &self,
        method: &Method,
        address: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        most: u64,
    ) -> Result<Reply, String> {
        // An upload may be sent to another host, which gets no password.
        let is_own = address.starts_with(&self.base);
        let granted = self.granted.borrow().clone().filter(|_| is_own);
        let with = |granted: Option<&str>| {
            let own = granted.map(|value| ("authorization", value));
            let all: Vec<(&str, &str)> = headers.iter().copied().chain(own).collect();
            send(&self.agent, method, address, &all, body, most)
        };
        let reply = with(granted.as_deref())?;
        if reply.status != 401 || !is_own {
            return Ok(reply);
        }
        let value = self.grant(reply.header("www-authenticate").unwrap_or_default())?;
        let reply = with(Some(&value))?;
        if matches!(reply.status, 401 | 403) {
            return Err(format!("{} refused the login: run `docker login`", self.source.host));
        }
        self.granted.replace(Some(value));
        Ok(reply)
    }

    /// Returns the value of `authorization` that the registry asks for by `challenge`.
    fn grant(&self, challenge: &str) -> Result<String, String> {
        let login = super::login::of(&self.source.host)?;
        let basic = login.map(|login| format!("Basic {}", BASE64_STANDARD.encode(login)));
        let missing = || format!("no login for {} is known: run `docker login`", self.source.host);
        let (scheme, rest) = challenge.split_once(' ').unwrap_or((challenge, ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return basic.ok_or_else(missing);
        }
        let value = |name: &str| {
            let (_, rest) = rest.split_once(&format!("{name}=\""))?;
            rest.split_once('"').map(|(value, _)| value)
        };
        let realm = value("realm").filter(|_| scheme.eq_ignore_ascii_case("bearer"));
        let realm = realm.ok_or("the registry asks for a login in a way that is not known")?;
        if !realm.starts_with("https://") && self.base.starts_with("https://") {
            return Err("the registry wants the login to be sent without TLS".to_owned());
        }
        let mut query = form_urlencoded::Serializer::new(String::new());
        for name in ["service", "scope"] {
            if let Some(value) = value(name) {
                query.append_pair(name, value);
            }
        }
        let sign = if realm.contains('?') { '&' } else { '?' };
        let address = format!("{realm}{sign}{}", query.finish());
        let headers: Vec<(&str, &str)> =
            basic.iter().map(|value| ("authorization", value.as_str())).collect();
        let reply = send(&self.agent, &Method::GET, &address, &headers, &[], MAX_JSON)?;
        let reply = expect(reply, 200, "a token")?;
        let answer = parse_strict(&String::from_utf8_lossy(&reply.body));
        let answer = answer.map_err(|error| format!("the answer with the token: {error}"))?;
        let token = ["token", "access_token"].iter().find_map(|name| answer[*name].as_str());
        let token = token.ok_or("the answer of the registry's login has no token")?;
        Ok(format!("Bearer {token}"))
    }
}

fn expect(reply: Reply, status: u16, what: &str) -> Result<Reply, String> {
    if reply.status == status {
        return Ok(reply);
    }
    let said: String = String::from_utf8_lossy(&reply.body).chars().take(200).collect();
    Err(format!("the registry answered {} to the request for {what}: {said}", reply.status))
}
