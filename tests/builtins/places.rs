//! Where a shell is: lists of `cd`, tests, loops and exits, run in real shells. If a rule has no opinion of
//! what runs behind them, it runs outside of the project in each shell.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hookexec_files::files::{is_program, programs};

use super::random::Random;
use super::rules::Machine;

/// How many lists run if nothing else is said.
const LISTS: usize = 300;
const SHELLS: [&str; 4] = ["dash", "busybox", "zsh", "bash"];
/// It stands in the table like `rm`, and in no shell.
const LAST: &str = "rimraf *";
const RULE: &str = "{ type: rule, deny: no, commands: [rimraf], targets: ['@project'] }";

const MOVES: [&str; 14] = [
    "cd src", "cd ..", "cd ../app", "cd src/a", "cd missing", "cd missing/..", "cd", "cd .",
    "cd $D", "cd \"$D\"", "D=src", "D=..", "command cd src", "eval 'cd src'",
];
const TESTS: [&str; 8] =
    ["true", "false", ":", "[ -d src ]", "[ -d missing ]", "exit 1", "exit", "echo x"];
const ENDS: [&str; 5] = ["break", "continue", "break 2", "break >/dev/null", "x=1 break"];
const OUTPUTS: [&str; 6] = ["", "", "", " >/dev/null", " 2>&1", " <missing"];

/// Makes lists of commands, the same ones in each run.
struct Lists(Random);

impl Lists {
    fn command(&mut self, depth: usize, is_in_loop: bool) -> String {
        match if depth == 0 { 0 } else { self.0.below(16) } {
            0..=6 => self.0.one_of(&MOVES).to_owned() + self.0.one_of(&OUTPUTS),
            7 | 8 => self.0.one_of(&TESTS).to_owned(),
            9 if is_in_loop => self.0.one_of(&ENDS).to_owned(),
            9 | 10 => {
                let (list, output) = (self.list(depth - 1, is_in_loop), self.0.one_of(&OUTPUTS));
                format!("{{ {list}; }}{output}")
            }
            11 => format!("( {} )", self.list(depth - 1, false)),
            12 => {
                let condition = self.list(depth - 1, is_in_loop);
                let (yes, no) =
                    (self.list(depth - 1, is_in_loop), self.list(depth - 1, is_in_loop));
                format!("if {condition}; then {yes}; else {no}; fi")
            }
            13 | 14 => format!("for i in 1 2 3; do {}; done", self.list(depth - 1, true)),
            // With `continue` it might not end.
            _ => {
                let (condition, body) = (self.list(depth - 1, false), self.list(depth - 1, false));
                format!("while {condition}; do {body}; break; done")
            }
        }
    }

    fn list(&mut self, depth: usize, is_in_loop: bool) -> String {
        let mut list = String::new();
        for at in 0..=self.0.below(3) {
            if at > 0 {
                list += self.0.one_of(&["; ", "; ", "\n", " && ", " || ", " | ", " & "]);
            }
            if self.0.below(8) == 0 {
                list += "! ";
            }
            list += &self.command(depth, is_in_loop);
        }
        list
    }
}

/// Runs a text in a shell, and returns the directories that its last command ran in.
fn runs_in(shell: &Path, text: &str, root: &Path) -> String {
    let trace = root.join("trace");
    let _ = fs::remove_file(&trace);
    let mut command = Command::new(shell);
    if shell.ends_with("busybox") {
        command.arg("sh");
    }
    command.args(["-c", text]).env_clear().env("PATH", root.join("programs"));
    command.env("HOME", root.join("home")).current_dir(root.join("home/app"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap();
    fs::read_to_string(&trace).unwrap_or_default()
}

#[tokio::test]
async fn no_shell_is_in_the_project_where_a_rule_sees_it_elsewhere() {
    let machine = Machine::new();
    let root = machine.root.path();
    fs::create_dir_all(root.join("home/app/src/a")).unwrap();
    let program = root.join("programs/rimraf");
    fs::create_dir(root.join("programs")).unwrap();
    fs::write(&program, format!("#!/bin/sh\npwd -P >>'{}/trace'\n", root.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let shell = |name: &&str| programs(name.as_ref(), &path).find(|program| is_program(program));
    let shells: Vec<PathBuf> = SHELLS.iter().filter_map(shell).collect();
    let project = format!("{}/home/app\n", root.display());
    for shell in &shells {
        assert_eq!(runs_in(shell, LAST, root), project, "{}", shell.display());
    }
    let lists = std::env::var("HOOKEXEC_FUZZ_LISTS").ok();
    let lists = lists.and_then(|number| number.parse().ok()).unwrap_or(LISTS);
    let seed = std::env::var("HOOKEXEC_FUZZ_SEED").ok();
    let seed = seed.and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let (mut silent, mut wrong) = (0, Vec::new());
    for number in 0..lists {
        let mut random = Lists(Random::new(seed, number, 0));
        let end = random.0.one_of(&["; ", "\n", " && "]);
        let text = format!("{}{end}{LAST}", random.list(3, false));
        if machine.said(RULE, &text).await != "-" {
            continue;
        }
        silent += 1;
        for shell in &shells {
            let places = runs_in(shell, &text, root);
            if places.lines().any(|place| {
                format!("{place}\n") == project || project.starts_with(&format!("{place}/"))
            }) {
                wrong.push(format!("{text:?} in {}: {places:?}", shell.display()));
            }
        }
    }
    println!("{silent} of {lists} lists ran in {} shells", shells.len());
    assert!(silent > lists / 20, "{silent}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
