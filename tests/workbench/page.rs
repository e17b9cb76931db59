//! The page of `hookexec log --html`, in a browser.

use std::process::{Command, Stdio};

use regex::Regex;
use serde_json::{Value, json};

use crate::support::{Sandbox, wait};

const HOSTILE: &str =
    "</pre><script>document.title='no'</script><img src=x onerror=alert(1)>\u{202e}\u{0}";

/// Returns a log of a few days: decisions, failures, shadows, and texts that want to be markup.
fn log() -> String {
    let mut lines = String::new();
    for number in 0..700_usize {
        let hook = |name: &str, status: &str, decision: &str, more: Value| {
            let mut hook = json!({
                "name": name, "type": "command", "source": "hooks.yaml:3", "status": status,
                "decision": decision, "duration_ms": number % 90,
            });
            for (key, value) in more.as_object().unwrap() {
                hook[key] = value.clone();
            }
            hook.as_object_mut().unwrap().retain(|_, value| value != "");
            hook
        };
        let decision = ["deny", "ask", "allow", "", "", "", ""][number % 7];
        let failed = number % 11 == 0;
        let trial = json!({ "mode": "shadow", "reason": HOSTILE });
        let record = json!({
            "v": 1,
            "time": format!("2026-03-{:02}T{:02}:{:02}:00.000Z", 1 + number / 100, number % 24, number % 60),
            "event": if number % 5 == 0 { "post_tool_use" } else { "pre_tool_use" },
            "tool": "shell",
            "decision": if decision.is_empty() { Value::Null } else { json!(decision) },
            "allowed": !matches!(decision, "deny" | "ask"),
            "message": if decision == "deny" { json!(format!("{HOSTILE} {}", number % 3)) } else { Value::Null },
            "failed_open": if failed { json!(["<b>fails</b>"]) } else { json!([]) },
            "hooks": [
                hook("guard", if decision == "deny" { "blocked" } else { "ok" }, decision, json!({})),
                hook("trial", "blocked", if number % 2 == 0 { "deny" } else { "" }, trial),
                hook("<b>fails</b>", if failed { "error" } else { "ok" }, "", json!({})),
            ],
            "duration_ms": 4.5,
            "input": { "tool_input": { "cmd": format!("echo {HOSTILE} {}", "long ".repeat(60)) } },
        });
        // The beginning of a record is how its reader knows one.
        lines.push_str(&record.to_string());
        lines.push('\n');
    }
    lines
}

/// Returns the page as a browser holds it, without what it does not show; `None` when there is none.
fn dom(sandbox: &Sandbox, page: &str) -> Option<String> {
    let browser = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok()
    })?;
    let mut command = Command::new(browser);
    let child = sandbox
        .dress(&mut command)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", sandbox.home().join("browser").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", sandbox.project().join(page).display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Some(String::from_utf8(wait(child).stdout).unwrap())
}

/// Returns the rows of a table: the text of the first cell, and the others by their label.
fn rows(dom: &str, table: &str) -> Vec<(String, Value)> {
    let table = dom.split(&format!("<table id=\"{table}\"")).nth(1).expect(table);
    let table = table.split("</table>").next().unwrap();
    let cell = Regex::new(r#"data-label="([^"]+)">([^<]*)<"#).unwrap();
    let head = Regex::new(r#"<th scope="row">(?:<span class="said">)?([^<]*)<"#).unwrap();
    let row = |row: &str| {
        let cells = cell.captures_iter(row);
        let cells = cells.map(|found| (found[1].to_owned(), json!(found[2].parse::<u64>().ok())));
        (head.captures(row).unwrap()[1].to_owned(), cells.collect::<serde_json::Map<_, _>>().into())
    };
    table.split("<tr>").filter(|text| text.contains("data-label")).map(row).collect()
}

#[test]
fn a_browser_shows_the_numbers_of_the_log_and_runs_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("audit.jsonl", &log());
    let arguments = ["log", "audit.jsonl", "--isolated"];
    let stats = [&arguments[..], &["--stats", "--format", "json"]].concat();
    let numbers: Value =
        serde_json::from_str(&sandbox.hookexec(stats).run().exits(0).stdout).unwrap();
    let _ = sandbox.hookexec([&arguments[..], &["--html", "page.html"]].concat()).run().exits(0);
    let Some(dom) = dom(&sandbox, "page.html") else {
        eprintln!("skipped: no chromium to look at the page with");
        return;
    };

    assert!(dom.contains("<title>hookexec: decisions</title>"), "{dom}");
    // The data, and the script that shows it. What was logged is in neither as markup.
    assert_eq!(dom.matches("<script").count(), 2);
    for tag in ["<img", "<b>fails"] {
        assert!(!dom.contains(tag), "{tag}");
    }
    let tile = Regex::new(r#"<div class="(\w+)"><dt>[^<]*</dt><dd>(\d+)"#).unwrap();
    let tiles: Vec<(String, u64)> = tile
        .captures_iter(&dom)
        .map(|found| (found[1].to_owned(), found[2].parse().unwrap()))
        .collect();
    assert_eq!(tiles.len(), 5);
    for (word, count) in &tiles {
        let expected =
            if word == "open" { &numbers["failed_open"] } else { &numbers["decisions"][word] };
        assert_eq!(expected, count, "{word}");
    }

    let mut hooks = rows(&dom, "hooks");
    let (all, sums) = hooks.pop().unwrap();
    assert_eq!(all, "all");
    let of = numbers["hooks"].as_array().unwrap();
    assert_eq!(hooks.len(), of.len());
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    for (column, key) in [
        ("ran", "/ran"),
        ("deny", "/decisions/deny"),
        ("ask", "/decisions/ask"),
        ("allow", "/decisions/allow"),
        ("failed", "/failed"),
        ("went on", "/failed_open"),
        ("would change", "/would_change"),
    ] {
        let counts = of.iter().map(|hook| hook.pointer(key).map_or(0, number));
        let shown = hooks.iter().map(|(_, cells)| number(&cells[column]));
        assert_eq!(shown.collect::<Vec<_>>(), counts.clone().collect::<Vec<_>>(), "{column}");
        assert_eq!(number(&sums[column]), counts.sum::<u64>(), "{column}");
    }

    let events = rows(&dom, "events");
    assert_eq!(events.len(), numbers["events"].as_object().unwrap().len());
    for (event, cells) in events {
        assert_eq!(number(&cells["events"]), number(&numbers["events"][event]));
    }
    let sum = |table: &str, column: &str| -> u64 {
        rows(&dom, table).iter().map(|(_, cells)| number(&cells[column])).sum()
    };
    for (column, word) in
        [("denied", "deny"), ("asked", "ask"), ("allowed", "allow"), ("no opinion", "none")]
    {
        assert_eq!(sum("days", column), number(&numbers["decisions"][word]), "{column}");
    }
    assert_eq!(sum("denials", "events"), number(&numbers["decisions"]["deny"]));
    assert_eq!(dom.matches("<details class=\"record").count(), 500);
}
