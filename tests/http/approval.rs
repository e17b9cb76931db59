//! An http hook as the channel to a person.

use hookexec::executor::DispatchOptions;
use hookexec::{Decision, Event, Executor, Verdict};
use serde_json::{Value, json};

use crate::server::{Request, Server};
use crate::{call, load};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn reply(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}

/// Returns the answer of a person who allows what the first request asked.
fn allowed(requests: &[Request]) -> String {
    let question: Value = serde_json::from_str(&requests[0].body).unwrap();
    let digest = &question["approval"]["digest"];
    json!({ "decision": "allow", "digest": digest, "by": "ann" }).to_string()
}

fn executor(server: &Server, with: Value) -> Executor {
    let mut with = with;
    with["url"] = format!("{}/ask?x=1", server.url).into();
    with["allow_private"] = true.into();
    let asks = r#"pre_tool_use: [{ hooks: [{ type: command, command: "echo '{\"decision\":\"ask\"}'" }] }]"#;
    let phone = format!("{{ type: http, name: phone, with: {with}, timeout: 20s }}");
    load(&format!("{asks}\napproval: [{{ hooks: [{phone}] }}]")).unwrap()
}

async fn decide(executor: &Executor) -> Verdict {
    let input = call("ls");
    let verdict = executor.dispatch(Event::PreToolUse, &input).await;
    assert_eq!(verdict.decision, Some(Decision::Ask), "{verdict:#?}");
    executor.approve(verdict, &input, DispatchOptions::default()).await
}

#[tokio::test]
async fn a_server_may_hold_the_request_until_a_person_answers() {
    let server = Server::answering(|requests| reply("200 OK", "", &allowed(requests))).await;
    let verdict = decide(&executor(&server, json!({}))).await;
    assert_eq!(verdict.decision, Some(Decision::Allow), "{verdict:#?}");
    let report = verdict.approval.unwrap();
    assert_eq!((report.by.as_deref(), report.channel.as_deref()), (Some("ann"), Some("phone")));
}

#[tokio::test]
async fn a_server_may_say_where_the_answer_will_be() {
    for form in ["absolute", "/answers/7", "answers/7"] {
        let server = Server::answering(move |requests| match requests.len() {
            1 | 2 => {
                let host = requests[0]
                    .head
                    .lines()
                    .find_map(|line| line.to_lowercase().strip_prefix("host: ").map(str::to_owned));
                let origin = format!("http://{}", host.unwrap());
                let absolute = format!("{origin}/answers/7");
                let place = if form == "absolute" { &absolute } else { form };
                // The place stays until the server names another one.
                let headers = match requests.len() {
                    1 => format!("Location: {place}\r\nRetry-After: 1\r\n"),
                    _ => "Retry-After: 1\r\n".to_owned(),
                };
                reply("202 Accepted", &headers, "")
            }
            _ => reply("200 OK", "", &allowed(requests)),
        })
        .await;
        let verdict = decide(&executor(&server, json!({}))).await;
        assert_eq!(verdict.decision, Some(Decision::Allow), "{verdict:#?}");
        let lines: Vec<String> = server.requests().iter().map(first_line).collect();
        let later = "GET /answers/7 HTTP/1.1";
        assert_eq!(lines, ["POST /ask?x=1 HTTP/1.1", later, later]);
    }
}

fn first_line(request: &Request) -> String {
    request.head.lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn what_leads_elsewhere_or_nowhere_is_a_denial() {
    for (status, headers, cause) in [
        ("202 Accepted", "", "without a `Location` of its own"),
        ("202 Accepted", "Location: https://elsewhere.example/7\r\n", "without a `Location`"),
        ("202 Accepted", "Location: //127.0.0.1:1/7\r\n", "without a `Location`"),
        ("303 See Other", "Location: /answers/7\r\n", "answered 303"),
        ("204 No Content", "", "it gave no answer"),
        ("500 Oh No", "", "answered 500"),
    ] {
        let text = reply(status, headers, "");
        let server = Server::answering(move |_| text.clone()).await;
        let verdict = decide(&executor(&server, json!({}))).await;
        assert_eq!(verdict.decision, Some(Decision::Deny), "{status}");
        assert!(verdict.message.as_ref().unwrap().contains(cause), "{verdict:#?}");
        assert_eq!(server.requests().len(), 1, "{status}: {headers}");
    }
}

#[tokio::test]
async fn a_body_of_the_first_reply_is_no_answer_with_202() {
    let server = Server::answering(|requests| match requests.len() {
        1 => reply("202 Accepted", "Location: /7\r\nRetry-After: 0\r\n", &allowed(requests)),
        _ => reply("200 OK", "", r#"{"decision": "deny", "reason": "no"}"#),
    })
    .await;
    let verdict = decide(&executor(&server, json!({}))).await;
    assert_eq!(verdict.message.as_deref(), Some("no"), "{verdict:#?}");
}

#[tokio::test]
async fn with_a_secret_each_request_is_signed() {
    let server = Server::answering(|requests| match requests.len() {
        1 => reply("202 Accepted", "Location: /7\r\nRetry-After: 1\r\n", ""),
        _ => reply("200 OK", "", &allowed(requests)),
    })
    .await;
    let verdict = decide(&executor(&server, json!({ "secret": SECRET }))).await;
    assert_eq!(verdict.decision, Some(Decision::Allow), "{verdict:#?}");
    // Another implementation: Python's own.
    let program = "import base64, hashlib, hmac, json, sys
r = json.load(sys.stdin)
text = '.'.join([r['webhook-id'], r['webhook-timestamp'], r['body']])
mac = hmac.new(base64.b64decode(r['secret'][6:]), text.encode(), hashlib.sha256)
print('v1,' + base64.b64encode(mac.digest()).decode())";
    let requests = server.requests();
    for request in &requests {
        let header = |name: &str| {
            let found = request.head.lines().find_map(|line| line.strip_prefix(name));
            found.unwrap_or_else(|| panic!("{name}: {}", request.head)).to_owned()
        };
        let question: Value = serde_json::from_str(&requests[0].body).unwrap();
        assert_eq!(header("webhook-id: "), question["approval"]["id"].as_str().unwrap());
        let parts = json!({ "webhook-id": header("webhook-id: "), "body": request.body,
            "webhook-timestamp": header("webhook-timestamp: "), "secret": SECRET });
        let python = duct::cmd!("python3", "-c", program).stdin_bytes(parts.to_string());
        assert_eq!(python.read().unwrap(), header("webhook-signature: "));
    }
}

#[tokio::test]
async fn a_secret_that_is_missing_or_wrong_is_said() {
    let server = Server::answering(|requests| reply("200 OK", "", &allowed(requests))).await;
    let verdict = decide(&executor(&server, json!({ "secret": "${env.MISSING}" }))).await;
    assert_eq!(verdict.decision, Some(Decision::Deny), "{verdict:#?}");
    assert!(verdict.message.unwrap().contains("`MISSING`, which is not set"));
    let with = json!({ "url": "https://a.example", "secret": "${env.TOKEN}" });
    let hook = format!("approval: [{{ hooks: [{{ type: http, with: {with} }}] }}]");
    let problem = load(&hook).unwrap_err();
    assert!(problem.contains("`secret` must be `whsec_`"), "{problem}");
    assert!(!problem.contains("correct-horse"), "{problem}");
}
