//! Texts of oddities, run in real shells: what the reader says that a text runs is what it runs.
//!
//! Each text names a program `canary`, somewhere. If the reader finds neither that program nor
//! anything that can't be known, the text runs in every shell that is installed, and `canary` must
//! not run. `just fuzz-commands` runs more texts.
//!
//! The texts have no absolute path, no `~` and no `..`. They run in a directory of their own, as a
//! user without rights if the test may change the user, and the search path has nothing but
//! `canary` and `cat`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, mpsc};
use std::time::Duration;

use super::super::reader::commands_of_text;
use super::super::{Hidden, base_name};

/// How many texts run if nothing else is said.
const TEXTS: usize = 2_000;
/// The user that has no rights.
const NOBODY: u32 = 65_534;
/// Every process of a text ends after a second of work.
const LIMITS: &str = "ulimit -t 1; ulimit -f 64; ulimit -v 1000000; ulimit -u 400\n";

/// The shells.
const SHELLS: [&str; 6] = ["dash", "busybox", "zsh", "bash", "mksh", "yash"];

/// Texts that others are made of. Most of them ran something that some reader did not see.
const SEEDS: [&str; 139] = [
    "echo x",
    "true && echo y",
    "echo 'a b' \"c d\"",
    "cat f | cat",
    "canary",
    "echo x; canary",
    "echo &>f canary",
    "echo &>>f x",
    "echo x &>f",
    "x=1 echo $x",
    "echo >&-x canary",
    "echo >&2-",
    "echo x >&2",
    "echo 2>&1 x",
    "echo <1-5> x",
    ">f echo x",
    "echo $'a\\'; canary #'",
    "echo $'x' y",
    "echo $\"x\" y",
    "echo $[ ;canary ]",
    "echo $[1+1]",
    "echo \"${x:-'}\";canary #'}\"",
    "echo ${x:-$(canary)}",
    "echo ${x:-y}",
    "echo \"${x:=y}\"",
    "echo ${x#y}",
    "echo ${x/a/b}",
    "echo ${#x}",
    "x='a[$(canary)]'; echo ${!x}",
    "x='$(canary)'; echo ${x@P}",
    "x='a[$(canary)]'; echo $((x))",
    "echo $((1+2))",
    "x='a[$(canary)]'; [ \"$x\" -eq 1 ]",
    "[ 'a[$(canary)]' -eq 1 ]",
    "[[ -v 'a[$(canary)]' ]]",
    "x='a[$(canary)]'; [[ $x -eq 1 ]]",
    "[[ a || canary ]]",
    "[[ -f f ]] && echo x",
    "[[ x =~ (a|b) ]]",
    "((canary))",
    "((x=1)); echo x",
    "for ((i=0;i<2;i++)); do echo x; done",
    "for i in a b; do echo $i; done",
    "for i in $(canary); do echo x; done",
    "for x in 'a[$(canary)]'; do exit x; done",
    "while true; do break; done",
    "if true; then echo x; else canary; fi",
    "case x in a) canary;; x) echo y;; esac",
    "case x in (x) echo y;; esac",
    "echo $(case x in x) echo y;; esac)",
    "select i in canary; do x; done",
    "f() { canary; }; f",
    "f() { echo x; }; f",
    "function f { canary; }; f",
    "echo() { canary; }; echo x",
    "alias echo=canary\necho x",
    "alias echo=cax+=nary\necho x & echo {canary,x}",
    "trap f EXIT; f() { return; canary; }",
    "f() { eval \"$1\"; }; f canary",
    "x=(canary y); echo ${x[0]} ${x[$y]:-z} ${x:0:2}",
    "for ((i=0; i<2; i++)); do (( i > 0 )) && canary; done",
    "case $x in (a|b) echo y;; *) canary; esac",
    "coproc canary",
    "coproc X { canary; }",
    "time canary",
    "time -p canary",
    "time -- canary",
    "time echo x",
    "! canary",
    "! true",
    "!canary",
    "- canary",
    "noglob canary",
    "nocorrect canary",
    "builtin echo x",
    "command canary",
    "exec canary",
    "exec -a x canary",
    "repeat 2 canary",
    "repeat 1 echo x",
    "echo x &!canary",
    "echo x &|canary",
    "echo x &! echo y",
    "{canary}",
    "{ echo x; }",
    "{ echo x }; canary",
    "echo {canary,x}",
    "{canary,x}",
    "echo =(canary)",
    "echo <(canary)",
    "cat <(echo x)",
    "=canary",
    "echo =canary",
    "1=2 canary",
    "x+=y canary",
    "x=(a canary)",
    "a[1]=x echo y",
    "a[$(canary)]=1",
    "cat <<E\nx\nE\necho y",
    "cat <<'E'\n$(canary)\nE",
    "cat <<E\n$(canary)\nE",
    "cat <<E; canary\nx\nE",
    "cat <<-E\n\tx\n\tE\necho y",
    "cat <<E\n\\\nE\ncanary",
    "echo \"$(cat <<'E'\nit's (x) \"y\"\nE\n)\"",
    "echo $(cat <<'E'\n)\nE\n)",
    "cat <<A <<B\nx\nA\ny\nB\n",
    "cat <<'E'\nE \ncanary\nE",
    "cat <<$'E'\nx\nE\ncanary\n$E",
    "cat <<< canary",
    "echo `canary`",
    "echo \"`echo x`\"",
    "echo `echo \\`canary\\``",
    "echo a\\\ncanary",
    "echo a \\\n; canary",
    "echo x &\\\n& canary",
    "echo x # canary",
    "echo x #\ncanary",
    "echo x#canary",
    "(echo x) | (cat)",
    "echo x | while read -r y; do echo \"$y\"; done",
    "trap canary EXIT",
    "trap 'canary' 0; echo x",
    "eval canary",
    "eval 'echo x'",
    "printf %d 'a[$(canary)]'",
    "printf -v 'a[$(canary)]' x",
    "read 'a[$(canary)]' <f",
    "let 'a[$(canary)]'",
    "unset 'a[$(canary)]'",
    "set -k; echo x",
    "PATH=x:$PATH echo x",
    "functions[echo]=canary; echo x",
    "aliases[echo]=canary; echo x",
    "echo *(e:canary:)",
    "echo x\r\ncanary",
    "echo x\u{a0}canary",
    "echo \"x\" 'canary'",
    "echo x | cat; true || canary",
];

