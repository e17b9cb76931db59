//! Policies from a web server.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::fleet::machines::{ALLOWED, Machine};
use crate::fleet::team::Team;
use crate::support::{Done, needs};

/// Serves the directory that it runs in over TLS, with an `ETag`, at a port that it prints; and notes the
/// requests. With a word after it, it answers every request with 304.
const SERVER: &str = "
import hashlib, http.server, pathlib, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        file = pathlib.Path(self.path[1:])
        content = file.read_bytes() if file.exists() else b''
        tag = '\"' + hashlib.sha256(content).hexdigest() + '\"'
        same = sys.argv[1:] or self.headers['if-none-match'] == tag
        status = 304 if same else 200 if file.exists() else 404
        with open('requests', 'a') as requests:
            print(self.path, status, file=requests)
        self.send_response(status)
        self.send_header('etag', tag)
        self.send_header('content-length', '0' if status == 304 else str(len(content)))
        self.end_headers()
        if status == 200:
            self.wfile.write(content)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('own.pem', 'own.key')
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
";

/// A server of the team's directory that ends with the test.
struct Server<'t> {
    team: &'t Team,
    child: Child,
    address: String,
}

impl<'t> Server<'t> {
    fn start(team: &'t Team, arguments: &[&str]) -> Self {
        needs("openssl");
        let certificate = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout own.key \
                           -out own.pem -days 2 -subj /CN=own -addext subjectAltName=DNS:localhost \
                           -addext basicConstraints=critical,CA:FALSE";
        let mut openssl = Command::new("openssl");
        let openssl =
            openssl.args(certificate.split_whitespace()).current_dir(team.sandbox.project());
        assert!(openssl.stderr(Stdio::null()).status().unwrap().success());
        let mut child = Command::new("python3")
            .args(["-c", SERVER])
            .args(arguments)
            .current_dir(team.sandbox.project())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let address = format!("https://localhost:{}/guards.tar", port.trim());
        Self { team, child, address }
    }

    fn requests(&self) -> String {
        let path = self.team.sandbox.project().join("requests");
        let requests = fs::read_to_string(&path).unwrap_or_default();
        let _ = fs::remove_file(path);
        requests
    }

    fn refresh(&self, machine: &Machine, authorities: &str) -> Done {
        let authorities = self.team.sandbox.project().join(authorities);
        let refresh = machine.sandbox.hookexec(["policy", "refresh"]);
        refresh.env("SSL_CERT_FILE", authorities.to_str().unwrap()).run()
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_policy_comes_from_a_web_server_once() {
    let team = Team::new();
    team.signed(1);
    let server = Server::start(&team, &[]);
    let machine = Machine::new(&server.address, &team.key(), "");
    let done = server.refresh(&machine, "own.pem").exits(0);
    assert!(done.stdout.contains("version 1 is in force"), "{done:#?}");
    assert_eq!(server.requests(), "/guards.tar 200\n/guards.tar.minisig 200\n");
    machine.says("ls", ALLOWED);
    let done = server.refresh(&machine, "own.pem").exits(0);
    assert!(done.stdout.contains("version 1 is still in force"), "{done:#?}");
    assert_eq!(server.requests(), "/guards.tar 304\n");

    // The certificate authorities of the system count, and no others.
    let done = server.refresh(&machine, "none.pem").exits(1);
    assert!(done.stderr.contains("UnknownIssuer"), "{done:#?}");
    assert!(done.stderr.contains("certificate authorities can't be read"), "{done:#?}");

    // More than a policy may have is not read.
    let archive = fs::File::create(team.sandbox.project().join("guards.tar")).unwrap();
    archive.set_len((16 << 20) + 1).unwrap();
    let done = server.refresh(&machine, "own.pem").exits(1);
    assert!(done.stderr.contains("larger than request limit"), "{done:#?}");
    fs::remove_file(team.sandbox.project().join("guards.tar")).unwrap();
    let done = server.refresh(&machine, "own.pem").exits(1);
    assert!(done.stderr.contains("404"), "{done:#?}");
    machine.says("ls", ALLOWED);
}

#[test]
fn a_server_that_says_unasked_that_nothing_changed_confirms_nothing() {
    let team = Team::new();
    let server = Server::start(&team, &["304"]);
    let machine = Machine::new(&server.address, &team.key(), "");
    let done = server.refresh(&machine, "own.pem").exits(1);
    assert!(done.stderr.contains("its signature is not one of minisign"), "{done:#?}");
}
