//! The files change while the server runs.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::Duration;

use hookexec::config::Diagnostics;
use hookexec::{Config, Executor};
use hookexec_project::Place;
use hookexec_serve::server::{Limits, Loaded, Server};
use serde_json::{Value, json};

use crate::serve::partner::{Gate, Partner, load};

fn hooks(reason: &str) -> String {
    format!(
        r#"
pre_tool_use:
  - hooks: [{{ type: builtin, command: say, args: ['{{"decision":"deny","reason":"{reason}"}}'] }}]
"#
    )
}

fn server(file: &Path) -> Server {
    Server::new("/project", Limits::default(), load(file)).unwrap()
}

/// Returns the configuration that was read as `text` from the file at `path`.
fn loaded(path: &Path, text: &str) -> Result<Loaded, Diagnostics> {
    let config = Config::from_yaml(text, "hooks.yaml")?;
    let executor = Executor::builder(config).registry(Gate::new().registry()).build()?;
    let watched = vec![Place::at(path.to_owned())];
    Ok(Loaded { executor, has_files: true, watched, absent: Vec::new(), expires: None })
}

async fn verdict(client: &mut Partner) -> Value {
    let input = json!({ "tool_name": "shell" });
    client.result("dispatch", json!({ "event": "pre_tool_use", "input": input })).await
}

#[tokio::test]
async fn the_next_event_sees_the_new_hooks() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hooks.yaml");
    fs::write(&file, hooks("first")).unwrap();
    let server = server(&file);
    let mut client = Partner::new(&server);
    assert_eq!(verdict(&mut client).await["message"], "first");
    fs::write(&file, hooks("second")).unwrap();
    assert_eq!(verdict(&mut client).await["message"], "second");
    let next = directory.path().join("next.yaml");
    fs::write(&next, hooks("third!")).unwrap();
    fs::rename(&next, &file).unwrap();
    assert_eq!(verdict(&mut client).await["message"], "third!");
}

#[tokio::test]
async fn a_file_that_is_emptied_denies_until_it_says_that_there_are_no_hooks() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hooks.yaml");
    fs::write(&file, hooks("old")).unwrap();
    let server = server(&file);
    let mut client = Partner::new(&server);
    // As an editor writes it: emptied first, and then piece by piece.
    for text in ["", "# mine\n", "hooks:\n", "pre_tool_use:\n", "hooks: { pre_tool_use: }\n"] {
        fs::write(&file, text).unwrap();
        let answer = verdict(&mut client).await;
        assert_eq!(answer["decision"], "deny", "{text:?}");
        let said = answer["message"].as_str().unwrap();
        assert!(said.contains("empty"), "{text:?}: {said}");
    }
    fs::write(&file, "hooks: {}\n").unwrap();
    assert_eq!(verdict(&mut client).await["decision"], Value::Null);
}

#[tokio::test]
async fn a_file_that_can_not_be_loaded_denies_until_it_can() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hooks.yaml");
    fs::write(&file, hooks("old")).unwrap();
    let server = server(&file);
    let mut client = Partner::new(&server);
    assert_eq!(verdict(&mut client).await["message"], "old");

    fs::write(&file, "pre_tool_use:\n  - hooks: [{ type: builtin, comand: say }]\n").unwrap();
    let answer = verdict(&mut client).await;
    assert_eq!(answer["decision"], "deny", "{answer}");
    let said = answer["message"].as_str().unwrap();
    assert!(said.contains("hooks.yaml") && said.contains("`comand`"), "{said}");

    fs::remove_file(&file).unwrap();
    let answer = verdict(&mut client).await;
    assert_eq!(answer["decision"], "deny", "a file that was named is gone: {answer}");

    fs::write(&file, hooks("mended")).unwrap();
    let answer = verdict(&mut client).await;
    assert_eq!(answer["message"], "mended");
    assert_eq!(answer["system_message"], Value::Null);
}