/// Pieces that are put into the texts.
const PIECES: [&str; 118] = [
    "canary", " canary ", ";canary;", "\ncanary\n", "$(canary)", "`canary`", "'canary'",
    "\"canary\"", "|canary", "&canary", "echo ", "true", "x", "f", " ", "\t", "\n", ";", "&", "|",
    "&&", "||", "|&", "&>", "&>>", ">&", "<&", ">", ">>", ">|", ">!", "<", "<>", "<<", "<<-",
    "<<E\n", "<<'E'\n", "\nE\n", "<<<", "2>", "2>&1", ">&-", "<(", ">(", "=(", "(", ")", "((",
    "))", "{", "}", "[", "]", "[[", "]]", "'", "\"", "`", "\\", "\\\n", "\\\\", "\\'", "$", "$x",
    "$'", "$\"", "$(", "$((", "${", "${x", "${x:-", "$[", "$@", "$#", "$?", "$!", "$$", "#", " #",
    "!", "!!", "=", "x=", "x+=", "a[1]=", "*", "?", "^", "%", "@(", "*(", ",", "{a,b}", "{1..2}",
    "-", "--", "if true; then ", "; fi", "for i in x; do ", "; done", "case x in ", "x) ", ";; ",
    ";&", "esac", "while true; do ", "break", "f() ", "function ", "time ", "coproc ", "eval ",
    "exec ", "command ", "\r", "\u{b}", "\u{a0}", "\u{2028}",
];

/// A small generator: the same seed gives the same texts everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end
    }

    fn text(&mut self) -> String {
        let mut text = SEEDS[self.below(SEEDS.len())].to_owned();
        for _ in 0..self.below(4) {
            match self.below(8) {
                0 => {
                    let other = SEEDS[self.below(SEEDS.len())];
                    let between = ["; ", "\n", " | ", " && ", " & ", " "][self.below(6)];
                    text = format!("{text}{between}{other}");
                }
                1 => text = format!("echo \"$({text})\""),
                2 => {
                    let at = self.place(&text);
                    text.truncate(at);
                }
                3 if !text.is_empty() => {
                    let at = self.place(&text);
                    if at < text.len() {
                        text.remove(at);
                    }
                }
                4 => {
                    let (open, close) = [
                        ("{ ", "; }"),
                        ("(", ")"),
                        ("! ", ""),
                        ("", " >f"),
                        ("x=1 ", ""),
                        ("echo '", "'"),
                    ][self.below(6)];
                    text = format!("{open}{text}{close}");
                }
                _ => {
                    let at = self.place(&text);
                    text.insert_str(at, PIECES[self.below(PIECES.len())]);
                }
            }
        }
        text
    }

    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// Returns whether the reader finds no `canary` in a text, and nothing that may be one.
fn has_no_opinion(text: &str) -> bool {
    commands_of_text(text).iter().all(|command| match &command.hidden {
        Hidden::Anything => false,
        Hidden::Words(words) => !words.iter().any(|word| base_name(word).contains("canary")),
        Hidden::Nothing => command
            .words
            .first()
            .is_none_or(|word| word.is_known() && base_name(&word.text) != "canary"),
    })
}

/// Returns whether a rule that allows every program but `canary` allows a text.
fn is_allowed(text: &str) -> bool {
    commands_of_text(text).iter().all(|command| {
        command.is_certain && command.sets.is_empty() && command.hidden == Hidden::Nothing
    })
}

