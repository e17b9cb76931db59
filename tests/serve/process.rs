//! `hookexec serve` from outside: streams, sockets, signals.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::state::lives;
use crate::support::{Sandbox, signal, until, wait};

pub(crate) const HOOKS: &str = "pre_tool_use:\n  - matcher: shell\n    hooks:\n      \
     - { type: command, name: guard, command: \"grep -q ':.rm ' && { echo no rm >&2; exit 2; } || exit 0\" }\n";

/// A server at a socket; killed when it is dropped.
pub(crate) struct Serving {
    child: Option<Child>,
    pub(crate) socket: PathBuf,
}

impl Serving {
    /// Starts a server of the sandbox's project and waits until it listens.
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        let socket = sandbox.home().join("sockets/hookexec");
        let mut child =
            sandbox.hookexec([Path::new("serve"), "--socket".as_ref(), &socket]).spawn();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("listening at ") {
            assert!(stderr.read_line(&mut said).unwrap() > 0, "it ended: {said}");
        }
        let serving = Self { child: Some(child), socket };
        // Somebody has to read what it says.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        serving
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.child.as_ref().unwrap(), name);
    }

    /// Waits for its end and returns its exit code.
    pub(crate) fn ended(mut self) -> Option<i32> {
        wait(self.child.take().unwrap()).status.code()
    }

    pub(crate) fn connect(&self) -> BufReader<UnixStream> {
        BufReader::new(UnixStream::connect(&self.socket).unwrap())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Sends a dispatch of a shell command and returns what is answered.
fn ask(connection: &mut BufReader<UnixStream>, command: &str) -> Value {
    let input = json!({ "tool_name": "shell", "tool_input": { "cmd": command } });
    let params = json!({ "event": "pre_tool_use", "input": input });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "dispatch", "params": params });
    connection.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut line = String::new();
    connection.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

pub(crate) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let _ = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    sandbox
}

#[test]
fn on_stdio_every_request_is_answered_before_it_ends() {
    let sandbox = sandbox();
    let requests: String = ["ls", "rm x", "ls"]
        .iter()
        .enumerate()
        .map(|(id, command)| {
            let input = json!({ "tool_name": "shell", "tool_input": { "cmd": command } });
            let params = json!({ "event": "pre_tool_use", "input": input });
            json!({ "jsonrpc": "2.0", "id": id, "method": "dispatch", "params": params })
                .to_string()
                + "\n"
        })
        .collect();
    let done = sandbox.hookexec(["serve"]).stdin(requests).run().exits(0);
    let mut answers: Vec<Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let allowed: Vec<_> = answers.iter().map(|answer| &answer["result"]["allowed"]).collect();
    assert_eq!(allowed, [true, false, true], "{answers:#?}");
}

#[test]
fn a_low_limit_of_open_files_is_raised() {
    let sandbox = Sandbox::new();
    let hook = r#"{ type: command, command: "ulimit -n >&2; exit 2" }"#;
    sandbox.write_users_hooks(&format!("pre_tool_use: [{{ hooks: [{hook}] }}]\n"));
    let program = env!("CARGO_BIN_EXE_hookexec");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "ulimit -S -n 256; exec \"$0\" serve", program]);
    let input = json!({ "tool_name": "shell", "tool_input": { "cmd": "ls" } });
    let params = json!({ "event": "pre_tool_use", "input": input });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "dispatch", "params": params });
    let mut child = sandbox
        .dress(&mut command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{request}").unwrap();
    let said = wait(child);
    let answer: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(answer["result"]["message"], "1024", "{said:?}");
}

/// A process that says with each call which one it is.
const COUNTS: &str = r#"n=0; while read -r line; do id=${line#*\"id\":}; id=${id%%,*}; case $line in *hook.hello*) answer='{}';; *) n=$((n+1)); answer="{\"decision\":\"deny\",\"reason\":\"call $n\"}";; esac; echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$answer}"; done"#;