#[tokio::test]
async fn where_all_hooks_files_are_gone_every_event_fails() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hooks.yaml");
    let path = file.clone();
    let server = Server::new("/project", Limits::default(), move |_| {
        let text = fs::read_to_string(&path).unwrap_or_else(|_| "hooks: {}".to_owned());
        Ok(Loaded { has_files: path.exists(), ..loaded(&path, &text)? })
    });
    fs::write(&file, hooks("old")).unwrap();
    let server = server.unwrap();
    let mut client = Partner::new(&server);
    assert_eq!(verdict(&mut client).await["message"], "old");
    fs::remove_file(&file).unwrap();
    let answer = verdict(&mut client).await;
    assert_eq!(answer["decision"], "deny", "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("the hooks files are gone"), "{answer}");
    fs::write(&file, hooks("back")).unwrap();
    assert_eq!(verdict(&mut client).await["message"], "back");
}

#[cfg(unix)]
#[tokio::test]
async fn what_was_read_before_a_change_does_not_stay() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    for name in ["first", "second"] {
        fs::write(at(name), hooks(name)).unwrap();
    }
    let link = at("hooks.yaml");
    std::os::unix::fs::symlink(at("first"), &link).unwrap();
    // Reads the link, then tells of it and waits.
    let (read, go_on) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (has_read, may_go_on, path) = (Arc::clone(&read), Arc::clone(&go_on), link.clone());
    let pauses = Arc::new(AtomicBool::new(false));
    let does_pause = Arc::clone(&pauses);
    let server = Server::new("/project", Limits::default(), move |_| {
        let text = fs::read_to_string(&path).unwrap();
        if does_pause.swap(false, Ordering::Relaxed) {
            has_read.wait();
            may_go_on.wait();
        }
        loaded(&path, &text)
    });
    let server = server.unwrap();
    let mut client = Partner::new(&server);
    assert_eq!(verdict(&mut client).await["message"], "first");
    // What was just written is read once more in any case.
    let written = fs::metadata(at("second")).unwrap().modified().unwrap();
    while written.elapsed().unwrap() < Duration::from_millis(100) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    pauses.store(true, Ordering::Relaxed);
    let replace = |target: &str| {
        std::os::unix::fs::symlink(at(target), at("next")).unwrap();
        fs::rename(at("next"), &link).unwrap();
    };
    replace("first");
    let params = json!({ "event": "pre_tool_use", "input": { "tool_name": "shell" } });
    client.ask(2, "dispatch", params).await;
    tokio::task::spawn_blocking(move || read.wait()).await.unwrap();
    // As a manager of configurations does: the new file is older than the reading.
    replace("second");
    tokio::task::spawn_blocking(move || go_on.wait()).await.unwrap();
    assert_eq!(client.next().await.unwrap()["id"], 2);
    assert_eq!(verdict(&mut client).await["message"], "second");
}

#[tokio::test]
async fn files_that_are_not_read_in_time_fail_the_event_and_no_client_waits_for_long() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("hooks.yaml");
    fs::write(&file, hooks("first")).unwrap();
    // Whether the files can be read, and a reader waits for that.
    let open = Arc::new((Mutex::new(true), Condvar::new()));
    let (gate, path) = (Arc::clone(&open), file.clone());
    let server = Server::new("/project", Limits::default(), move |_| {
        let _open = gate.1.wait_while(gate.0.lock().unwrap(), |open| !*open).unwrap();
        loaded(&path, &fs::read_to_string(&path).unwrap())
    });
    let server = server.unwrap();
    let mut client = Partner::new(&server);
    assert_eq!(verdict(&mut client).await["message"], "first");
    *open.0.lock().unwrap() = false;
    fs::write(&file, hooks("second")).unwrap();
    let input = json!({ "tool_name": "shell" });
    let params = json!({ "event": "pre_tool_use", "input": input, "within_ms": 500 });
    client.ask(1, "dispatch", params).await;
    let refused = client.next().await.unwrap();
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(said.contains("could not be read in time"), "{refused}");
    // The hooks that are no longer in force say what their failure means.
    assert_eq!(refused["error"]["data"]["verdict"]["decision"], "deny", "{refused}");
    *open.0.lock().unwrap() = true;
    open.1.notify_all();
    assert_eq!(verdict(&mut client).await["message"], "second");
}
