//! The team that writes the policy: its directory, its key, and what it does with both.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Done, Sandbox, needs};

const HOOKS: &str = "\
pre_tool_use:
  - matcher: shell
    hooks:
      - { name: guard, type: command, command: '\"$HOOKEXEC_CONFIG_DIR/guard.sh\"' }
";

const CASES: &str = "\
cases:
  - name: rm is denied
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: rm -rf / } }
    expect: { decision: deny }
  - name: ls is not
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: ls } }
    expect: { decision: none }
";

/// Denies commands with this word in them. It may also stand in the name of a temporary directory.
fn guard(word: &str) -> String {
    let command = format!(r#""cmd":"[^"]*{word}"#);
    format!("#!/bin/sh\nif grep -q '{command}'; then echo 'no {word} here' >&2; exit 2; fi\n")
}

pub(crate) struct Team {
    pub(crate) sandbox: Sandbox,
}

impl Team {
    /// Returns a team with a policy that denies `rm`, and a key.
    pub(crate) fn new() -> Self {
        needs("minisign");
        let team = Self { sandbox: Sandbox::new() };
        team.sandbox.write("policy/hooks.yaml", HOOKS);
        team.sandbox.write("policy/hooks.test.yaml", CASES);
        team.denies("rm");
        team.make_key("fleet");
        team
    }

    /// Changes the policy: commands with this word are denied.
    pub(crate) fn denies(&self, word: &str) {
        self.sandbox.script("policy/guard.sh", &guard(word));
    }

    pub(crate) fn make_key(&self, name: &str) {
        let (public, secret) = (format!("{name}.pub"), format!("{name}.key"));
        let mut command = Command::new("minisign");
        command
            .args(["-G", "-W", "-p", &public, "-s", &secret])
            .current_dir(self.sandbox.project());
        assert!(command.stdout(Stdio::null()).status().unwrap().success());
    }

    /// Returns the text of the public key.
    pub(crate) fn key(&self) -> String {
        self.sandbox.read("fleet.pub").lines().last().unwrap().to_owned()
    }

    pub(crate) fn policy(&self, args: &[&str]) -> Done {
        self.sandbox.hookexec(["policy"].iter().chain(args)).run()
    }

    /// Builds a version of the policy `guards`, and returns where it is.
    pub(crate) fn built(&self, version: u64) -> PathBuf {
        self.built_as("guards", version)
    }

    /// Builds a version under another name.
    pub(crate) fn built_as(&self, name: &str, version: u64) -> PathBuf {
        let version = version.to_string();
        let build = ["build", "policy", "--name", name, "--version", &version];
        let _ = self.policy(&[&build[..], &["--output", "guards.tar"]].concat()).exits(0);
        self.sandbox.project().join("guards.tar")
    }

    /// Signs an archive with a key that was made under this name.
    pub(crate) fn sign(&self, archive: &Path, key: &str) {
        let mut minisign = Command::new("minisign");
        minisign.args(["-S", "-s", &format!("{key}.key"), "-m"]).arg(archive);
        let minisign = minisign.current_dir(self.sandbox.project()).stdout(Stdio::null());
        assert!(minisign.status().unwrap().success());
    }

    /// Builds and signs a version, and returns where it is.
    pub(crate) fn signed(&self, version: u64) -> PathBuf {
        let archive = self.built(version);
        self.sign(&archive, "fleet");
        archive
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
