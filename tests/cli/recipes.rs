//! `hookexec init NAME` and `init --remove`: hooks that are added to a file and taken out again.

use std::path::{Path, PathBuf};

use crate::support::Sandbox;

const MINE: &str = "hooks:\n  pre_tool_use:\n    # Mine.\n    - matcher: shell\n      hooks:\n        - \
                    { name: mine, type: builtin, command: limit_calls, args: [\"9\"] } # nine\n";

/// Returns the names of the recipes of `examples/recipes`, and of the rules of the starter.
fn names() -> Vec<String> {
    let mut names: Vec<String> =
        ["never", "secrets", "loss", "outside", "machine"].map(str::to_owned).to_vec();
    for file in std::fs::read_dir("../../examples/recipes").unwrap() {
        let file = file.unwrap().file_name().into_string().unwrap();
        if let Some(name) = file.strip_suffix(".yaml")
            && !name.contains(".test")
        {
            names.push(name.to_owned());
        }
    }
    assert_eq!(names.len(), 21);
    names
}

/// A sandbox with a hooks file of this text, and the programs that recipes need.
fn with_file(text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", text);
    sandbox
}

/// Returns the command that adds a recipe, and its file: a project's file can't name a log elsewhere.
fn target(sandbox: &Sandbox, name: &str) -> (&'static [&'static str], PathBuf) {
    if name == "log" {
        return (&["init", "--user"], sandbox.home().join(".config/hookexec/hooks.yaml"));
    }
    (&["init"], sandbox.project().join("hooks.yaml"))
}

fn read(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.project().join("hooks.yaml")).unwrap()
}

#[test]
fn every_recipe_is_added_to_any_file_and_only_once() {
    let texts = [
        MINE.to_owned(),
        MINE.replace('\n', "\r\n"),
        MINE.trim_end().to_owned(),
        format!("\u{feff}{MINE}"),
        "hooks: {} # Mine.".to_owned(),
        "defaults: { on_error: block } # Mine.\n".to_owned(),
        "hooks:\n  pre_tool_use: [] # Mine.\n".to_owned(),
    ];
    for (name, text) in names().iter().zip(texts.iter().cycle()) {
        let sandbox = Sandbox::new();
        let (init, file) = target(&sandbox, name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        let done = sandbox.hookexec([init, &[name.as_str()]].concat()).run().exits(0);
        let first = done.stdout.lines().next().unwrap();
        assert!(first.starts_with("changed ") && first.ends_with("hooks.yaml:"), "{first}");
        let new = std::fs::read_to_string(&file).unwrap();
        assert!(new.contains("Mine."), "{name}: {new}");
        assert_eq!(new.starts_with('\u{feff}'), text.starts_with('\u{feff}'), "{new:?}");
        let _ = sandbox.hookexec([Path::new("check"), &file]).run().exits(0);
        let done = sandbox.hookexec([init, &[name.as_str()]].concat()).run().exits(0);
        assert!(done.stdout.starts_with(&format!("`{name}` is in ")), "{}", done.stdout);
        assert!(
            done.stdout.ends_with("hooks.yaml already\nnothing was changed\n"),
            "{}",
            done.stdout
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), new);
    }
}

#[test]
fn every_recipe_can_stand_beside_the_starter() {
    for name in names() {
        let sandbox = Sandbox::new();
        let _ = sandbox.hookexec(["init", "--user"]).run().exits(0);
        let done = sandbox.hookexec(["init", "--user", &name]).run().exits(0);
        let is_rule = done.stdout.contains("already\nnothing was changed");
        assert!(is_rule || done.stdout.contains("hookexec test "), "{name}: {}", done.stdout);
    }
}

#[test]
fn a_file_is_made_where_there_is_none() {
    let sandbox = Sandbox::new();
    let done = sandbox.hookexec(["init", "keep-secrets", "budget"]).run().exits(0);
    assert!(done.stdout.starts_with("wrote hooks.yaml:\n"), "{}", done.stdout);
    assert!(done.stdout.contains("`hookexec trust add hooks.yaml`"), "{}", done.stdout);
    let text = read(&sandbox);
    assert!(text.starts_with("# Keys, passwords and tokens"), "{text}");
    assert!(text.contains("    # Bounds what a session may cost"), "{text}");
    let _ = sandbox.hookexec(["init", "never", "--user"]).run().exits(0);
    let users = sandbox.home().join(".config/hookexec/hooks.yaml");
    assert!(std::fs::read_to_string(users).unwrap().starts_with("# Never: "));
    let input = r#"{"tool_name":"shell","tool_input":{"command":"rm -rf ~"}}"#;
    let _ = sandbox.hookexec(["run", "pre_tool_use"]).stdin(input).run().exits(2);
}

