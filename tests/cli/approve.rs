//! `hookexec approve`: what a person sees and answers, and who may ask and answer.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use hookexec::wire::call_digest;
use serde_json::{Value, json};

use super::support::{Sandbox, until, wait};
use super::terminal::Terminal;

fn socket(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".local/state/hookexec/approve/socket")
}

/// Starts a receiver and waits until it takes questions.
fn receiver(sandbox: &Sandbox, arguments: &[&str]) -> Terminal {
    let terminal = Terminal::open(sandbox, &[&["approve"], arguments].concat());
    terminal.shows("waiting for questions");
    terminal
}

fn call(command: &str) -> Value {
    json!({
        "session_id": "s1", "cwd": "/project", "hook_event_name": "approval", "agent_name": "codex",
        "tool_name": "shell", "tool_input": { "command": command },
    })
}

fn question(command: &str) -> Value {
    let mut question = call(command);
    question["approval"] = json!({
        "id": "1", "digest": digest(command), "expires": in_seconds(600),
        "reasons": [{ "hook": "guard", "event": "pre_tool_use", "reason": "look at this" }],
    });
    question
}

/// Sets the digest to that of the call in a question.
fn sign(question: &mut Value) {
    let input = serde_json::from_value(question.clone()).unwrap();
    question["approval"]["digest"] = call_digest(&input).into();
}

fn in_seconds(seconds: i64) -> String {
    (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds)).to_string()
}

/// A caller that waits for an answer.
struct Caller(BufReader<UnixStream>);

impl Caller {
    fn connect(sandbox: &Sandbox) -> Self {
        let stream = UnixStream::connect(socket(sandbox)).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        Self(BufReader::new(stream))
    }

    fn ask(sandbox: &Sandbox, question: &Value) -> Self {
        let mut caller = Self::connect(sandbox);
        writeln!(caller.0.get_mut(), "{question}").unwrap();
        caller
    }

    /// Returns the answer; nothing at the end of the connection.
    fn answer(mut self) -> Option<Value> {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }
}

fn digest(command: &str) -> String {
    call_digest(&serde_json::from_value(call(command)).unwrap())
}

/// Returns the IDs of the questions that a receiver has shown, the oldest first.
fn ids(receiver: &Terminal) -> Vec<String> {
    let head = regex::Regex::new(r"(?m)^\[([0-9a-f]{8})\] .*left$").unwrap();
    head.captures_iter(&receiver.shown()).map(|found| found[1].to_owned()).collect()
}

/// Asks a question, and returns the caller and the ID that is shown.
fn asked(sandbox: &Sandbox, receiver: &Terminal, question: &Value) -> (Caller, String) {
    let before = ids(receiver).len();
    let caller = Caller::ask(sandbox, question);
    until("the question is shown", || {
        ids(receiver).len() > before && receiver.shown().ends_with("REASON\n")
    });
    (caller, ids(receiver).pop().unwrap())
}

/// Runs `hookexec approve` with these words in another terminal.
fn says(sandbox: &Sandbox, words: &[&str]) -> (i32, String) {
    Terminal::open(sandbox, &[&["approve"], words].concat()).ends()
}

/// Ends a receiver by Ctrl-C, and returns its exit code and what it showed.
fn interrupted(receiver: Terminal) -> (i32, String) {
    receiver.signal("-INT");
    receiver.ends()
}

