//! `http_post` against a server on this machine.

use crate::support::refused;

#[cfg(not(feature = "http"))]
#[test]
fn a_build_without_it_says_so_at_load() {
    assert_eq!(
        refused("http_post", &["https://example.com"]),
        "this hookexec was built without the feature `http`"
    );
}

#[cfg(feature = "http")]
mod with_client {
    use std::net::TcpListener;

    use hookexec_calls::Surroundings;
    use serde_json::{Value, json};

    use super::refused;
    use crate::one_post::OnePost;
    use crate::support::{args, builtin, input};

    /// Returns a server that answers with `status`, and an address with a key.
    fn server(status: &str) -> (OnePost, String) {
        let server = OnePost::new(status, "");
        let url = format!("http://127.0.0.1:{}/hook?key=k1", server.port);
        (server, url)
    }

    fn post(arguments: &[&str], event: Value) -> Result<(), String> {
        let surroundings = Surroundings::of_process().with_env([
            ("ACME_TOKEN", "correct-horse"),
            ("http_proxy", "http://127.0.0.1:1"),
            ("HTTP_PROXY", "http://127.0.0.1:1"),
        ]);
        let prepared = builtin("http_post").prepare(&surroundings, &args(arguments)).unwrap();
        prepared(&input(event))
            .map(|answer| assert_eq!(answer, None))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_event_is_posted_without_secrets() {
        let (server, url) = server("204 No Content");
        let event = json!({ "session_id": "s", "hook_event_name": "stop", "stop_response": "it is correct-horse" });
        post(&[&url, "--allow-private", "--header=Authorization: Bearer $ACME_TOKEN"], event)
            .unwrap();
        let (head, body) = server.request.join().unwrap();
        assert!(head.starts_with("POST /hook?key=k1 HTTP/1.1\r\n"), "{head}");
        let head = head.to_lowercase();
        assert!(head.contains("content-type: application/json\r\n"), "{head}");
        assert!(head.contains("authorization: bearer correct-horse\r\n"), "{head}");
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["stop_response"], "it is [REDACTED:env:ACME_TOKEN]");
    }

    #[test]
    fn fields_of_the_event_are_inserted_without_secrets() {
        let event = json!({ "session_id": "correct-", "turn_id": "horse", "tool_name": "shell", "tool_input": { "command": "say \"correct-horse\"", "n": 1 } });
        for (text, expected) in [
            (
                r#"{"text": "ran ${tool_input.command}", "n": "${tool_input.n}", "a": "$5"}"#,
                r#"{"a":"$5","n":1,"text":"ran say \"[REDACTED:env:ACME_TOKEN]\""}"#,
            ),
            ("${tool_name}: ${tool_input.n}", "shell: 1"),
            ("${session_id}${turn_id}", "[REDACTED:env:ACME_TOKEN]"),
            ("${tool_input}", r#"{"command":"say \"[REDACTED:env:ACME_TOKEN]\"","n":1}"#),
        ] {
            let (server, url) = server("200 OK");
            post(&[&url, text, "--allow-private"], event.clone()).unwrap();
            assert_eq!(server.request.join().unwrap().1, expected);
        }
        let error = post(&["http://127.0.0.1:1/", "${prompt}", "--allow-private"], event);
        assert!(error.unwrap_err().contains("the input has no `prompt`"));
    }

    #[test]
    fn a_text_is_posted_as_it_stands() {
        let (server, url) = server("200 OK");
        post(&[&url, "done ä", "--allow-private"], json!({})).unwrap();
        let (head, body) = server.request.join().unwrap();
        assert_eq!(body, "done ä");
        assert!(
            head.to_lowercase().contains("content-type: text/plain; charset=utf-8\r\n"),
            "{head}"
        );
    }

    #[test]
    fn what_is_no_success_is_a_failure_that_keeps_the_address_to_itself() {
        for status in ["500 Oh No", "404 Not Found", "302 Found"] {
            let (server, url) = server(status);
            let error = post(&[&url, "--allow-private"], json!({})).unwrap_err();
            assert!(error.starts_with("the request to 127.0.0.1 failed: "), "{error}");
            assert!(!error.contains("k1"), "{error}");
            server.request.join().unwrap();
        }
    }

    #[test]
    fn nothing_is_sent_to_this_machine_or_its_networks() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        for host in [
            "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "[::1]",
            "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1",
        ] {
            let error = post(&[&format!("http://{host}:{port}/")], json!({})).unwrap_err();
            // Some systems do not take numbers like these for addresses at all.
            let refused = error.contains("is not public");
            let unknown =
                error.contains("lookup") || error.contains("not found") || error.contains("uri");
            assert!(refused || unknown, "{host}: {error}");
            assert!(
                refused || !matches!(host, "127.0.0.1" | "localhost" | "0.0.0.0" | "[::1]"),
                "{host}: {error}"
            );
        }
        assert!(listener.accept().is_err(), "somebody connected");
    }

    #[test]
    fn what_can_not_be_posted_is_refused_at_load() {
        assert_eq!(refused("http_post", &[]), "it needs the address to post to, `URL`");
        for url in ["ftp://x/", "example.com", "", "https://", "/x"] {
            assert!(refused("http_post", &[url]).contains("must be `https://...`"), "{url}");
        }
        let url = "https://example.com";
        for text in ["{\"n\": ${tool_input.n}}", " {\"a\": 1,}", "[${tool_name}]"] {
            assert!(refused("http_post", &[url, text]).contains("is not valid JSON"), "{text}");
        }
        let form = "--header=Content-Type: application/x-www-form-urlencoded";
        assert!(refused("http_post", &[url, "a=${prompt}&b=c", form]).contains("a form takes no"));
        assert!(refused("http_post", &[url, "a", "b"]).contains("found a third: `b`"));
        assert!(
            refused("http_post", &[url, "--allow-all"]).contains("unknown option `--allow-all`")
        );
        assert!(
            refused("http_post", &[url, "--header=x"]).contains("must be `--header=NAME:VALUE`")
        );
        assert!(
            refused("http_post", &[url, "--header=x y:z"])
                .contains("must be `--header=NAME:VALUE`")
        );
        assert!(refused("http_post", &[url, "--header=x:$NONE"]).contains("`NONE` is not set"));
    }
}
