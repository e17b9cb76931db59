//! Builtins that give the model context.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use hookexec::Input;
use hookexec_calls::Surroundings;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{args, builtin, input, nowhere, refused, run, run_in};

/// Returns the context that a builtin gives.
fn context(name: &str, args: &[&str], input: &Input) -> Option<String> {
    run(name, args, input).map(|output| output.additional_context.unwrap())
}

#[test]
fn add_date_tells_the_day_where_the_user_is() {
    // At this moment it is still the day before in most of the world.
    let date = context("add_date", &[], &Input::default());
    assert_eq!(date.as_deref(), Some("Today's date: Saturday, 2026-03-21"));
    assert_eq!(refused("add_date", &["x"]), "it takes no arguments, found `x`");
}

/// Surroundings with a home directory.
fn at_home(home: &Path) -> Surroundings {
    Surroundings::of_process().with_env([("HOME", home.as_os_str()), ("USER", "jo".as_ref())])
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs `add_prompt_files` with `cwd` and returns the context with `root` written as `/`.
fn prompt_files(root: &Path, cwd: &str, args: &[&str]) -> Option<String> {
    let input = input(json!({ "cwd": root.join(cwd) }));
    let output = run_in(&at_home(&root.join("home")), "add_prompt_files", args, &input)?;
    Some(output.additional_context.unwrap().replace(root.to_str().unwrap(), ""))
}

fn tree() -> TempDir {
    // Resolved, since on some systems the directory for temporary files is behind a link.
    TempDir::new_in(std::env::temp_dir().canonicalize().unwrap()).unwrap()
}

#[test]
fn user_info_names_the_user_and_the_host() {
    let home = tree();
    let output = run_in(&at_home(home.path()), "add_user_info", &[], &Input::default()).unwrap();
    let text = output.additional_context.unwrap();
    assert!(
        text.starts_with("User: jo\nHost: ") && text.len() > "User: jo\nHost: ".len(),
        "{text}"
    );
    let unnamed = context("add_user_info", &[], &Input::default()).unwrap();
    let number = rustix::process::getuid().as_raw();
    assert!(unnamed.starts_with(&format!("User: {number}\n")), "{unnamed}");
}

#[test]
fn a_directory_is_listed_in_order_without_dot_files() {
    let root = tree();
    for name in ["b.txt", "a\nb", ".env", "ü"] {
        write(&root.path().join(name), "");
    }
    fs::create_dir(root.path().join("src")).unwrap();
    symlink("src", root.path().join("link")).unwrap();
    symlink("nowhere", root.path().join("dangling")).unwrap();
    let input = input(json!({ "cwd": root.path() }));
    assert_eq!(
        context("add_directory_listing", &[], &input).unwrap(),
        "Entries of the working directory:\na\u{fffd}b\nb.txt\ndangling\nlink/\nsrc/\nü"
    );
}

#[test]
fn a_long_listing_says_how_much_is_missing() {
    let root = tree();
    for number in 0..103 {
        write(&root.path().join(format!("{number:03}")), "");
    }
    let text =
        context("add_directory_listing", &[], &input(json!({ "cwd": root.path() }))).unwrap();
    assert_eq!(text.lines().count(), 102);
    assert!(text.ends_with("099\n... and 3 more"), "{text}");
    fs::create_dir(root.path().join("empty")).unwrap();
    let empty = input(json!({ "cwd": root.path().join("empty") }));
    assert_eq!(context("add_directory_listing", &[], &empty), None);
    assert_eq!(context("add_directory_listing", &[], &Input::default()), None);
}

#[test]
fn prompt_files_come_from_home_and_from_the_top_down() {
    let root = tree();
    let at = |path: &str| root.path().join(path);
    write(&at("home/AGENTS.md"), "from home\n");
    write(&at("work/AGENTS.md"), "from work\n\n");
    write(&at("work/project/AGENTS.md"), "from project");
    write(&at("work/project/RULES.md"), "rules");
    write(&at("work/project/src/other.md"), "not asked for");
    assert_eq!(
        prompt_files(root.path(), "work/project/src", &["AGENTS.md", "RULES.md"]).unwrap(),
        "Instructions from /home/AGENTS.md:\n\nfrom home\n\n\
         Instructions from /work/AGENTS.md:\n\nfrom work\n\n\
         Instructions from /work/project/AGENTS.md:\n\nfrom project\n\n\
         Instructions from /work/project/RULES.md:\n\nrules"
    );
    assert_eq!(prompt_files(root.path(), "work/project", &["NONE.md"]), None);
}

#[test]
fn prompt_files_below_are_listed_and_not_read() {
    let root = tree();
    for path in [
        "p/a/AGENTS.md",
        "p/a/b/AGENTS.md",
        "p/a/b/c/AGENTS.md",
        "p/.x/AGENTS.md",
        "p/node_modules/AGENTS.md",
    ] {
        write(&root.path().join(path), "text");
    }
    symlink("a", root.path().join("p/link")).unwrap();
    assert_eq!(
        prompt_files(root.path(), "p", &["--depth=2", "AGENTS.md"]).unwrap(),
        "More instructions, to be read before working in their directories:\n\
         a/AGENTS.md\na/b/AGENTS.md"
    );
}

#[test]
fn a_link_in_a_repository_does_not_lead_out_of_it() {
    let root = tree();
    let at = |path: &str| root.path().join(path);
    write(&at("home/.ssh/id"), "the key");
    write(&at("home/dotfiles/AGENTS.md"), "mine");
    write(&at("repo/docs/shared.md"), "shared");
    fs::create_dir(at("repo/.git")).unwrap();
    fs::create_dir(at("repo/sub")).unwrap();
    symlink(at("home/.ssh/id"), at("repo/AGENTS.md")).unwrap();
    symlink("../docs/shared.md", at("repo/sub/AGENTS.md")).unwrap();
    symlink("dotfiles/AGENTS.md", at("home/AGENTS.md")).unwrap();
    symlink(at("home/.ssh"), at("repo/ssh")).unwrap();
    assert_eq!(
        prompt_files(root.path(), "repo/sub", &["AGENTS.md", "ssh/id"]).unwrap(),
        "Instructions from /home/AGENTS.md:\n\nmine\n\n\
         Instructions from /repo/sub/AGENTS.md:\n\nshared"
    );
}

#[test]
fn a_large_or_strange_prompt_file_does_no_harm() {
    let root = tree();
    write(&root.path().join("p/AGENTS.md"), &"ä".repeat(40_000));
    fs::create_dir(root.path().join("p/DIR.md")).unwrap();
    fs::write(root.path().join("p/BYTES.md"), b"\xff\x1b[2Jx").unwrap();
    let text = prompt_files(root.path(), "p", &["AGENTS.md", "DIR.md", "BYTES.md"]).unwrap();
    assert!(text.contains("... (cut at 65536 bytes)"), "{}", text.len());
    assert!(text.ends_with("BYTES.md:\n\n\u{fffd}\u{fffd}[2Jx"), "{text:?}");
}

#[test]
fn what_is_no_file_name_is_refused() {
    assert_eq!(refused("add_prompt_files", &[]), "it needs at least one file name");
    for name in ["/etc/passwd", "../x", "a/../../b", ""] {
        assert!(refused("add_prompt_files", &[name]).contains("is not a file name"), "{name}");
    }
    assert!(refused("add_prompt_files", &["a", "--depth=x"]).contains("--depth must be"));
    assert_eq!(
        refused("add_prompt_files", &["a", "--dept=1"]),
        "unknown option `--dept`; it knows `--depth`"
    );
    assert!(refused("add_prompt_files", &["a", "--depth=1", "--depth=2"]).contains("given twice"));
}

#[test]
fn add_context_inserts_fields_of_the_input() {
    let input = input(json!({
        "session_id": "s1", "cwd": "/w", "tool_use_id": "u", "iteration": 3, "parent_session_id": "p",
        "tool_input": { "path": "a b", "list": [1, { "x": true }], "a.b": "dotted" }, "my_field": "mine",
    }));
    for (text, expected) in [
        ("plain", "plain"),
        ("in {{session_id}} at {{ cwd }}!", "in s1 at /w!"),
        ("in ${session_id} at ${cwd}, $5!", "in s1 at /w, $5!"),
        ("{{.SessionID}} {{ .ToolUseID }} {{ .Iteration }}", "s1 u 3"),
        (
            "{{tool_input.path}} {{tool_input.list.1.x}} {{tool_input.list}}",
            "a b true [1,{\"x\":true}]",
        ),
        ("{{/tool_input/a.b}} {{/my_field}} {{parent_session_id}}", "dotted mine p"),
        ("[{{prompt}}{{tool_input.none}}]", "[]"),
        ("{ } }} {", "{ } }} {"),
    ] {
        assert_eq!(context("add_context", &[text], &input).as_deref(), Some(expected), "{text}");
    }
    assert_eq!(context("add_context", &["a", "{{cwd}}"], &input).unwrap(), "a\n/w");
    assert_eq!(context("add_context", &["{{prompt}}"], &input), None);
}

#[test]
fn add_context_refuses_what_it_does_not_understand() {
    for (text, error) in [
        (&[][..], "it needs a text"),
        (
            &["{{sesion_id}}"],
            "`sesion_id`: inputs have no field `sesion_id`; did you mean `session_id`?",
        ),
        (&["{{.Nonsense}}"], "`.Nonsense`: inputs have no field `nonsense`"),
        (&["a {{cwd"], "`{{cwd` lacks its `}}`"),
        (
            &["{{if .Cwd}}x{{end}}"],
            "`if .Cwd` is not a field; only fields can be inserted, such as `${session_id}`",
        ),
        (&["{{cwd.}}"], "`cwd.`: a part of the field's path is empty"),
        (&["{{}}"], "``: inputs have no field ``"),
    ] {
        assert_eq!(refused("add_context", text), error);
    }
}

#[test]
fn add_context_gives_no_more_than_a_program_may() {
    let input = input(json!({ "tool_response": "x".repeat(1 << 19) }));
    let twice = "{{tool_response}}".repeat(2);
    assert_eq!(context("add_context", &[&twice], &input).unwrap().len(), 1 << 20);
    let prepared = builtin("add_context").prepare(&nowhere(), &args(&[&twice, "y"])).unwrap();
    let error = prepared(&input).unwrap_err().to_string();
    assert!(error.starts_with("it gives more than 1048576 bytes of context"), "{error}");
}
