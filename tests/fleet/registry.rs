//! A real OCI registry on the loopback.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::needs;

const PROGRAM: &str = "docker-registry";

/// Has the Python package `oras`, as `./test` installs it.
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/fleet/python/bin/python");

/// Returns whether the tests with a real registry run here: where `./test` installed the client of
/// registries, which is not on macOS.
pub(crate) fn is_here() -> bool {
    let is_here = Path::new(PYTHON).exists();
    if is_here {
        needs(PROGRAM);
    } else {
        eprintln!("SKIPPED: `./test` installs the Python package `oras`");
    }
    is_here
}

/// A registry that is killed at the end.
pub(crate) struct Registry {
    child: Child,
    host: String,
}

impl Registry {
    /// Starts a registry that keeps its data in `directory`.
    pub(crate) fn start(directory: &Path) -> Self {
        std::fs::create_dir_all(directory).unwrap();
        let config = format!(
            "version: 0.1\nlog: {{ level: info }}\nhttp: {{ addr: '127.0.0.1:0', secret: s }}\n\
             storage: {{ filesystem: {{ rootdirectory: '{}' }} }}\n",
            directory.join("data").display()
        );
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

impl Registry {
    /// Stores files under the tag `stable`, as `oras push` does.
    pub(crate) fn push(&self, files: &[&Path]) {
        let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
        let push = "client.push(target=target, files=sys.argv[3:], disable_path_validation=True)";
        assert!(self.oras(push, &files));
    }

    /// Fetches the files into `directory`, as `oras pull` does, and returns whether it could.
    pub(crate) fn pull(&self, directory: &Path) -> bool {
        self.oras("client.pull(target=target, outdir=sys.argv[3])", &[directory.to_str().unwrap()])
    }

    fn oras(&self, call: &str, arguments: &[&str]) -> bool {
        let program = format!(
            "import sys, oras.client\n\
             client = oras.client.OrasClient(hostname=sys.argv[1], insecure=True)\n\
             target = sys.argv[2]\n{call}\n"
        );
        let target = format!("{}/policy:stable", self.host);
        let mut python = Command::new(PYTHON);
        python.args(["-c", &program, &self.host, &target]).args(arguments);
        python.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
    }
}