#[test]
fn a_person_reads_the_call_and_answers_it() {
    let sandbox = Sandbox::new();
    let terminal = receiver(&sandbox, &["--no-page"]);
    let mut changed = question("git push");
    changed["approval"]["original_input"] = json!({ "command": "git push -f", "background": true });
    let (caller, id) = asked(&sandbox, &terminal, &changed);
    let shown = terminal.shown();
    for part in [
        &*format!("[{id}] shell, 9:5"),
        "    `command`:\n      | git push\n",
        "    `command` before hooks changed it:\n      | git push -f\n",
        "    `background`, removed by hooks:\n      | true\n",
        "    asked by:\n      | guard (pre_tool_use): look at this\n",
        "    from:\n      | codex, session s1, in /project\n",
        &format!("    {}\n", digest("git push")),
        &format!("    allow: hookexec approve allow {id}\n"),
        &format!("    deny:  hookexec approve deny {id} REASON\n"),
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let (code, said) = says(&sandbox, &["allow", &id]);
    assert!(code == 0 && said.starts_with("allowed by "), "{said}");
    let answer = caller.answer().unwrap();
    let by = answer["by"].as_str().unwrap();
    assert!(by.ends_with("(terminal)"), "{answer}");
    assert_eq!(
        (&answer["decision"], &answer["digest"]),
        (&json!("allow"), &json!(digest("git push")))
    );
    terminal.shows(&format!("[{id}] allowed by"));

    // The same call is another question.
    let (caller, id) = asked(&sandbox, &terminal, &question("git push"));
    let (code, said) = says(&sandbox, &["deny", &id, "not", "on Friday"]);
    assert!(code == 0 && said.starts_with("denied by "), "{said}");
    let answer = caller.answer().unwrap();
    assert_eq!(answer["decision"], "deny");
    assert!(answer["reason"].as_str().unwrap().ends_with("denied this call: not on Friday"));
    terminal.shows(&format!("[{id}] denied by"));

    let (code, said) = says(&sandbox, &["allow", "00000000"]);
    assert!(code == 64 && said.contains("no open question has the ID `00000000`"), "{said}");
    terminal.shows("an order was refused: no open question has the ID `00000000`");
    assert_eq!(interrupted(terminal).0, 0);
    let (code, said) = says(&sandbox, &["allow", &id]);
    assert!(code == 64 && said.contains("is not there"), "{said}");
    assert!(said.contains("`hookexec approve` must run in another terminal"), "{said}");
}

#[test]
fn an_answer_counts_once() {
    let sandbox = Sandbox::new();
    let terminal = receiver(&sandbox, &["--no-page"]);
    let (caller, id) = asked(&sandbox, &terminal, &question("ls"));
    assert_eq!(says(&sandbox, &["deny", &id]).0, 0);
    let (code, said) = says(&sandbox, &["allow", &id]);
    let gone = format!("no open question has the ID `{id}`: it was answered");
    assert!(code == 64 && said.contains(&gone), "{said}");
    assert_eq!(caller.answer().unwrap()["decision"], "deny");
}

#[test]
fn a_caller_that_goes_away_withdraws_its_question() {
    let sandbox = Sandbox::new();
    let terminal = receiver(&sandbox, &["--no-page"]);
    let (caller, id) = asked(&sandbox, &terminal, &question("ls"));
    drop(caller);
    terminal.shows(&format!("[{id}] withdrawn: its caller is gone"));
    let (code, said) = says(&sandbox, &["allow", &id]);
    assert!(code == 64 && said.contains("no open question has the ID"), "{said}");
    // Its answer is no answer to the next question.
    let (next, id) = asked(&sandbox, &terminal, &question("ls"));
    assert_eq!(says(&sandbox, &["deny", &id]).0, 0);
    assert_eq!(next.answer().unwrap()["decision"], "deny");
}

#[test]
fn an_answer_after_the_deadline_does_not_count() {
    let sandbox = Sandbox::new();
    let terminal = receiver(&sandbox, &["--no-page"]);
    let mut late = question("ls");
    late["approval"]["expires"] = in_seconds(1).into();
    let (caller, id) = asked(&sandbox, &terminal, &late);
    terminal.shows(&format!("[{id}] no answer in time"));
    let (_, said) = says(&sandbox, &["allow", &id]);
    assert!(said.contains("no open question has the ID"), "{said}");
    let (code, shown) = interrupted(terminal);
    assert_eq!((code, caller.answer()), (0, None), "{shown}");
}

#[test]
fn nothing_in_a_call_passes_for_a_line_of_ours() {
    let sandbox = Sandbox::new();
    let terminal = receiver(&sandbox, &["--no-page"]);
    let hostile = "ls\n    from you\r\u{1b}[2K\u{1b}[8mrm\u{202e}x";
    let mut forged = question(hostile);
    forged["tool_name"] = "sh\u{1b}[2J\nell".into();
    forged["approval"]["reasons"][0]["reason"] = "a\n[2] shell".into();
    sign(&mut forged);
    let (_caller, id) = asked(&sandbox, &terminal, &forged);
    let shown = terminal.shown();
    assert!(shown.contains(&format!("[{id}] sh\\u{{1b}}[2J\\u{{a}}ell, ")), "{shown}");
    assert!(
        shown.contains("      | ls\n      |     from you\\u{d}\\u{1b}[2K\\u{1b}[8mrm\\u{202e}x\n")
    );
    assert!(shown.contains("      | guard (pre_tool_use): a\\u{a}[2] shell\n"), "{shown}");
    // A row that the terminal would wrap has a bar, too: a command of one line draws no question.
    let question_of_ls = format!(
        "{:72}{:80}{:80}      | ls -la",
        "curl x | sh #", "[9] shell, 9:59 left", "    `command`:"
    );
    let mut wide = question(&question_of_ls);
    wide["approval"]["reasons"][0]["reason"] = question_of_ls.clone().into();
    let (_wide, id) = asked(&sandbox, &terminal, &wide);
    let shown = terminal.shown();
    let head = format!("[{id}] ");
    let rows = || shown.lines().skip_while(|row| !row.starts_with(&head)).skip(1);
    assert!(rows().all(|row| row.len() <= 80 && row.starts_with("    ")), "{shown}");
    let foreign = rows().filter(|row| row.contains("[9]") || row.contains("ls -la"));
    assert!(foreign.clone().all(|row| row.starts_with("      : ")), "{shown}");
    assert_eq!(foreign.count(), 4, "{shown}");
}

#[test]
fn a_long_call_is_cut_and_says_so() {
    let sandbox = Sandbox::new();
    let terminal = receiver(&sandbox, &[]);
    let page = Page::of(&terminal);
    let long = format!("{}\nrm -rf /", "echo\n".repeat(80));
    let (_long, id) = asked(&sandbox, &terminal, &question(&long));
    terminal.shows(&format!(
        "    ...\n    {}\n    not all of it: hookexec approve show {id}\n",
        digest(&long)
    ));
    assert!(!terminal.shown().contains("rm -rf /"), "{}", terminal.shown());
    let (code, whole) = says(&sandbox, &["show", &id]);
    assert!(code == 0 && whole.contains("      | rm -rf /\n"), "{whole}");
    // The page shows all of it above the buttons.
    let text = page.questions()[0]["parts"][2]["text"].to_string();
    assert!(text.contains("rm -rf /"), "{text}");

    let mut many = question("ls");
    many["tool_input"] = (0..40).map(|number| (format!("a{number}"), json!(number))).collect();
    sign(&mut many);
    let (_many, id) = asked(&sandbox, &terminal, &many);
    terminal.shows(&format!("not all of it: hookexec approve show {id}\n"));
    assert!(!terminal.shown().contains("`a9`"), "{}", terminal.shown());
    assert_eq!(page.questions()[1]["parts"].as_array().unwrap().len(), 42);
    let (_, whole) = says(&sandbox, &["show", &id]);
    assert!(whole.contains("`a9`") && !whole.contains("not all of it"), "{whole}");
}

#[test]
fn the_help_has_a_hook_that_works_and_names_the_page() {
    let sandbox = Sandbox::new();
    let help = sandbox.hookexec(["approve", "--help"]).run().exits(0).stdout;
    assert!(help.contains("Nothing is stored") && help.contains("`hookexec docs approval`"));
    let hooks = help.split_once("`ask`:\n").unwrap().1.split_once("\n\n").unwrap().0;
    sandbox.write_users_hooks(hooks);
    let run = sandbox.hookexec(["explain"]).run().exits(0);
    assert!(run.stdout.contains("receiver"), "{run:?}");
    let page = sandbox.hookexec(["docs", "approval"]).run().exits(0).stdout;
    assert!(page.contains("type: receiver"), "{page}");
}

#[test]
fn only_a_person_in_a_terminal_receives() {
    let sandbox = Sandbox::new();
    for words in [&["approve"][..], &["approve", "allow", "1"], &["approve", "deny", "1"]] {
        let run = sandbox.hookexec(words).run().exits(64);
        assert!(run.stderr.contains("stdin is not a terminal"), "{run:?}");
        let run = sandbox.hookexec(words).env("CLAUDECODE", "1").run().exits(64);
        assert!(run.stderr.contains("a coding agent runs this command"), "{run:?}");
    }
    assert!(!socket(&sandbox).exists());
}

#[test]
fn there_is_one_receiver_and_a_dead_one_leaves_nothing_in_the_way() {
    let sandbox = Sandbox::new();
    let first = receiver(&sandbox, &["--no-page"]);
    assert_eq!(fs::metadata(socket(&sandbox)).unwrap().permissions().mode() & 0o777, 0o600);
    let (code, shown) = Terminal::open(&sandbox, &["approve"]).ends();
    assert!(code == 64 && shown.contains("another process of hookexec is listening"), "{shown}");
    let (waiting, _) = asked(&sandbox, &first, &question("ls"));
    first.signal("-KILL");
    assert_eq!(waiting.answer(), None);
    first.ends();
    assert!(socket(&sandbox).exists());
    let second = receiver(&sandbox, &["--no-page"]);
    let (caller, id) = asked(&sandbox, &second, &question("ls"));
    assert_eq!(says(&sandbox, &["allow", &id]).0, 0);
    assert_eq!(caller.answer().unwrap()["decision"], "allow");
    // The end of a receiver is no answer.
    let (waiting, _) = asked(&sandbox, &second, &question("ls"));
    let (code, shown) = interrupted(second);
    assert!(shown.contains("ends, and its open questions are denied"), "{shown}");
    assert_eq!((code, waiting.answer()), (0, None));
    assert!(!socket(&sandbox).exists());
}

#[test]
fn what_is_not_a_private_socket_is_refused() {
    let refused = |prepare: &dyn Fn(&Sandbox), said: &str| {
        let sandbox = Sandbox::new();
        fs::create_dir_all(socket(&sandbox).parent().unwrap()).unwrap();
        let directory = socket(&sandbox).parent().unwrap().to_owned();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
        prepare(&sandbox);
        let (code, shown) = Terminal::open(&sandbox, &["approve"]).ends();
        assert!(code == 64 && shown.contains(said), "{said}: {shown}");
    };
    refused(&|sandbox| fs::write(socket(sandbox), "").unwrap(), "exists and is not a socket");
    refused(
        &|sandbox| std::os::unix::fs::symlink("/dev/null", socket(sandbox)).unwrap(),
        "exists and is not a socket",
    );
    let open = |sandbox: &Sandbox| {
        let directory = socket(sandbox).parent().unwrap().to_owned();
        fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
    };
    refused(&open, "is open to other users");
}

#[test]
fn callers_are_bounded_in_what_they_send() {
    let sandbox = Sandbox::new();
    let terminal = receiver(&sandbox, &["--no-page"]);
    let denied = |line: &str| {
        let mut caller = Caller::connect(&sandbox);
        // The receiver does not read to the end of what is too long.
        let _ = writeln!(caller.0.get_mut(), "{line}");
        let answer = caller.answer().unwrap();
        assert_eq!(answer["decision"], "deny", "{answer}");
        answer["reason"].as_str().unwrap().to_owned()
    };
    let mut other = question("ls");
    other["tool_input"]["command"] = "rm".into();
    assert!(denied(&other.to_string()).contains("its digest is that of another call"));
    let mut unlimited = question("ls");
    unlimited["approval"]["expires"] = "soon".into();
    assert!(denied(&unlimited.to_string()).contains("`expires`"));
    assert!(denied("{}").contains("`approval` is missing"));
    assert!(denied(r#"{"a":1,"a":2}"#).contains("appears twice"));
    assert!(denied("ls").contains("expected"));
    assert!(denied(&"x".repeat(257 << 10)).contains("larger than 256 KiB"));
    let order = json!({ "allow": { "id": "00000000" }, "tool_name": "x" });
    assert!(denied(&order.to_string()).contains("`approval` is missing"), "it is not an order");
    // A line that does not end is no question.
    let mut cut = Caller::connect(&sandbox);
    write!(cut.0.get_mut(), "{}", question("ls")).unwrap();
    cut.0.get_mut().shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(cut.answer(), None);
    assert!(ids(&terminal).is_empty());
}

/// The page of a receiver.
struct Page {
    host: String,
    path: String,
}

impl Page {
    fn of(terminal: &Terminal) -> Self {
        let shown = terminal.shown();
        let address = shown.lines().find_map(|line| line.strip_prefix("page: http://")).unwrap();
        let (host, path) = address.split_once('/').unwrap();
        Self { host: host.to_owned(), path: format!("/{path}") }
    }

    /// Sends a request and returns the whole answer.
    fn send(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        // What is refused may not be read to its end.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    fn get(&self) -> String {
        self.send(&format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", self.path, self.host))
    }

    /// Returns the JSON that stands below the address.
    fn json(&self, path: &str) -> Value {
        let request = format!("GET {}{path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.path, self.host);
        let answer = self.send(&request);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("Content-Type: application/json\r\n"), "{answer}");
        serde_json::from_str(body).unwrap()
    }

    /// Returns what the page shows.
    fn questions(&self) -> Value {
        self.json("questions?-")
    }

    fn post(&self, path: &str, head: &str) -> String {
        self.send(&format!("POST {path} HTTP/1.1\r\n{head}\r\n"))
    }

    /// Answers as the buttons of the page do.
    fn answer(&self, answer: &str) -> String {
        let head = format!("Host: {0}\r\nOrigin: http://{0}\r\n", self.host);
        self.post(&format!("{}{answer}", self.path), &head)
    }
}

/// Returns the address of an answer, below that of the page.
fn form(id: &str, command: &str, choice: &str) -> String {
    format!("{choice}/{id}/{}", digest(command))
}

#[test]
fn the_page_shows_questions_and_takes_answers() {
    let sandbox = Sandbox::new();
    let terminal = receiver(&sandbox, &[]);
    let page = Page::of(&terminal);
    assert_eq!(page.questions(), json!([]));
    let hostile = "</pre><script>alert(1)</script>\u{202e}";
    let mut changed = question(hostile);
    changed["approval"]["original_input"] = json!({ "command": "ls" });
    let (caller, id) = asked(&sandbox, &terminal, &changed);
    let served = page.get();
    assert!(served.starts_with("HTTP/1.1 200 OK\r\n"), "{served}");
    for part in [
        "Content-Security-Policy: default-src 'none'; ",
        "frame-ancestors 'none'",
        "form-action 'none'",
        "Cache-Control: no-store\r\n",
    ] {
        assert!(served.contains(part), "{part}\n{served}");
    }
    // The page is the same for any questions; their texts are data.
    assert!(!served.contains("alert(1)") && !served.contains("{{"), "{served}");
    assert_eq!(page.json(&format!("questions?{id}")), Value::Null, "the page has it");
    let shown = &page.questions()[0];
    let visible = hostile.replace('\u{202e}', "\\u{202e}");
    let part = |title: &str, text: &str, is_old: bool| json!({ "title": title, "text": text, "is_old": is_old });
    assert_eq!(
        shown["parts"],
        json!([
            part("asked by", "guard (pre_tool_use): look at this", false),
            part("from", "codex, session s1, in /project", false),
            part("`command`", &visible, false),
            part("`command` before hooks changed it", "ls", true),
        ])
    );
    assert_eq!((&shown["id"], &shown["digest"]), (&json!(id), &json!(digest(hostile))));
    // What a page was not shown can't be allowed on it.
    let said = page.answer(&form(&id, "other", "allow"));
    assert!(said.starts_with("HTTP/1.1 409") && said.contains("is about another call"), "{said}");
    let short = form(&id, hostile, "allow").replace("/sha256", "");
    for broken in ["", "allow", "allow/x/y", &short, &form(&id, hostile, "yes"), "answer"] {
        assert!(page.answer(broken).starts_with("HTTP/1.1 409"), "{broken}");
    }
    let said = page.answer(&form("9", hostile, "allow"));
    assert!(said.contains("no open question has the ID `9`"), "{said}");

    let said = page.answer(&format!("{}?use%20%2Dn%20first", form(&id, hostile, "deny")));
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    let answer = caller.answer().unwrap();
    assert_eq!(answer["decision"], "deny");
    assert!(answer["reason"].as_str().unwrap().ends_with("(page) denied this call: use -n first"));
    let said = page.answer(&form(&id, hostile, "allow"));
    assert!(
        said.starts_with("HTTP/1.1 409") && said.contains("no open question has the ID"),
        "{said}"
    );

    let (caller, id) = asked(&sandbox, &terminal, &question("ls"));
    assert!(page.answer(&form(&id, "ls", "allow")).starts_with("HTTP/1.1 200"));
    assert_eq!(caller.answer().unwrap()["decision"], "allow");
    assert_eq!(page.questions(), json!([]));
}

/// Returns an address of this machine that is not the loopback.
fn own_address() -> Option<std::net::IpAddr> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent.
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

#[test]
fn a_phone_in_the_same_network_answers() {
    let sandbox = Sandbox::new();
    for address in ["0.0.0.0", "0.0.0.0:80", "[::]:80", "phone.local", "192.168.1.5:x"] {
        let run = sandbox.hookexec(["approve", "--listen", address]).run().exits(64);
        assert!(run.stderr.contains("invalid value"), "{run:?}");
    }
    let (code, shown) = says(&sandbox, &["--listen", "192.0.2.1"]);
    assert!(code == 64 && shown.contains("give an address of this machine"), "{shown}");
    let terminal = receiver(&sandbox, &["--listen", "127.0.0.1"]);
    assert!(!terminal.shown().contains("not encrypted"));
    interrupted(terminal);
    let Some(address) = own_address() else {
        eprintln!("skipped: this machine has no address in a network");
        return;
    };
    let terminal = receiver(&sandbox, &["--listen", &address.to_string()]);
    assert!(terminal.shown().contains("the page is not encrypted"), "{}", terminal.shown());
    let page = Page::of(&terminal);
    assert!(page.host.starts_with(&format!("{address}:")), "{}", page.host);
    let (caller, id) = asked(&sandbox, &terminal, &question("ls"));
    let port = page.host.rsplit_once(':').unwrap().1;
    let rebound =
        page.send(&format!("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n", page.path));
    assert!(rebound.starts_with("HTTP/1.1 403"), "{rebound}");
    assert!(page.answer(&form(&id, "ls", "allow")).starts_with("HTTP/1.1 200"));
    let answer = caller.answer().unwrap();
    assert_eq!(answer["decision"], "allow");
    let from = format!("(page, from {address})");
    assert!(answer["by"].as_str().unwrap().ends_with(&from), "{answer}");
}

#[test]
fn the_page_is_for_its_own_visitor() {
    let sandbox = Sandbox::new();
    let terminal = receiver(&sandbox, &[]);
    let page = Page::of(&terminal);
    let (caller, id) = asked(&sandbox, &terminal, &question("ls"));
    let (host, path) = (&page.host, &page.path);
    let port = host.rsplit_once(':').unwrap().1;
    let form = form(&id, "ls", "allow");
    let own = format!("Host: {host}\r\nOrigin: http://{host}\r\n");
    let answer = format!("{path}{form}");
    let mut wrong = path.clone();
    let last = wrong.len() - 2;
    wrong.replace_range(last..=last, if path.ends_with("0/") { "1" } else { "0" });
    for (path, head) in [
        ("/", &*own),
        (&format!("/{form}"), &own),
        (&format!("//{form}"), &own),
        (&format!("{wrong}{form}"), &own),
        (&format!("/x{answer}"), &own),
        (&answer, ""),
        (&answer, &format!("Host: {host}\r\n")),
        (&answer, &format!("Host: {host}\r\nOrigin: null\r\n")),
        (&answer, &format!("Host: {host}\r\nOrigin: http://evil.example\r\n")),
        (&answer, &format!("Host: {host}\r\nOrigin: http://localhost:{port}\r\n")),
        (&answer, &format!("Host: evil.example:{port}\r\nOrigin: http://{host}\r\n")),
        (&answer, &format!("Host: localhost:{port}\r\nOrigin: http://localhost:1\r\n")),
        (&answer, &format!("{own}Host: {host}\r\n")),
    ] {
        let said = page.post(path, head);
        let refused =
            ["400", "403", "404"].iter().any(|it| said.starts_with(&format!("HTTP/1.1 {it}")));
        assert!(refused && !said.contains("ls"), "{path} {head}: {said}");
    }
    for head in ["", "Host: evil.example\r\n", &format!("Host: {host}\r\nOrigin: http://x\r\n")] {
        let said = page.send(&format!("GET {path} HTTP/1.1\r\n{head}\r\n"));
        assert!(said.starts_with("HTTP/1.1 403"), "{head}: {said}");
    }
    for host in [format!("localhost:{port}"), "127.0.0.1:1".to_owned(), "localhost".to_owned()] {
        let said = page.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert!(said.starts_with("HTTP/1.1 200"), "{host}: {said}");
    }
    let get = page.send(&format!("GET {answer} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(get.starts_with("HTTP/1.1 404"), "{get}");
    // Nothing of it was an answer.
    drop(caller);
    terminal.shows(&format!("[{id}] withdrawn"));
    assert!(!terminal.shown().contains("allowed by"));

    let long = page.send(&format!("GET {path} HTTP/1.1\r\nX: {}", "x".repeat(9 << 10)));
    assert!(long.contains("too long"), "{long}");
    assert!(page.send("\u{0}\r\n\r\n").contains("400 Bad Request"));
    // So many connections that send nothing are closed, and the page goes on.
    let idle: Vec<_> = (0..16).map(|_| TcpStream::connect(host).unwrap()).collect();
    until("a connection too many is closed", || page.get().is_empty());
    // Each of them has one second for the head of its request.
    until("the page answers again", || page.get().contains("<h1>Questions</h1>"));
    drop(idle);
    let mut slow = TcpStream::connect(host).unwrap();
    slow.write_all(format!("GET {path} HTTP/1.1\r\n").as_bytes()).unwrap();
    let mut said = String::new();
    slow.read_to_string(&mut said).unwrap();
    assert_eq!(said, "", "it is closed without an answer");
}

const HOOKS: &str = r#"
hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { name: guard, type: command, command: 'echo "{\"decision\":\"ask\",\"reason\":\"sure?\"}"' }
  approval:
    - hooks: [{ name: person, type: receiver, timeout: 60s }]
"#;
const CALL: &str = r#"{"session_id":"s1","tool_name":"shell","tool_input":{"cmd":"git push"}}"#;

fn asking(timeout: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_users_hooks(&HOOKS.replace("60s", timeout));
    sandbox
}

/// Runs the hooks of a call while `answers` plays the person; returns the exit code and the verdict.
fn judged(sandbox: &Sandbox, answers: impl FnOnce()) -> (i32, Value) {
    let mut child = sandbox.hookexec(["run", "pre_tool_use"]).spawn();
    child.stdin.take().unwrap().write_all(CALL.as_bytes()).unwrap();
    answers();
    let output = wait(child);
    let verdict = serde_json::from_slice(&output.stdout);
    let verdict = verdict.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().unwrap(), verdict)
}

#[track_caller]
fn denied((code, verdict): (i32, Value), why: &str) {
    assert_eq!((code, &verdict["decision"]), (2, &json!("deny")), "{verdict:#}");
    assert_eq!(verdict["allowed"], false);
    let message = verdict["message"].as_str().unwrap();
    assert!(message.contains(why), "{why}: {message}");
}

/// How to receive is told to the user. The model can't do it, and is told to say so.
#[track_caller]
fn unanswered(judged: (i32, Value), why: &str) {
    let (reason, told) = (judged.1["message"].to_string(), judged.1["system_message"].to_string());
    assert!(reason.contains("tell the user") && !reason.contains("run `hookexec"), "{reason}");
    assert!(told.contains("run `hookexec approve` in another terminal"), "{told}");
    denied(judged, why);
}

#[test]
fn an_approval_lets_one_call_run() {
    let sandbox = asking("60s");
    let terminal = receiver(&sandbox, &[]);
    let shows = |count: usize| {
        until("the question is shown", || ids(&terminal).len() == count);
        ids(&terminal).pop().unwrap()
    };
    let (code, verdict) = judged(&sandbox, || {
        let id = shows(1);
        terminal.shows("      | guard (pre_tool_use): sure?\n");
        assert_eq!(says(&sandbox, &["allow", &id]).0, 0);
    });
    assert_eq!((code, &verdict["allowed"]), (0, &json!(true)), "{verdict:#}");
    let approval = &verdict["approval"];
    assert_eq!((&approval["decision"], &approval["channel"]), (&json!("allow"), &json!("person")));
    assert!(approval["by"].as_str().unwrap().ends_with("(terminal)"), "{approval}");

    let verdict = judged(&sandbox, || {
        let id = shows(2);
        assert_eq!(says(&sandbox, &["deny", &id, "use a branch"]).0, 0);
    });
    denied(verdict, "denied this call: use a branch");

    let page = Page::of(&terminal);
    let (code, _) = judged(&sandbox, || {
        let id = shows(3);
        let question = &page.questions()[0];
        let said = page.answer(&format!("allow/{id}/{}", question["digest"].as_str().unwrap()));
        assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    });
    assert_eq!(code, 0);
}

#[test]
fn without_a_receiver_that_answers_a_call_is_denied() {
    let sandbox = asking("60s");
    unanswered(judged(&sandbox, || {}), "no receiver listens at");
    let terminal = receiver(&sandbox, &[]);
    let killed = judged(&sandbox, || {
        until("the question is shown", || ids(&terminal).len() == 1);
        terminal.signal("-KILL");
    });
    unanswered(killed, "the receiver ended before it answered");
    terminal.ends();
    // The socket of the dead receiver is still there.
    assert!(socket(&sandbox).exists());
    unanswered(judged(&sandbox, || {}), "no receiver listens at");

    let sandbox = asking("1s");
    let terminal = receiver(&sandbox, &[]);
    unanswered(judged(&sandbox, || {}), "no answer came from `hookexec approve` within 1s");
    let (_, said) = says(&sandbox, &["allow", &ids(&terminal)[0]]);
    assert!(said.contains("no open question has the ID"), "{said}");
    terminal.signal("-STOP");
    unanswered(judged(&sandbox, || {}), "no answer came from `hookexec approve` within 1s");
    terminal.signal("-CONT");

    let sandbox = Sandbox::new();
    sandbox.write_users_hooks(&HOOKS.replace("timeout: 60s", "on_error: ask"));
    let (code, verdict) = judged(&sandbox, || {});
    assert_eq!((code, &verdict["decision"]), (3, &json!("ask")), "{verdict:#}");
}

#[test]
fn a_run_that_ends_withdraws_its_question() {
    let sandbox = asking("60s");
    let terminal = receiver(&sandbox, &[]);
    let mut child = sandbox.hookexec(["run", "pre_tool_use"]).spawn();
    child.stdin.take().unwrap().write_all(CALL.as_bytes()).unwrap();
    until("the question is shown", || ids(&terminal).len() == 1);
    child.kill().unwrap();
    terminal.shows("] withdrawn: its caller is gone");
    child.wait().unwrap();
}

#[test]
fn only_a_whole_answer_for_this_call_allows_it() {
    let sandbox = asking("5s");
    let path = socket(&sandbox);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let listener = UnixListener::bind(&path).unwrap();
    let answered = |answer: &dyn Fn(&str) -> String| {
        judged(&sandbox, || {
            let (stream, _) = listener.accept().unwrap();
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let asked: Value = serde_json::from_str(&line).unwrap();
            let answer = answer(asked["approval"]["digest"].as_str().unwrap());
            // What is not read to its end is refused all the more.
            let _ = stream.get_mut().write_all(answer.as_bytes());
        })
    };
    let allow = |digest: &str| json!({ "decision": "allow", "digest": digest }).to_string();
    let (code, verdict) = answered(&|digest| format!("{}\n", allow(digest)));
    assert_eq!(code, 0, "{verdict:#}");
    denied(answered(&|_| format!("{}\n", allow(&digest("rm")))), "digest");
    denied(answered(&|digest| format!("{}\n", allow(&digest[..70]))), "digest");
    denied(answered(&|_| "{\"decision\":\"allow\"}\n".to_owned()), "digest");
    denied(answered(&|digest| allow(digest)), "ended before it answered");
    for (answer, why) in [
        ("", "ended before it answered"),
        ("\n", "no answer"),
        ("{}\n", "no answer"),
        ("yes\n", ""),
        ("{\"decision\":\"allow\"\n", ""),
    ] {
        denied(answered(&|_| answer.to_owned()), why);
    }
    let long = |digest: &str| format!("{}{}\n", " ".repeat(2 << 20), allow(digest));
    denied(answered(&long), "answered with more than 1048576 bytes");
    // The first line is the answer.
    let both =
        |digest: &str| format!("{{\"decision\":\"deny\",\"reason\":\"no\"}}\n{}\n", allow(digest));
    denied(answered(&both), "no");
}

#[test]
fn a_receiver_is_for_questions_and_takes_no_command() {
    let sandbox = Sandbox::new();
    for (event, hook, said) in [
        (
            "pre_tool_use",
            "type: receiver",
            "a receiver answers at `approval`, and not at `pre_tool_use`",
        ),
        (
            "approval",
            "type: receiver, command: ls",
            "`command` has no meaning for hooks of type `receiver`",
        ),
        (
            "approval",
            "type: receiver, with: {}",
            "`with` has no meaning for hooks of type `receiver`",
        ),
    ] {
        sandbox.write_users_hooks(&format!("hooks:\n  {event}: [{{ hooks: [{{ {hook} }}] }}]\n"));
        let run = sandbox.hookexec(["check"]).run();
        assert!(run.stderr.contains(said) || run.stdout.contains(said), "{run:?}");
        assert!(
            run.stderr.contains("hooks.yaml:2") || run.stdout.contains("hooks.yaml:2"),
            "{run:?}"
        );
    }
}
