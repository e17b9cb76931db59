//! Calls of all agents in the words of Claude Code. Tests that expect paths expect those of Unix.

use serde_json::json;

use super::*;
use hookexec_calls::tools::kinds_anywhere;

fn object(value: Value) -> JsonObject {
    serde_json::from_value(value).unwrap()
}

/// Translates a call of `tool`: a tool's name, or the kinds of a tool with spaces between them.
fn translated(tool: &str, arguments: Value) -> Result<Value, super::ArgumentError> {
    let mut kinds = kinds_anywhere(tool);
    kinds.extend(tool.split(' ').map(str::to_owned));
    let calls = translate(tool, &kinds, &object(arguments), "/p")?;
    Ok(calls.into_iter().map(|call| Value::Object(call.arguments)).collect())
}

#[cfg(unix)]
#[test]
fn what_a_tool_acts_on_stands_where_claude_code_has_it() {
    for (kinds, arguments, expected) in [
        ("shell", json!({"cmd": "ls", "cwd": "/"}), json!([{"command": "ls", "cwd": "/"}])),
        ("shell", json!({"command": ["sh", "-c", "ls"]}), json!([{"command": "sh -c ls"}])),
        (
            "edit",
            json!({"path": "./a", "oldText": "x"}),
            json!([{"file_path": "/p/a", "old_string": "x"}]),
        ),
        (
            "edit",
            json!({"path": "/a", "edits": [{"oldText": "x", "newText": "y"}, {"newText": "z"}]}),
            json!([{"file_path": "/a", "old_string": "x", "new_string": "y\nz",
                "edits": [{"oldText": "x", "newText": "y"}, {"newText": "z"}]}]),
        ),
        (
            "write edit",
            json!({"command": "create", "path": "a", "file_text": "t"}),
            json!([{"command": "create", "file_path": "/p/a", "content": "t"}]),
        ),
        (
            "read",
            json!({"paths": ["a", "/b"]}),
            json!([{"file_path": "/p/a"}, {"file_path": "/b"}]),
        ),
        (
            "read list grep",
            json!({"operations": [{"mode": "Line", "path": "/b"}]}),
            json!([{"mode": "Line", "file_path": "/b"}]),
        ),
        ("fetch", json!({"prompt": "read https://x"}), json!([{"url": "read https://x"}])),
        ("grep", json!({"regex": "x"}), json!([{"pattern": "x"}])),
        (
            "grep",
            json!({"pattern": "x", "paths": ["a", ".env"], "include_pattern": "*.rs"}),
            json!([
                {"pattern": "x", "path": "/p/a", "glob": "*.rs"},
                {"pattern": "x", "path": "/p/.env", "glob": "*.rs"},
            ]),
        ),
        (
            "grep",
            json!({"pattern": "x", "paths": ".env"}),
            json!([{"pattern": "x", "path": "/p/.env"}]),
        ),
        (
            "write edit",
            json!({"command": "strReplace", "path": "/a", "oldStr": "x", "newStr": "y"}),
            json!([{"command": "strReplace", "file_path": "/a", "old_string": "x", "new_string": "y"}]),
        ),
        (
            "edit",
            json!({"file_path": "/a", "changes": [{"old_str": "x", "new_str": "y"}]}),
            json!([{"file_path": "/a", "old_string": "x", "new_string": "y",
                "edits": [{"old_str": "x", "new_str": "y"}]}]),
        ),
        (
            "edit write",
            json!({"notebook_path": "/a", "new_source": "x"}),
            json!([{"file_path": "/a", "content": "x"}]),
        ),
        ("read", json!({"mode": "Image", "image_paths": ["/a"]}), json!([{"file_path": "/a"}])),
        ("subagent", json!({"prompt": "x"}), json!([{"prompt": "x"}])),
    ] {
        assert_eq!(translated(kinds, arguments.clone()).unwrap(), expected, "{kinds} {arguments}");
    }
}