#[test]
fn a_hook_is_taken_out_and_the_rest_stays() {
    let sandbox = with_file(MINE);
    let _ = sandbox.hookexec(["init", "keep-secrets", "notify"]).run().exits(0);
    let remove = ["init", "--remove=keep-secrets", "--remove=redact", "--remove=stopped"];
    let done = sandbox.hookexec(remove).run().exits(0);
    assert!(done.stdout.contains("- "), "{}", done.stdout);
    let _ = sandbox.hookexec(["init", "--remove", "waits"]).run().exits(0);
    assert_eq!(read(&sandbox), MINE);
    let _ = sandbox.hookexec(["init", "--remove", "mine"]).run().exits(0);
    assert_eq!(read(&sandbox), "hooks: {}\n");
    let done = sandbox.hookexec(["init", "--remove", "mine"]).run().exits(64);
    assert!(done.stderr.contains("has no hook `mine`"), "{}", done.stderr);
}

#[test]
fn a_recipe_is_taken_out_with_all_of_its_hooks() {
    for name in names() {
        let sandbox = Sandbox::new();
        let (init, file) = target(&sandbox, &name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, MINE).unwrap();
        let _ = sandbox.hookexec([init, &[name.as_str()]].concat()).run().exits(0);
        let _ = sandbox.hookexec([init, &["--remove", &name]].concat()).run().exits(0);
        let left = std::fs::read_to_string(&file).unwrap();
        // Keys beside `hooks` stay.
        assert!(left.starts_with(MINE), "{name}: {left}");
        assert_eq!(left == MINE, !["log", "team"].contains(&&*name), "{name}: {left}");
        let done = sandbox.hookexec([init, &["--remove", &name]].concat()).run().exits(64);
        assert!(done.stderr.contains(&format!("has no hook `{name}`")), "{}", done.stderr);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), left);
    }
    let sandbox = with_file(MINE);
    let _ = sandbox.hookexec(["init", "keep-secrets", "budget", "notify"]).run().exits(0);
    let remove = ["init", "--remove=keep-secrets", "--remove=stopped", "--remove=budget"];
    let _ = sandbox.hookexec(remove).run().exits(0);
    let left = read(&sandbox);
    assert!(left.contains("name: waits") && left.contains("# nine"), "{left}");
    assert!(!left.contains("name: stopped") && !left.contains("redact"), "{left}");
    assert!(!left.contains("limit_same_calls"), "{left}");
}

#[test]
fn a_hook_of_ones_own_is_taken_out_alone_although_a_recipe_has_its_name() {
    let mine = MINE.replace("name: mine", "name: budget");
    let sandbox = with_file(&mine);
    let _ = sandbox.hookexec(["init", "budget"]).run().exits(0);
    let added = read(&sandbox);
    let _ = sandbox.hookexec(["init", "--remove", "budget"]).run().exits(0);
    assert!(!read(&sandbox).contains("name: budget"), "{}", read(&sandbox));
    assert!(read(&sandbox).contains("name: calls"), "{added}");
    let _ = sandbox.hookexec(["init", "--remove", "budget"]).run().exits(0);
    assert_eq!(read(&sandbox), "hooks: {}\n");
}

#[test]
fn what_can_not_be_done_changes_nothing() {
    for (text, args, said) in [
        ("hooks: {", "init keep-secrets", "hooks.yaml:1"),
        ("hooks:\n", "init keep-secrets", "`hooks` is empty"),
        (MINE, "init keep-secret", "'keep-secrets'"),
        (MINE, "init nothing", "force-push"),
        (MINE, "init --remove mien", "did you mean `mine`?"),
        (MINE, "init keep-secrets --remove mine", "cannot be used with"),
        (MINE, "init keep-secrets --from claude-code:x", "cannot be used with"),
        (
            &MINE.replace("mine,", "redact,"),
            "init budget keep-secrets",
            "`hookexec init --remove redact`",
        ),
        (
            "hooks: { stop: [{ name: never, type: command, command: x }] }",
            "init never",
            "`hookexec init --remove never`",
        ),
        ("{}", "init keep-secrets", "in the form that the file has"),
        (
            "pre_tool_use: [{ hooks: [{ type: rule, name: never, deny: x, tools: x, mode: shadow }] }]",
            "init never",
            "another hook `never`",
        ),
        (&format!("{MINE}#{}", "x".repeat((1 << 20) - 300)), "init never", "larger than 1 MiB"),
        ("audit: { path: a.jsonl }", "init log", "`audit` has another value in line 1"),
        (MINE, "init log", "`init --user` adds to your own hooks file"),
        ("hooks: { stop: { name: a, type: builtin, command: b } }", "init notify", "by hand"),
    ] {
        let sandbox = with_file(text);
        let done = sandbox.hookexec(args.split(' ')).run();
        assert!(matches!(done.code(), Some(64 | 78)), "{args}: {done:?}");
        assert!(done.stderr.contains(said), "{args}: {}", done.stderr);
        assert_eq!(read(&sandbox), text);
    }
}

