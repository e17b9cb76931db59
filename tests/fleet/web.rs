//! Bundles from a web server, and from a registry that wants a token.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use hookexec::internal::files;
use serde_json::json;

use crate::server::{Reply, Request, serve};
use crate::support::needs;
use crate::team::Team;

/// A server, and the heads of the requests that it got.
pub(crate) struct Server {
    pub(crate) host: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request) -> Reply + Send + 'static) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let requests = Arc::clone(&seen);
        let host = serve(move |request| {
            requests.lock().unwrap().push(request.head.clone());
            Some(answer(request))
        });
        Self { host, seen }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", files::digest(bytes))
}

fn parts(archive: &Path) -> (Vec<u8>, Vec<u8>) {
    (fs::read(archive).unwrap(), fs::read(archive.with_extension("tar.minisig")).unwrap())
}

#[test]
fn a_bundle_comes_from_a_web_server_once() {
    let team = Team::new();
    let (archive, signature) = parts(&team.signed(1));
    let server = Server::start(move |Request { head, .. }| {
        if head.starts_with("get /policy.tar.minisig ") {
            return ("200 OK", String::new(), signature.clone());
        }
        if head.contains("if-none-match: \"one\"") {
            return ("304 Not Modified", String::new(), Vec::new());
        }
        ("200 OK", "etag: \"one\"\r\n".to_owned(), archive.clone())
    });
    team.sandbox.write_users_hooks(&format!(
        "policy: {{ from: 'http://{}/policy.tar', key: {} }}\n",
        server.host,
        team.key()
    ));
    let refresh = || team.bundle(&["refresh"]).exits(0).stdout;
    assert!(refresh().contains("version 1 is in force"));
    assert_eq!(server.requests().len(), 2);
    assert!(refresh().contains("version 1 is still in force"));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_server_that_says_unasked_that_nothing_changed_confirms_nothing() {
    let team = Team::new();
    let server = Server::start(|_| ("304 Not Modified", String::new(), Vec::new()));
    team.sandbox.write_users_hooks(&format!(
        "policy: {{ from: 'http://{}/policy.tar', key: {} }}\n",
        server.host,
        team.key()
    ));
    let done = team.bundle(&["refresh"]).exits(1);
    assert!(done.stderr.contains("was not asked"), "{done:#?}");
}

#[test]
fn a_registry_gets_the_token_that_it_wants() {
    let team = Team::new();
    let (archive, signature) = parts(&team.signed(1));
    let layer = |kind: &str, bytes: &[u8]| {
        json!({
            "mediaType": format!("application/vnd.hookexec.bundle.v1.{kind}"),
            "digest": digest(bytes),
            "size": bytes.len(),
        })
    };
    let layers = [layer("tar", &archive), layer("minisig", &signature)];
    let manifest = json!({ "schemaVersion": 2, "layers": layers }).to_string().into_bytes();
    let server = Server::start(move |request| {
        let head = &request.head;
        if head.starts_with("get /token?service=it&scope=repository%3apolicy%3apull ") {
            return ("200 OK", String::new(), br#"{"token":"granted"}"#.to_vec());
        }
        if !head.contains("authorization: bearer granted") {
            let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
            let challenge = format!(
                "www-authenticate: Bearer realm=\"http://{host}/token\",service=\"it\",\
                 scope=\"repository:policy:pull\"\r\n"
            );
            return ("401 Unauthorized", challenge, Vec::new());
        }
        let path = request.path();
        let all = [&archive, &signature];
        let blob = all.into_iter().find(|bytes| path.ends_with(&digest(bytes)));
        ("200 OK", String::new(), blob.unwrap_or(&manifest).clone())
    });
    let source = format!("oci://{}/policy:stable", server.host);
    let done = team.bundle(&["pull", &source, "--key", "fleet.pub"]).exits(0);
    assert!(done.stdout.starts_with("version 1:"), "{done:#?}");
    // The token is asked for once.
    assert_eq!(server.requests().len(), 5);
}

/// Serves the directory that it runs in over TLS, at a port that it prints.
const TLS_SERVER: &str = "
import http.server, ssl
server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('own.pem', 'own.key')
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
";

#[test]
fn the_certificate_authorities_of_the_system_count() {
    needs("openssl");
    let team = Team::new();
    let path = team.signed(4);
    let certificate = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout own.key -out own.pem \
                       -days 2 -subj /CN=own -addext subjectAltName=DNS:localhost \
                       -addext basicConstraints=critical,CA:FALSE";
    let mut openssl = Command::new("openssl");
    let openssl = openssl.args(certificate.split_whitespace()).current_dir(team.sandbox.project());
    assert!(openssl.stderr(Stdio::null()).status().unwrap().success());
    let mut server = Command::new("python3")
        .args(["-c", TLS_SERVER])
        .current_dir(team.sandbox.project())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let source = format!("https://localhost:{}/{name}", port.trim());
    let pull = |authorities: &str| {
        let pull = ["bundle", "pull", &source, "--key", "fleet.pub", "--output", "pulled.tar"];
        team.sandbox.hookexec(pull).env("SSL_CERT_FILE", authorities).run()
    };
    let done = [pull("own.pem"), pull("none.pem")];
    server.kill().unwrap();
    server.wait().unwrap();
    let [known, unknown] = done;
    assert!(known.exits(0).stdout.starts_with("version 4:"));
    let unknown = unknown.exits(1);
    assert!(unknown.stderr.contains("UnknownIssuer"), "{unknown:#?}");
    assert!(unknown.stderr.contains("certificate authorities can't be read"), "{unknown:#?}");
}
