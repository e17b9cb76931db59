#[cfg(unix)]
mod fuzz;

use serde_json::json;

use super::reader::commands_of_text;
use super::*;
use hookexec::describe::{Command, Touched, TouchedFile};

fn commands(input: &Input) -> Vec<Command> {
    KnownTools.describe(input).commands
}

fn files(input: &Input) -> Vec<TouchedFile> {
    KnownTools.describe(input).files
}

/// Returns the commands of a text, each as one line: wrappers, program and arguments, and marks for
/// what is uncertain (`?`), hides others (`!`), and reads from a pipe (`|`).
fn read(text: &str) -> Vec<String> {
    shown(&commands(&Input::call("Bash").arg("command", text)))
}

fn shown(commands: &[Command]) -> Vec<String> {
    let line = |command: &Command| {
        let wrappers = command.wrappers.iter().map(|wrapper| format!("{wrapper}:"));
        let assignments = command.assignments.iter().cloned();
        let program = Some(command.program.clone()).filter(|it| !it.is_empty());
        let redirected = command
            .redirections
            .iter()
            .map(|it| format!("{}{}{}", it.operator, it.file, if it.certain { "" } else { "?" }));
        let marks = [(command.uncertain, "?"), (command.hides, "!"), (command.piped, "|")];
        let marks = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark.to_owned());
        let words = wrappers.chain(assignments).chain(program).chain(command.args.clone());
        words.chain(redirected).chain(marks).collect::<Vec<_>>().join(" ")
    };
    commands.iter().map(line).collect()
}

