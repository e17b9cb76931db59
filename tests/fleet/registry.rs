//! A real OCI registry on the loopback.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::needs;

const PROGRAM: &str = "docker-registry";

/// Returns whether the tests with a real registry run here: everywhere but on macOS, where Homebrew
/// has none.
pub(crate) fn is_here() -> bool {
    let is_here = !cfg!(target_os = "macos");
    if is_here {
        needs(PROGRAM);
    }
    is_here
}

/// A registry that is killed at the end.
pub(crate) struct Registry {
    pub(crate) child: Child,
    pub(crate) host: String,
}

impl Registry {
    /// Starts a registry that keeps its data in `directory`. With `login` it asks for the user `fleet`
    /// with the password `secret`.
    pub(crate) fn start(directory: &Path, login: bool) -> Self {
        Self::start_at(directory, login, "127.0.0.1:0")
    }

    pub(crate) fn start_at(directory: &Path, login: bool, address: &str) -> Self {
        std::fs::create_dir_all(directory).unwrap();
        let mut config = format!(
            "version: 0.1\nlog: {{ level: info }}\nhttp: {{ addr: '{address}', secret: s }}\n\
             storage: {{ filesystem: {{ rootdirectory: '{}' }} }}\n",
            directory.join("data").display()
        );
        if login {
            let passwords = directory.join("htpasswd");
            let secret = "fleet:$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n";
            std::fs::write(&passwords, secret).unwrap();
            let path = passwords.display();
            writeln!(config, "auth: {{ htpasswd: {{ realm: test, path: '{path}' }} }}").unwrap();
        }
        let file = directory.join("config.yml");
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new(PROGRAM);
        command.arg("serve").arg(&file).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, receiver) = mpsc::channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // Read to its end, or the registry would wait for its reader.
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, rest)) = line.split_once("listening on ") {
                    let end = rest.find(['"', ' ', ',']).unwrap_or(rest.len());
                    let _ = sender.send(rest[..end].to_owned());
                }
            }
        });
        let host = receiver.recv_timeout(Duration::from_mins(1)).expect("the registry listens");
        Self { child, host }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