#[test]
fn a_process_goes_on_until_its_own_file_changes() {
    let sandbox = Sandbox::new();
    let guard = json!({ "guard": { "command": ["/bin/sh", "-c", COUNTS], "start": "eager" } });
    let hooks = format!(
        "processes: {guard}\nhooks:\n  pre_tool_use: [{{ hooks: [{{ type: process, command: guard }}] }}]\n"
    );
    sandbox.write_users_hooks(&hooks);
    let serving = Serving::start(&sandbox);
    let mut connection = serving.connect();
    let mut said = || {
        let answer = ask(&mut connection, "ls");
        let message = answer["result"]["message"].as_str().unwrap_or_default();
        message.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(said(), "call 1");
    // No person approved this file, which denies too, and it is another one before each call.
    for number in 2..6 {
        let name = format!(".hookexec/hooks.d/{number}.yaml");
        sandbox.write(name, "stop: [{ type: command, command: 'true' }]");
        assert_eq!(said(), format!("call {number}"));
    }
    sandbox.write_users_hooks(&format!("{hooks}# changed\n"));
    assert_eq!(said(), "call 1");
    assert_eq!(said(), "call 2");
}

#[test]
fn a_broken_configuration_is_no_server() {
    let sandbox = Sandbox::new();
    sandbox.write("broken.yaml", "pre_tool_us: []");
    let done = sandbox.hookexec(["serve", "--config", "broken.yaml"]).run().exits(78);
    assert!(done.stderr.contains("pre_tool_us"), "{}", done.stderr);
    assert_eq!(done.stdout, "");
}

#[test]
fn the_socket_is_private_and_goes_with_the_server() {
    let sandbox = sandbox();
    let serving = Serving::start(&sandbox);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&serving.socket), 0o600);
    assert_eq!(mode(serving.socket.parent().unwrap()), 0o700);
    let (mut one, mut two) = (serving.connect(), serving.connect());
    assert_eq!(ask(&mut one, "rm x")["result"]["message"], "no rm");
    assert_eq!(ask(&mut two, "ls")["result"]["allowed"], true);

    let socket = serving.socket.clone();
    serving.signal("-TERM");
    assert_eq!(serving.ended(), Some(0));
    assert!(!socket.exists());
    let mut rest = String::new();
    assert_eq!(one.read_line(&mut rest).unwrap(), 0, "{rest}");
}

#[test]
fn what_a_killed_server_left_behind_is_in_nobodys_way() {
    let sandbox = sandbox();
    let killed = Serving::start(&sandbox);
    killed.signal("-KILL");
    let socket = killed.socket.clone();
    assert_eq!(killed.ended(), None);
    assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
    let serving = Serving::start(&sandbox);
    assert_eq!(ask(&mut serving.connect(), "ls")["result"]["allowed"], true);

    let second =
        sandbox.hookexec([Path::new("serve"), "--socket".as_ref(), &socket]).run().exits(64);
    assert!(
        second.stderr.contains("another process of hookexec is listening"),
        "{}",
        second.stderr
    );
    assert_eq!(ask(&mut serving.connect(), "ls")["result"]["allowed"], true);
}

#[test]
fn a_socket_is_made_only_where_others_cant_get_at_it() {
    let sandbox = sandbox();
    let public = sandbox.home().join("public");
    fs::create_dir(&public).unwrap();
    fs::set_permissions(&public, fs::Permissions::from_mode(0o755)).unwrap();
    let serve =
        |path: &Path| sandbox.hookexec([Path::new("serve"), "--socket".as_ref(), path]).run();
    let refused = serve(&public.join("socket")).exits(64);
    assert!(refused.stderr.contains("open to other users"), "{}", refused.stderr);

    fs::set_permissions(&public, fs::Permissions::from_mode(0o700)).unwrap();
    let file = public.join("notes.txt");
    fs::write(&file, "mine").unwrap();
    let refused = serve(&file).exits(64);
    assert!(refused.stderr.contains("is not a socket"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn hooks_of_a_client_that_went_away_are_stopped() {
    let sandbox = Sandbox::new();
    let hooks = "pre_tool_use:\n  - hooks: [{ type: command, command: \"echo $$ > pid; exec sleep 1000\" }]\n";
    sandbox.write("hooks.yaml", hooks);
    let _ = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    let serving = Serving::start(&sandbox);
    let mut connection = serving.connect();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"dispatch","params":{"event":"pre_tool_use","input":{"tool_name":"x"}}}"#;
    connection.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
    let pid = || fs::read_to_string(sandbox.project().join("pid")).unwrap_or_default();
    until("the process writes its number", || pid().ends_with('\n'));
    drop(connection);
    until("the process is gone", || !lives(pid().trim()));
    let mut other = serving.connect();
    writeln!(other.get_mut(), r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#).unwrap();
    assert!(other.read_line(&mut String::new()).unwrap() > 0);
}

#[test]
fn a_server_removes_no_socket_but_its_own() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    sandbox.trust();
    let first = Serving::start(&sandbox);
    // Another server is there once the file and the lock of the first are gone.
    fs::remove_file(&first.socket).unwrap();
    fs::remove_file(first.socket.with_extension("lock")).unwrap();
    let second = Serving::start(&sandbox);
    first.signal("-TERM");
    assert_eq!(first.ended(), Some(0));
    assert!(second.socket.exists());
    drop(second);

    let other = sandbox.home().join("sockets/other");
    let _listener = UnixListener::bind(&other).unwrap();
    let arguments = [Path::new("serve"), "--socket".as_ref(), &other];
    let done = sandbox.hookexec(arguments).run().exits(64);
    assert!(done.stderr.contains("another program is listening at"), "{done:?}");
    assert!(UnixStream::connect(&other).is_ok());
}