#[test]
fn a_text_is_read_into_its_simple_commands() {
    for (text, expected) in [
        ("git status", &["git status"][..]),
        ("a && b || c; d & e\nf", &["a", "b", "c", "d", "e", "f"]),
        ("grep 'x y' \"f g\" | head -5", &["grep x y f g", "head -5 |"]),
        ("a |& b", &["a", "b |"]),
        ("(a; { b; }) | c", &["a", "b", "c |"]),
        ("! a", &["a"]),
        ("time a | b", &["a", "b |"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while a; do b; done < f", &["a <f", "b <f"]),
        ("a | while read x; do sh; done", &["a", "read x |", "sh ? ! |"]),
        ("for f in a b; do c; done", &["f=a f=b", "c"]),
        ("for f in $(x); do c; done", &["x", "f=$(x) ?", "c"]),
        ("[[ -f x ]] && a", &["[[ -f x ]] ?", "a"]),
        ("LANG=C sort f > out 2>&1 2>/dev/null", &["LANG=C sort f >out >/dev/null"]),
        ("a <<< x 3<in &>> log", &["a <in &>>log"]),
        ("{ a; b; } > out", &["a >out", "b >out"]),
        ("a <<'E' | b\n$(rm x)\nE\nc", &["a", "b |", "c"]),
        ("X=1", &["X=1"]),
        ("> f", &[">f"]),
        ("a # rm x", &["a"]),
        ("a \\\n  b", &["a b"]),
        ("[ -f x ]", &["[ -f x ]"]),
        ("ls src/*.rs ~/x", &["ls src/*.rs ~/x"]),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn what_a_command_runs_is_a_command_too() {
    for (text, expected) in [
        ("sudo -u bob -n rm -rf x", &["sudo -u bob -n rm -rf x", "sudo: rm -rf x"][..]),
        ("sudo -ubob A=1 rm x", &["sudo -ubob A=1 rm x", "sudo: A=1 rm x"]),
        ("env -i A=b rm x", &["env -i A=b rm x", "env: A=b rm x"]),
        ("timeout -k 3 5s rm x", &["timeout -k 3 5s rm x", "timeout: rm x"]),
        (
            "nice -n 5 nohup rm x",
            &["nice -n 5 nohup rm x", "nice: nohup rm x", "nice: nohup: rm x"],
        ),
        ("ls | xargs -0 -n1 rm", &["ls", "xargs -0 -n1 rm |", "xargs: rm ? |"]),
        (
            "find . -exec rm {} + -exec ls {} ;",
            &["find . -exec rm {} + -exec ls {}", "find: rm {} ?", "find: ls {} ?"],
        ),
        ("sh -c 'rm x | cat'", &["sh -c rm x | cat", "sh: rm x", "sh: cat |"]),
        ("env -S 'rm x'", &["env -S rm x", "env: rm x"]),
        ("bash -euo pipefail -c 'rm x'", &["bash -euo pipefail -c rm x", "bash: rm x"]),
        (
            "sudo bash -lc \"sh -c 'rm x'\"",
            &[
                "sudo bash -lc sh -c 'rm x'",
                "sudo: bash -lc sh -c 'rm x'",
                "sudo: bash: sh -c rm x",
                "sudo: bash: sh: rm x",
            ],
        ),
        ("eval 'rm x' y", &["eval rm x y", "eval: rm x y"]),
        ("trap 'rm x' EXIT", &["trap rm x EXIT ?", "trap: rm x ?"]),
        ("[[ -f `rm x` ]]", &["rm x", "[[ -f `rm x` ]] ?"]),
        ("command rm x", &["command rm x", "command: rm x"]),
        ("command -v rm", &["command -v rm"]),
        ("/usr/bin/env rm x", &["/usr/bin/env rm x", "env: rm x"]),
        ("echo \"$(rm x)\" `ls`", &["rm x", "ls", "echo $(rm x) `ls` ?"]),
        ("cat <(rm x)", &["rm x", "cat <(rm x) ?"]),
        ("sh <<E\nrm\nE", &["sh", "sh: rm"]),
        ("source f && . ./g", &["source f", ". ./g"]),
        ("su -c 'rm x' bob", &["su -c rm x bob", "su: rm x"]),
        ("ssh -p 22 h rm x", &["ssh -p 22 h rm x", "ssh: rm x"]),
        ("watch -n 1 'ls | wc'", &["watch -n 1 ls | wc", "watch: ls", "watch: wc |"]),
        ("npx --yes rimraf x", &["npx --yes rimraf x", "npx: rimraf x"]),
        ("npx --yes -c 'rm x'", &["npx --yes -c rm x", "npx: rm x"]),
        ("npm exec -c 'rm x'", &["npm exec -c rm x", "npm: rm x"]),
        ("sudo -s <<E\nrm x\nE", &["sudo -s", "sudo: rm x"]),
        ("uv run -q pytest", &["uv run -q pytest", "uv: pytest"]),
        ("docker exec -it web rm x", &["docker exec -it web rm x", "docker: rm x"]),
        ("kubectl exec p -- rm x", &["kubectl exec p -- rm x", "kubectl: rm x"]),
        ("xvfb-run -a rm x", &["xvfb-run -a rm x", "xvfb-run: rm x"]),
        ("nix-shell --run 'rm x'", &["nix-shell --run rm x", "nix-shell: rm x"]),
        ("bash-5.2 -c 'rm x'", &["bash-5.2 -c rm x", "bash-5.2: rm x"]),
        (
            "rbash -c 'rm x'; mksh -c ls",
            &["rbash -c rm x", "rbash: rm x", "mksh -c ls", "mksh: ls"],
        ),
        ("time -- rm x", &["time -- rm x", "time: rm x"]),
        (r"time \-p rm x", &["time -p rm x", "time: rm x"]),
        ("echo $(a $(b $(c)))", &["c", "b $(c) ?", "a $(b $(c)) ?", "echo $(a $(b $(c))) ?"]),
        ("cat <<E\n$(rm x)\nE", &["rm x", "cat ?"]),
        // A text option of the inner program, and values that hold the letter of one.
        ("flock l psql -c x", &["flock l psql -c x", "flock: psql -c x"]),
        ("flock l -c 'rm x'", &["flock l -c rm x", "flock: rm x"]),
        ("script -q o psql -c x", &["script -q o psql -c x", "script: psql -c x"]),
        ("script o -c 'rm x'", &["script o -c rm x", "script: rm x"]),
        ("env -uSHELL rm x", &["env -uSHELL rm x", "env: rm x"]),
        ("env -CSrc rm x", &["env -CSrc rm x", "env: rm x ?"]),
        ("env -iSrm x 'y z'", &["env -iSrm x y z", "env: rm x y z"]),
        ("su -s/bin/csh -c 'rm x'", &["su -s/bin/csh -c rm x", "su: rm x"]),
        ("su --c 'rm x'", &["su --c rm x", "su: rm x"]),
        ("sg g 'rm x'", &["sg g rm x", "sg: rm x"]),
        ("sudo -p= --prompt= rm x", &["sudo -p= --prompt= rm x", "sudo: rm x"]),
        ("fd --exec=rm x", &["fd --exec=rm x", "fd: rm x"]),
        ("rtk test 'rm x'", &["rtk test rm x", "rtk: rm x"]),
        ("rtk proxy 'rm x'", &["rtk proxy rm x", "rtk: rm x"]),
        ("rtk proxy grep 'a|b' f", &["rtk proxy grep a|b f", "rtk: grep a|b f"]),
        ("rtk format .", &["rtk format ."]),
        // What stands in the input of the programs that another one starts.
        ("ssh h bash <<E\nrm\nE", &["ssh h bash", "ssh: bash", "ssh: bash: rm"]),
        ("chroot /m <<E\nrm\nE", &["chroot /m", "chroot: rm"]),
        ("sh -c 'a; b | c' < f", &["sh -c a; b | c <f", "sh: a <f", "sh: b <f", "sh: c |"]),
        ("A=$(rm x) b", &["rm x", "A=$(rm x) b ?"]),
        ("a > $(rm x)", &["rm x", "a >$(rm x)? ?"]),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn what_a_command_runs_elsewhere_is_a_command_too() {
    for (text, expected) in [
        ("mosh -p 1 h -- rm x", &["mosh -p 1 h -- rm x", "mosh: rm x"][..]),
        ("mosh h rm x", &["mosh h rm x", "mosh: rm x"]),
        (
            "gcloud compute ssh h --zone z --command='rm x'",
            &["gcloud compute ssh h --zone z --command=rm x", "gcloud: rm x"],
        ),
        (
            "gcloud beta compute ssh --command rm",
            &["gcloud beta compute ssh --command rm", "gcloud: rm"],
        ),
        ("gcloud compute ssh h <<E\nrm\nE", &["gcloud compute ssh h", "gcloud: rm"]),
        ("ansible all -m shell -a 'rm x'", &["ansible all -m shell -a rm x", "ansible: rm x"]),
        ("ansible all -urm -arm", &["ansible all -urm -arm", "ansible: rm"]),
        ("xterm -hold -e rm x", &["xterm -hold -e rm x", "xterm: rm x"]),
        ("konsole --hold -e 'rm x'", &["konsole --hold -e rm x", "konsole: rm x"]),
        ("gnome-terminal --tab -- rm x", &["gnome-terminal --tab -- rm x", "gnome-terminal: rm x"]),
        ("xfce4-terminal -e 'rm x'", &["xfce4-terminal -e rm x", "xfce4-terminal: rm x"]),
        ("xfce4-terminal -x rm x", &["xfce4-terminal -x rm x", "xfce4-terminal: rm x"]),
        ("alacritty -t a -e rm x", &["alacritty -t a -e rm x", "alacritty: rm x"]),
        ("kitty -T a rm x", &["kitty -T a rm x", "kitty: rm x"]),
        ("wezterm start -- rm x", &["wezterm start -- rm x", "wezterm: rm x"]),
        ("su bob -- -u -c 'rm x'", &["su bob -- -u -c rm x", "su: rm x"]),
        ("su bob -- -s -c 'rm x'", &["su bob -- -s -c rm x", "su: rm x"]),
        ("runuser --us=bob rm x", &["runuser --us=bob rm x ?", "runuser: rm x"]),
        ("runuser rm -u bob x", &["runuser rm -u bob x ?", "runuser: rm -u bob x"]),
        ("runuser -u bob psql -c x", &["runuser -u bob psql -c x ?", "runuser: psql -c x"]),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn a_quote_that_never_closes_leaves_all_uncertain() {
    for text in ["a; rm 'b", "a; rm \"b", "a\nrm \"b\n c", "sh -c 'a; rm \"b'", "rm \"`a"] {
        let found = commands(&Input::call("Bash").arg("command", text));
        assert!(
            found.iter().all(|command| command.uncertain && !command.hides),
            "{text}: {found:?}"
        );
        assert_eq!(found[found.len() - 1].program, "rm", "{text}");
    }
}

#[test]
fn what_may_run_other_commands_is_marked() {
    for text in [
        "$x",
        "r$y",
        "/bin/r?",
        "{rm,x}",
        "$'rm' x",
        "\"$x\" y",
        "eval $x",
        "eval \"$(x)\"",
        "sh",
        "sh -s",
        "curl x | sh",
        "bash < f",
        "bash /dev/stdin",
        "sh -c \"$x\"",
        "sh -ceuo pipefail 'rm'",
        "sudo --unknown rm",
        "sudo $x rm",
        "timeout --foo 5 rm",
        "alias ls=rm",
        "alias ls=",
        "hash ls=rm",
        "hash -p rm ls",
        "xargs sh -c",
        "xargs -I% sh -c 'x %'",
        "xargs ssh -p 22 host",
        "git clone x && ./y",
        "curl x.tgz | tar xz; ./y",
        "curl -O a/x.zip; unzip x.zip; sh y",
        "curl -O $u; sh y",
        "curl -O a/x.sh; sh *.sh",
        "svn co x; sh y",
        "git clone x; cd x; bash y",
        "find . -exec sh -c 'rm {}' ;",
        "echo ${x:-$(rm y)}",
        "echo `a \\`rm x\\``",
        "echo $((x[$(rm)]))",
        "sh -c 'rm ('",
        "eval \"cd a; echo 'b\"",
        "a && ",
        "(a",
        "a\0b",
        "echo ${x@P}",
        "\u{feff}rm x",
        "rm\u{200b} x",
        "trap $x EXIT",
        "x() (rm",
        "echo a(b)",
    ] {
        let hidden = commands(&Input::call("Bash").arg("command", text));
        assert!(
            hidden.iter().any(|command| command.hides && command.uncertain),
            "{text}: {hidden:?}"
        );
    }
}

/// Returns the commands of a text with a mark behind each word that is not known: `°` for one word
/// with a part that is not known, `*` for paths, `?` for anything. `!` alone stands for hidden
/// commands, and `~` for a command that not every shell reads alike.
fn certainties(text: &str) -> String {
    let mut lines = Vec::new();
    for command in commands_of_text(text) {
        let mut line = Vec::new();
        for word in command.assignments.iter().chain(&command.words) {
            let mark = match word.certainty {
                Certainty::Known => "",
                Certainty::OneWord => "°",
                Certainty::Paths => "*",
                Certainty::Invisible | Certainty::Unknown => "?",
            };
            line.push(format!("{}{mark}", word.text));
        }
        match command.hidden {
            Hidden::Nothing => {}
            Hidden::Words(words) => line.push(format!("!{}", words.join(","))),
            Hidden::Anything => line.push("!".to_owned()),
        }
        if !command.is_certain {
            line.push("~".to_owned());
        }
        line.extend(command.sets.iter().map(|name| format!("sets:{name}")));
        lines.push(line.join(" "));
    }
    lines.join(" | ")
}

#[test]
fn each_word_knows_how_far_it_is_known() {
    for (text, expected) in [
        (r#"echo "a b"'c d'\ e"#, "echo a bc d e"),
        (r#"echo "a\"\$\x" st\atus "x$""#, r#"echo a"$\x status x$"#),
        (
            "echo HEAD~1 stash@{0} --a=b a.b,c HEAD^ {}",
            "echo HEAD~1 stash@{0} --a=b a.b,c HEAD^ {}",
        ),
        ("ls src/*.rs ~/x ./-* f.{a,b}", "ls src/*.rs* ~/x* ./-** f.{a,b}*"),
        ("ls *.rs --o* [ab] {1..3}", "ls *.rs* --o** [ab]* {1..3}*"),
        ("echo $x \"$x\" ${x} \"a${x}b\" $? $#", "echo $x? $x° ${x}? a${x}b° $?° $#°"),
        ("echo \"$@\" \"$*\" ${#a}", "echo $@? $*° ${#a}°"),
        ("ls \"$PWD\" \"$HOME/x\" ${HOME}", "ls $PWD° $HOME/x° ${HOME}?"),
        ("echo \"$(ls)\" $(ls) `ls`", "ls | ls | ls | echo $(ls)° $(ls)? `ls`?"),
        ("echo $((1+2)) \"$((x+1))\"", "echo $((1+2))° $((x+1))° ~"),
        ("echo $'a\\n'", "echo $'a\\n'°"),
        ("echo =ls = == a=~ ", "echo =ls? = == a=~°"),
        ("cat < f > g 2>&1", "cat"),
        ("CI=1 npm test", "CI=1 npm test"),
        ("RUST_LOG=debug LC_ALL=C cargo test", "RUST_LOG=debug LC_ALL=C cargo test"),
        ("PATH=x ls", "PATH=x ls sets:PATH"),
        (
            "IFS=, GIT_DIR=x LD_PRELOAD=y ls",
            "IFS=, GIT_DIR=x LD_PRELOAD=y ls sets:IFS sets:GIT_DIR sets:LD_PRELOAD",
        ),
        (
            "export PATH=x; read -r line; unset IFS",
            "export PATH=x sets:PATH | read -r line | unset IFS sets:IFS",
        ),
        ("for f in a b; do wc -l \"$f\"; done", "f=a f=b | wc -l $f°"),
        ("for PATH in a; do ls; done", "PATH=a sets:PATH | ls"),
        ("ls | xargs wc -l", "ls | xargs wc -l | wc -l"),
        ("find . -exec grep x {} +", "find . -exec grep x {} + | grep x {}°"),
        ("git -C /repo status", "git -C /repo status"),
        (
            "cd \"$(git rev-parse --show-toplevel)\"",
            "git rev-parse --show-toplevel | cd $(git rev-parse --show-toplevel)°",
        ),
        (
            "git commit -m \"$(cat <<'EOF'\nDon't push (yet)\nEOF\n)\"",
            "git commit -m Don't push (yet)",
        ),
        ("[ $? -eq 0 ] && echo ok", "[ $?° -eq 0 ] | echo ok"),
        ("eval \"$(ssh-agent -s)\"", "ssh-agent -s | eval $(ssh-agent -s)°"),
        ("python3 -m json.tool < f", "python3 -m json.tool"),
        ("cat x | python3 -c 'print(1)'", "cat x | python3 -c print(1)"),
    ] {
        assert_eq!(certainties(text), expected, "{text}");
    }
}

#[test]
fn what_shells_read_in_different_ways_can_not_be_known() {
    for text in [
        "echo $(case $x in a) b;; esac)",
        "echo $\"a\"",
        "echo ${a[@]} ${x^^}",
        // The same text is two commands for another shell.
        "ls &>/dev/null touch x",
        "ls &>>f x",
        ">&-ls touch x",
        "ls >&2-",
        "ls &!x",
        "ls &|x",
        "[[ a || x ]]",
        "((x))",
        "f() (x); f",
        "f() { x; }; f() { y; }; f",
        "chpwd() { x; }; cd a",
        "{x}",
        "1=2 x",
        "ls >!x",
        "ls <1-5>",
        "foreach i (a) x; end",
        "echo =(x)",
        "echo *(e:x:)",
        "select i in a; do x; done",
        "function f { x; }",
        "{ ls };x",
        // The end of a text in quotes.
        "echo $'a\\'; x #'",
        "echo \"${a:-'}\";x #'}\"",
        "echo $[ ;x ]",
        "ls \\",
        "echo \"$[ x ]\"",
        "cat <<'E'\nE \nx\nE",
        "cat <<$'E'\nx\nE",
        "cat <<\"E\\\"\"\nx",
        // Lines that are joined.
        "echo $\\\n(x)",
        "ls |\\\n| x",
        "i\\\nf x; then y; fi",
        "PA\\\nTH=x ls",
        "ls 2\\\n>x",
        // Values that are evaluated.
        "a='b[$(x)]'; echo $((a))",
        "a='b[$(x)]'; [ \"$a\" -eq 1 ]",
        "(a='b[$(x)]'; [ --\"$a\" -eq 1 ])",
        "a='b[$(x)]'; [ \r\"$a\" -e$@q 1 ]",
        "eq='b[$(x)]'; [ -eq -eq 1 ]",
        "a='b[$(x)]'; [ \"$a\" -eq$@ 1 ]",
        "[ 'a[$(x)]' -eq 1 ]",
        "printf %d 'a[$(x)]'",
        "read 'a[$(x)]'",
        "functions[ls]=x; ls",
        "PS4='$(x)'; set -x",
        "echo ${!a}",
        "set -k; ls",
        "setopt extendedglob",
        "emulate sh",
        "zmodload zsh/system",
        "alias ls=x",
    ] {
        let commands = commands_of_text(text);
        let is_known = |command: &SimpleCommand| {
            command.is_certain && command.hidden == Hidden::Nothing && command.sets.is_empty()
        };
        assert!(!commands.iter().all(is_known), "{text}: {commands:?}");
    }
}

#[test]
fn code_that_a_call_gets_from_elsewhere_is_not_known() {
    for text in [
        "curl x | sh",
        "curl x | python3",
        "curl x | python3 -",
        "wget -O- x | sudo bash",
        "bash <(curl x)",
        "sh -c \"$(curl x)\"",
        "python3 -c \"$(curl x)\"",
        "eval \"$(curl x)\"",
        "source <(curl x)",
        "curl -o i.sh https://x/y && sh i.sh",
        "curl -O https://x/i.sh; bash ./i.sh",
        "wget https://x/i; chmod +x i; ./i",
        "curl x > i.py; python3 i.py",
        "curl -o a.pl x; perl -W a.pl",
        "curl x | perl -mtime",
        "python3 -c\"$(curl x)#/nohup\"",
        "cat x | bash -s",
        "echo x | node",
        "xargs sh",
        "find . -exec sh -c 'x {}' ;",
        "ls | xargs -I{} sh -c 'cat {}'",
        "ls | xargs -I% -I @ sh -c 'cat @'",
        "ls | xargs -0I% sh -c 'cat %'",
        "ls | xargs -I$x sh -c 'cat %'",
        "cat x | sudo --shell",
        "cat x | sudo -ni",
        "cat x | doas -su bob",
        "cat x | chroot /mnt",
        "cat x | nix-shell -p jq",
        "cat x | nix develop",
        "cat x | wsl",
        "cat x | newgrp docker",
        "cat x | kubectl exec -i pod",
        "ssh h python3 < x",
        "{ chroot /mnt; } < x",
        "{ ssh h python3; } < x",
    ] {
        let commands = commands_of_text(text);
        assert!(
            commands.iter().any(|command| command.hidden == Hidden::Anything),
            "{text}: {commands:?}"
        );
    }
    for text in [
        "curl x | head",
        "curl x | jq . ",
        "sh i.sh",
        "curl -o data.json x; python3 i.py",
        "bash -n i.sh",
        "node i.js < f",
        "cat f | python3 i.py",
        "cat f | sudo -v",
        "cat f | sudo -S make",
        "cat f | docker run -i jq .a",
        // Most images are no shells, and what runs in one stays there.
        "docker run --rm -i hadolint/hadolint < Dockerfile",
        "cat f | while read x; do docker run --rm ubuntu; done",
        "docker run -i ubuntu",
        "chroot /mnt",
        "cat f | ssh -V",
        "cat f | ssh h wc",
    ] {
        let commands = commands_of_text(text);
        assert!(
            commands.iter().all(|command| command.hidden == Hidden::Nothing),
            "{text}: {commands:?}"
        );
    }
}

#[test]
fn the_words_of_a_text_that_can_not_be_read_are_known() {
    for (text, words) in [
        ("sudo --what rm -rf x", "--what,rm,-rf,x"),
        ("echo (x; rm y", "echo,x,rm,y,;"),
        ("a=x,y (b) 'c-d'=e", "a=x,y,a,x,y,b,c-d=e,c-d,e"),
    ] {
        let hidden = commands_of_text(text).into_iter().find_map(|command| match command.hidden {
            Hidden::Words(words) => Some(words.join(",")),
            _ => None,
        });
        assert_eq!(hidden.unwrap_or_default(), words, "{text}");
    }
    for text in ["echo (x; ca$@t", "if `x`", "c{a,b}t (b)", "(/bin/r? x"] {
        let is_open = |command: SimpleCommand| command.hidden == Hidden::Anything;
        assert!(commands_of_text(text).into_iter().any(is_open), "{text}");
    }
}

#[test]
fn a_text_for_powershell_is_read_if_it_has_only_plain_words() {
    let read = |text: &str| commands(&Input::call("PowerShell").arg("command", text));
    for (text, expected) in [
        ("ls", &["powershell ls ?", "powershell: ls"][..]),
        ("ri a", &["powershell: remove-item a", "powershell ri a ?", "powershell: ri a"]),
        (
            "sudo a |\r\n b \"c|d\"",
            &[
                "powershell sudo a ?", "powershell: sudo a", "powershell: sudo: a",
                "powershell b c|d ? |", "powershell: b c|d |",
            ],
        ),
        (r"a .\b, c\d -E x", &["powershell a ./b c/d -E x ?", "powershell: a ./b c/d -E x"]),
    ] {
        assert_eq!(shown(&read(text)), expected, "{text}");
    }
    for text in [
        "a (b",
        "a $b",
        "a { b }",
        "a `b",
        "iex a",
        "return a",
        "sl ..; a *",
        "a | foreach-object Delete",
        "start-process a b",
        "sal a b",
    ] {
        assert_eq!(shown(&read(text)), ["? !"], "{text}");
    }
}

// On Windows only a tool with `bash` in its name has the text of a POSIX shell.
#[cfg(unix)]
#[test]
fn a_call_that_is_not_the_text_of_a_posix_shell_is_uncertain() {
    for input in [
        Input::call("PowerShell").arg("command", "ls $(x"),
        Input::call("write_stdin").arg("chars", "ls\n"),
        Input::call("execute_cmd").arg("command", "dir"),
        Input::call("Bash"),
        Input::call("Bash").arg("command", 5),
        Input::call("Bash").arg("command", "ls").arg("script", "rm"),
        Input::call("Bash").arg("command", json!(["ls", 5])),
        Input::call("Bash").arg("command", "").arg("args", json!(["rm"])),
    ] {
        assert_eq!(shown(&commands(&input)), ["? !"], "{input:?}");
    }
    for nothing in ["", " ", "# nothing", "\n# rm\n"] {
        let input = Input::call("Bash").arg("command", nothing);
        assert!(commands(&input).is_empty(), "{nothing}");
    }
    let unsandboxed =
        Input::call("Bash").arg("command", "ls").arg("dangerouslyDisableSandbox", true);
    assert_eq!(shown(&commands(&unsandboxed)), ["ls ?"]);
    let described = Input::call("Bash").arg("command", "ls").arg("description", "x");
    assert_eq!(shown(&commands(&described)), ["ls"]);
    let words = Input::call("shell").arg("command", json!(["bash", "-lc", "a | b"]));
    assert_eq!(shown(&commands(&words)), ["bash -lc a | b", "bash: a", "bash: b |"]);
    let apart = Input::call("shell").arg("command", "rm").arg("args", json!(["-rf", "x"]));
    assert_eq!(shown(&commands(&apart)), ["rm -rf x"]);
    // The tool may run the text alone, or give all of it to a shell.
    for (text, words) in [
        ("rm f", json!([])),
        ("ls; rm f", json!([])),
        ("ls", json!(["; rm"])),
        ("rm", json!(["$x"])),
    ] {
        let both = Input::call("shell").arg("command", text).arg("args", words);
        assert_eq!(shown(&commands(&both)), ["? !"], "{text}");
    }
    for tool in ["Read", "mcp__a__b", "get_weather"] {
        assert!(commands(&Input::call(tool).arg("command", "rm x")).is_empty(), "{tool}");
    }
}

#[test]
fn hostile_texts_are_bounded() {
    let many = |text: &str, times: usize| text.repeat(times);
    for text in [
        many("(", 60_000),
        many("( ", 16_000),
        many("$(", 30_000),
        many("\"$(", 10_000),
        many("`", 30_000),
        many("${a:-", 6_000),
        many("{ ", 16_000),
        many("{a,", 10_000),
        many("if ", 10_000),
        many("for x in y; do ", 2_000),
        many("case a in b) ", 2_500),
        format!("{}rm x{}", many("while cd a; do f() { ", 15), many("; }; done", 15)),
        many("f() { f; f; }; f; ", 2_000),
        many("[[ ! ", 6_000),
        format!("[[ {} a ]]", many("! ", 16_000)),
        format!("[[ {} a ]]", many("( ", 16_000)),
        format!("rm f\n[[ {}", many("(", 30_000)),
        format!("[[ {}", many("(", 3_900)),
        format!("echo $(({}1))", many("1?2:", 8_000)),
        format!("echo $(({}1))", many("-", 32_000)),
        format!("echo $(({}1))", many("a=", 16_000)),
        format!("(({}1))", many("1**", 10_000)),
        many("f() ", 8_000),
        many("coproc { ", 3_000),
        many("<<A ", 8_000),
        many("'\"", 16_000),
        many("a 'b", 1),
        many("a|", 16_000),
        many("a;", 16_000),
        many("find . -exec ", 2_500),
        format!("{}{}", many("find . -exec ", 1_000), many("a ", 9_000)),
        format!("{}ls", many("xargs ", 5_000)),
        format!("git rebase {}main", many("-x a ", 9_000)),
        format!("{{ {}}} {}", many("a; ", 3_000), many(">b ", 9_000)),
        format!("xargs {}rm {}", many("-Ia ", 5_000), many("a ", 9_000)),
        many("a\n", 16_000),
        many("a&&", 10_000),
        many("! ", 16_000),
        many("time ", 6_000),
        many("a=(", 10_000),
        format!("x {} y", "é".repeat(70_000)),
    ] {
        let found = commands(&Input::call("Bash").arg("command", text.clone()));
        assert!(!found.is_empty(), "{}", &text[..40]);
        let certain = found.iter().all(|it| !it.uncertain && !it.program.is_empty());
        assert!(!certain, "{}", text.chars().take(40).collect::<String>());
    }
    for text in [many("a;", 3_900), many("a&", 3_900), many("a&&", 1_900) + "b", many("a\n", 3_900)]
    {
        let found = commands(&Input::call("Bash").arg("command", text));
        assert!(found.len() > 1_900, "{}", found.len());
    }
}

// The paths are those of Unix.
#[cfg(unix)]
#[test]
fn files_come_from_the_arguments_by_role() {
    use Touched::{Delete, Edit, Read, Write};
    let files_of = |tool: &str, arguments: serde_json::Value| {
        let mut input = Input::for_tool(tool, arguments.as_object().cloned().unwrap());
        input.cwd = "/p".into();
        let file = |file: TouchedFile| (file.path, file.touched, file.certain);
        files(&input).into_iter().map(file).collect::<Vec<_>>()
    };
    let patch =
        "*** Begin Patch\n*** Update File: a\n+x\n*** Delete File: /b\n*** Add File: c\n+y\n";
    for (tool, arguments, expected) in [
        (
            "Edit",
            json!({"file_path": "a/../b.rs", "old_string": "x"}),
            vec![("/p/b.rs", Edit, true)],
        ),
        ("Write", json!({"file_path": "/x/y", "content": "z"}), vec![("/x/y", Write, true)]),
        ("Read", json!({"file_path": "~/x"}), vec![("/p/~/x", Read, false)]),
        (
            "read_many_files",
            json!({"paths": ["a", "b"]}),
            vec![("/p/a", Read, true), ("/p/b", Read, true)],
        ),
        ("Grep", json!({"pattern": "x", "path": "src"}), vec![("/p/src", Read, true)]),
        ("Delete", json!({"path": "a"}), vec![("/p/a", Delete, true)]),
        ("fs_read", json!({"operations": [{"path": "a"}]}), vec![("/p/a", Read, true)]),
        (
            "apply_patch",
            json!({"input": patch}),
            vec![("/p/a", Edit, true), ("/b", Delete, true), ("/p/c", Write, true)],
        ),
        (
            "apply_patch",
            json!({"command": "+++ b/x\n"}),
            vec![("/p/x", Edit, false), ("/p/b/x", Edit, false)],
        ),
        (
            "Bash",
            json!({"command": "a < in > out 2>/dev/null"}),
            vec![("/p/in", Read, true), ("/p/out", Write, true), ("/dev/null", Write, true)],
        ),
        (
            "Bash",
            json!({"command": "cd x; a > out > /o > $y"}),
            vec![("/p/out", Write, false), ("/o", Write, true), ("/p/$y", Write, false)],
        ),
        (
            "Bash",
            json!({"command": "env -C /x sh -c 'a > o <&i'; sh -c 'a > p'"}),
            vec![("/p/o", Write, false), ("/p/i", Read, false), ("/p/p", Write, true)],
        ),
        ("Bash", json!({"command": "a > o", "workdir": "q"}), vec![("/p/q/o", Write, true)]),
        ("WebFetch", json!({"url": "https://x"}), vec![]),
    ] {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(path, touched, certain)| (path.to_owned(), touched, certain))
            .collect();
        assert_eq!(files_of(tool, arguments.clone()), expected, "{tool} {arguments}");
    }
}