/// A directory in which texts run.
struct Yard {
    home: PathBuf,
    programs: PathBuf,
    trace: PathBuf,
}

impl Yard {
    fn new(root: &Path) -> Self {
        let open = |path: PathBuf| {
            fs::create_dir_all(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
            path
        };
        let (home, traces) = (open(root.join("home")), open(root.join("traces")));
        let programs = root.join("programs");
        fs::create_dir_all(&programs).unwrap();
        let trace = traces.join("ran");
        let canary = programs.join("canary");
        fs::write(&canary, format!("#!/bin/sh\n: >'{}'\n", trace.display())).unwrap();
        fs::set_permissions(&canary, fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("/bin/cat", programs.join("cat")).unwrap();
        Self { home, programs, trace }
    }

    /// Runs a text in shells, one after the other, and returns whether `canary` ran.
    fn runs_canary(&self, shells: &[PathBuf], text: &str) -> bool {
        self.tidy();
        let mut script = LIMITS.to_owned();
        for shell in shells {
            let applet = if shell.ends_with("busybox") { "sh" } else { "" };
            let line = format!("{} {applet} -c \"$1\"\n", shell.display());
            script.push_str(&line);
        }
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script, "sh", text]);
        command.env_clear().env("PATH", &self.programs).env("HOME", &self.home);
        command.current_dir(&self.home).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let child = command.spawn().unwrap();
        let group = child.id();
        let (sender, ended) = mpsc::channel();
        // What runs in the background holds the pipe, too.
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        if ended.recv_timeout(Duration::from_secs(20)).is_err() {
            // Not by the program `kill`: some take `-9 -1234` for all processes.
            let group = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw).unwrap();
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let ran = self.trace.exists();
        if ran {
            fs::remove_file(&self.trace).unwrap();
        }
        ran
    }

    /// Empties the directory, which has one file.
    fn tidy(&self) {
        for entry in fs::read_dir(&self.home).unwrap() {
            let path = entry.unwrap().path();
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
        fs::write(self.home.join("f"), "x\n").unwrap();
        fs::set_permissions(self.home.join("f"), fs::Permissions::from_mode(0o666)).unwrap();
    }
}

fn is_root() -> bool {
    static IS_ROOT: LazyLock<bool> = LazyLock::new(|| {
        let id = Command::new("id").arg("-u").output().unwrap();
        id.stdout == b"0\n"
    });
    *IS_ROOT
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.exists())
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn no_shell_runs_what_the_reader_does_not_find() {
    let shells: Vec<PathBuf> = SHELLS.iter().filter_map(|shell| program(shell)).collect();
    let root = std::env::temp_dir().join(format!("hookexec-fuzz-{}", std::process::id()));
    fs::create_dir_all(&root).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    let count = number("HOOKEXEC_FUZZ_TEXTS").unwrap_or(TEXTS);
    let seed = number("HOOKEXEC_FUZZ_SEED").unwrap_or(1);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let (root, shells) = (&root, &shells);
    let mut found: Vec<String> = Vec::new();
    let mut ran = 0;
    std::thread::scope(|scope| {
        let work = |worker: usize| {
            let yard = Yard::new(&root.join(worker.to_string()));
            for shell in shells {
                assert!(
                    yard.runs_canary(std::slice::from_ref(shell), "canary"),
                    "{}",
                    shell.display()
                );
            }
            let mut random = Random(
                u64::try_from(seed * 1_000 + worker + 1)
                    .unwrap()
                    .wrapping_mul(0x9E37_79B9_7F4A_7C15),
            );
            let (mut found, mut ran, mut last) = (Vec::new(), 0, Vec::new());
            for _ in 0..count.div_ceil(workers) {
                let text = random.text();
                let is_safe = !text.contains("..") && !text.contains(['~', '/']);
                if !is_safe || !has_no_opinion(&text) {
                    continue;
                }
                ran += 1;
                if yard.runs_canary(shells, &text) {
                    let alone = |shell: &&PathBuf| yard.runs_canary(&[(*shell).clone()], &text);
                    let runs: Vec<&PathBuf> = shells.iter().filter(alone).collect();
                    let allowed = if is_allowed(&text) { "allowed: " } else { "" };
                    // What a text before it left running may be late.
                    found.push(format!("{allowed}{text:?} in {runs:?}, behind {last:?}"));
                }
                last.push(text);
                last = last.split_off(last.len().saturating_sub(4));
            }
            (found, ran)
        };
        let handles: Vec<_> =
            (0..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        for handle in handles {
            let (more, count) = handle.join().unwrap();
            found.extend(more);
            ran += count;
        }
    });
    fs::remove_dir_all(root).unwrap();
    found.sort();
    found.dedup();
    println!("{ran} of {count} texts ran in {} shells", shells.len());
    assert!(ran > count / 20, "{ran}");
    assert!(found.is_empty(), "{} texts run `canary`:\n{}", found.len(), found.join("\n"));
}
