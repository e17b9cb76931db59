//! The least that a program can do to run one hook: passes stdin on to `/bin/sh -c COMMAND`, reads
//! what it says and waits for its end. No timeout, no limits, no configuration.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

fn main() {
    let command = std::env::args().nth(1).expect("a command");
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).expect("an input");
    let mut child = Command::new("/bin/sh")
        .args(["-c", &command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let _ = child.stdin.take().expect("a pipe").write_all(&input);
    let mut output = Vec::new();
    let _ = child.stdout.take().expect("a pipe").read_to_end(&mut output);
    let _ = child.stderr.take().expect("a pipe").read_to_end(&mut output);
    let status = child.wait().expect("an end");
    println!("{}", status.code().unwrap_or(-1));
}