#[test]
fn what_a_guard_would_look_for_in_vain_is_an_error() {
    for (kinds, arguments, missing) in [
        ("shell", json!({}), "command"),
        ("shell", json!({"command": {"a": 1}}), "command"),
        ("write", json!({"content": "x"}), "file_path"),
        ("read", json!({"paths": []}), "file_path"),
        ("read", json!({"paths": ["a", 1]}), "file_path"),
        ("apply_patch", json!({"command": "*** Begin Patch\n*** End Patch"}), "file_path"),
        ("fetch", json!({}), "url"),
        ("edit", json!({"path": "/a", "diffs": [{"to": "SECRET"}]}), "new_string"),
        ("edit", json!({"path": "/a", "edits": ["SECRET"]}), "new_string"),
        ("edit", json!({"path": "/a", "edits": "[{\"new_string\":\"SECRET\"}]"}), "new_string"),
        ("edit", json!({"path": "/a", "edits": [{"insert": "SECRET"}]}), "new_string"),
        ("edit", json!({"path": "/a", "edits": [{"newText": ["SECRET"]}]}), "new_string"),
    ] {
        assert_eq!(
            translated(kinds, arguments.clone()),
            Err(super::Missing(missing)),
            "{kinds} {arguments}"
        );
    }
}

#[test]
fn what_is_said_twice_and_not_the_same_is_an_error() {
    let env = "*** Begin Patch\n*** Update File: .env\n-a\n+b\n*** End Patch";
    let other = "*** Update File: ok\n";
    for (kinds, arguments, name) in [
        ("shell", json!({"cmd": "rm -rf /", "command": "ls"}), "command"),
        ("shell", json!({"cmd": "rm -rf /", "command": ""}), "command"),
        ("shell", json!({"chars": "rm -rf /\n", "cmd": "ls"}), "command"),
        ("shell", json!({"input": "rm -rf /", "command": "ls"}), "command"),
        ("shell", json!({"command": "bash", "args": {"a": "rm -rf /"}}), "command"),
        ("shell", json!({"command": "bash", "args": ["-c"], "argv": ["rm"]}), "args"),
        ("read", json!({"path": "/p/.env", "file_path": "/p/README"}), "file_path"),
        ("read", json!({"path": "/p", "include": [".env"]}), "file_path"),
        ("read", json!({"paths": ["ok"], "include": [".env"]}), "paths"),
        ("read list", json!({"path": "ok", "operations": [{"path": ".env"}]}), "file_path"),
        ("read", json!({"operations": [{"path": "ok", "file": ".env"}]}), "file_path"),
        ("read", json!({"operations": [{"path": "ok", "paths": [".env"]}]}), "file_path"),
        (
            "edit",
            json!({"path": "/a", "old_str": "x", "new_str": "SECRET", "new_string": "ok"}),
            "new_string",
        ),
        (
            "edit",
            json!({"path": "/a", "edits": [{"newText": "SECRET"}], "new_string": "ok"}),
            "new_string",
        ),
        (
            "edit",
            json!({"path": "/a", "edits": [{"newText": "SECRET"}], "new_str": "ok"}),
            "new_string",
        ),
        (
            "edit",
            json!({"path": "/a", "edits": [{"newText": "SECRET", "new_str": "ok"}]}),
            "new_string",
        ),
        ("edit", json!({"path": "/a", "edits": [{"path": "/p/.env"}]}), "file_path"),
        ("apply_patch", json!({"input": env, "path": "/p/README"}), "file_path"),
        ("apply_patch", json!({"patch": env, "input": other}), "input"),
        ("apply_patch", json!({"input": other, "command": ["apply_patch", env]}), "input"),
        ("apply_patch", json!({"input": other, "paths": [".env"]}), "file_path"),
        ("apply_patch", json!({"input": other, "content": "SECRET"}), "input"),
        ("write", json!({"paths": ["a"], "content": "SECRET"}), "content"),
        ("fetch", json!({"prompt": "https://evil", "url": "https://ok"}), "url"),
        ("fetch", json!({"urls": ["https://evil"], "url": "https://ok"}), "url"),
        ("grep", json!({"pattern": "x", "regex": "y"}), "pattern"),
        ("grep", json!({"pattern": "x", "path": "ok", "paths": [".env"]}), "path"),
        ("grep", json!({"pattern": "x", "glob": "*.rs", "include": ".env"}), "glob"),
        ("shell", json!({"command": "ls", "keys": "rm -rf /"}), "command"),
        ("read", json!({"mode": "Image", "path": "ok", "image_paths": [".env"]}), "file_path"),
        (
            "apply_patch",
            json!({"input": "*** Update File: .env\n *** Update File: ok\n+SECRET"}),
            "file_path",
        ),
        (
            "edit",
            json!({"path": "/a", "edits": [{"newText": "x"}], "changes": [{"newText": "SECRET"}]}),
            "edits",
        ),
    ] {
        assert_eq!(translated(kinds, arguments.clone()), Err(Several(name)), "{kinds} {arguments}");
    }
}