#[test]
fn a_rule_of_the_starter_is_in_the_starter_already() {
    let sandbox = Sandbox::new();
    let elsewhere = sandbox.home().join("elsewhere");
    let run = |name: &'static str| sandbox.hookexec(["init", "--user", name]);
    let _ = sandbox.hookexec(["init", "--user"]).env("XDG_CONFIG_HOME", &elsewhere).run().exits(0);
    assert!(!elsewhere.exists());
    for name in ["never", "loss", "outside", "machine"] {
        let done = run(name).run().exits(0);
        assert!(done.stdout.contains("already"), "{name}: {done:?}");
    }
    let done = sandbox.hookexec(["init", "--remove", "never"]).run().exits(64);
    assert!(done.stderr.contains("hooks.yaml does not exist"), "{done:?}");
}

#[test]
fn the_cases_of_the_starter_pass_with_a_recipe_beside_it() {
    // These two answer a call of the cases, too.
    for name in names().iter().filter(|name| !["approve", "read-only"].contains(&name.as_str())) {
        let sandbox = Sandbox::new();
        let (init, file) = target(&sandbox, name);
        let _ = sandbox.hookexec(init).run().exits(0);
        let _ = sandbox.hookexec([init, &[name.as_str()]].concat()).run().exits(0);
        let cases = file.with_extension("test.yaml");
        let tested = sandbox.hookexec([Path::new("test"), &cases]).run();
        assert_eq!(tested.code(), Some(0), "{name}: {}", tested.stdout);
    }
}

#[test]
fn a_recipe_is_added_below_comments_alone() {
    for text in ["", "# Mine.\n\n"] {
        let sandbox = with_file(text);
        let _ = sandbox.hookexec(["init", "never"]).run().exits(0);
        assert!(read(&sandbox).starts_with(&format!("{text}# Never: ")), "{}", read(&sandbox));
    }
}

// Windows lets few users make links.
#[cfg(unix)]
#[test]
fn a_link_stays_and_its_file_changes() {
    let sandbox = Sandbox::new();
    let users: PathBuf = sandbox.home().join(".config/hookexec");
    std::fs::create_dir_all(&users).unwrap();
    let real = sandbox.home().join("dotfiles.yaml");
    std::fs::write(&real, MINE).unwrap();
    std::os::unix::fs::symlink(&real, users.join("hooks.yaml")).unwrap();
    let _ = sandbox.hookexec(["init", "--user", "never"]).run().exits(0);
    assert!(users.join("hooks.yaml").is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().contains("name: never"));
}

// Windows lets few users make links.
#[cfg(unix)]
#[test]
fn a_link_in_a_project_is_not_followed() {
    let sandbox = Sandbox::new();
    let users = sandbox.home().join("hooks.yaml");
    std::fs::write(&users, MINE).unwrap();
    std::os::unix::fs::symlink(&users, sandbox.project().join("hooks.yaml")).unwrap();
    for args in [&["init", "--remove", "mine"][..], &["init", "never"]] {
        let done = sandbox.hookexec(args).run().exits(64);
        assert!(done.stderr.contains("is a link"), "{}", done.stderr);
        assert_eq!(std::fs::read_to_string(&users).unwrap(), MINE);
    }
}

#[test]
fn changes_at_the_same_moment_are_all_made() {
    let sandbox = with_file(MINE);
    let names = ["secrets", "budget", "never", "loss", "outside", "machine"];
    std::thread::scope(|scope| {
        for name in names {
            let add = sandbox.hookexec(["init", name]);
            scope.spawn(move || add.run().exits(0));
        }
    });
    for name in names {
        let done = sandbox.hookexec(["init", name]).run().exits(0);
        assert!(done.stdout.contains("already"), "{name}: {}", read(&sandbox));
    }
}