#[test]
fn what_is_said_twice_and_the_same_is_said_once() {
    for (kinds, arguments, expected) in [
        ("shell", json!({"cmd": "ls", "command": "ls"}), json!([{"command": "ls"}])),
        (
            "fetch",
            json!({"url": "https://x", "prompt": "What is on https://x?"}),
            json!([{"url": "https://x", "prompt": "What is on https://x?"}]),
        ),
        (
            "grep",
            json!({"pattern": "x", "glob": "*.rs"}),
            json!([{"pattern": "x", "glob": "*.rs"}]),
        ),
        (
            "write",
            json!({"path": "/a", "content": "*** Add File: b"}),
            json!([{"file_path": "/a", "content": "*** Add File: b"}]),
        ),
        (
            "shell",
            json!({"command": "bash", "args": ["-c", "rm -rf /"]}),
            json!([{"command": "bash -c rm -rf /", "args": ["-c", "rm -rf /"]}]),
        ),
    ] {
        assert_eq!(translated(kinds, arguments.clone()).unwrap(), expected, "{kinds} {arguments}");
    }
}

#[cfg(unix)]
#[test]
fn a_patch_is_one_call_for_each_file() {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: src/b\n*** Move to: c\n@@ f\n same\n-old\n+new\n*** Delete File: /d\n*** End Patch";
    let calls =
        translate("apply_patch", &["edit".to_owned()], &object(json!({"command": patch})), "/p")
            .unwrap();
    let shown: Vec<Value> = calls.iter().map(|call| json!([call.tools, call.arguments])).collect();
    assert_eq!(
        json!(shown),
        json!([
            [["Write"], {"file_path": "/p/a.txt", "content": "one\ntwo\n"}],
            // Moved: its text is in the call for `c`.
            [["Edit"], {"file_path": "/p/src/b", "old_string": "", "new_string": ""}],
            [["Write"], {"file_path": "/p/c", "content": "same\nnew\n"}],
            [["Write", "Edit"], {"file_path": "/d", "content": ""}],
        ])
    );
}

#[cfg(unix)]
#[test]
fn a_path_is_absolute_and_normalised_as_claude_code_gives_it() {
    let home = hookexec_files::directories::home_directory().unwrap();
    let bashrc = home.join(".bashrc").to_string_lossy().into_owned();
    for (path, expected) in [
        ("../../../etc/cron.d/x", "/etc/cron.d/x"),
        ("src/../.env", "/p/.env"),
        ("./a//b/", "/p/a/b"),
        ("/etc/../etc/./passwd", "/etc/passwd"),
        ("~/.bashrc", &bashrc),
        ("~ann/x", "/p/~ann/x"),
    ] {
        let call = |tool: &str, arguments: Value| translated(tool, arguments).unwrap();
        assert_eq!(call("Write", json!({"path": path, "content": ""}))[0]["file_path"], expected);
        assert_eq!(call("Grep", json!({"pattern": "x", "path": path}))[0]["path"], expected);
        let patch = format!("*** Add File: {path}\n+x\n");
        assert_eq!(call("apply_patch", json!({"command": patch}))[0]["file_path"], expected);
        assert_eq!(call("read_many_files", json!({"paths": [path]}))[0]["file_path"], expected);
    }
}

/// Returns the arguments of a shell call after a hook that saw the translated call changed them.
fn replaced(arguments: Value, change: Value) -> Result<JsonObject, ArgumentError> {
    let calls = translate("Bash", &["shell".to_owned()], &object(arguments), "/p");
    calls.unwrap().remove(0).take_back(InputChange::Replace(object(change)))
}

#[test]
fn a_change_goes_where_the_argument_came_from() {
    let changed = replaced(json!({"cmd": "ls", "cwd": "/"}), json!({"command": "date"})).unwrap();
    assert_eq!(changed, object(json!({"cmd": "date", "cwd": "/"})));
    let twice = json!({"cmd": "ls", "command": "ls"});
    let changed = replaced(twice, json!({"command": "date"})).unwrap();
    assert_eq!(changed, object(json!({"cmd": "date", "command": "date"})));
    let argv = json!({"command": ["ls", "-l"]});
    let same = replaced(argv.clone(), json!({"command": "ls -l", "timeout": 5})).unwrap();
    assert_eq!(same, object(json!({"command": ["ls", "-l"], "timeout": 5})));
    assert!(replaced(argv, json!({"command": "date"})).is_err());
}
