//! Hooks of the types `http`, `model` and `mcp` keep the contract of handlers.

use futures_util::future::join_all;
use hookexec::testing::ContractKit;
use serde_json::{Value, json};

use super::*;
use crate::registry;
use crate::server::{Server, answer};

/// Returns a hook of each type that asks `server`.
fn hooks(server: &Server) -> [Value; 3] {
    let (url, open) = (&server.url, true);
    let model = json!({
        "api": "openai-chat", "url": url, "model": "judge-1", "prompt": "Deny what deletes.",
        "allow_private": open,
    });
    let mcp = json!({ "url": url, "tool": "guard", "allow_private": open });
    [
        json!({ "type": "http", "with": local(server), "max_output": "1KiB" }),
        json!({ "type": "model", "with": model, "max_output": "1KiB" }),
        json!({ "type": "mcp", "with": mcp, "max_output": "1KiB" }),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_fails_or_hangs_breaks_no_contract() {
    let kit = ContractKit::new(registry::everything());
    let sound = Server::new(answer("200 OK", "{}")).await;
    let [http, ..] = hooks(&sound);
    kit.answers(&http).await.unwrap();
    let huge =
        Server::new(answer("200 OK", &format!("{{\"reason\":\"{}\"}}", "x".repeat(2048)))).await;
    for hook in hooks(&huge) {
        kit.fails(&hook, "more than 1024 bytes").await.unwrap();
    }
    let wrong = Server::new(answer("200 OK", "<html>sign in</html>")).await;
    for hook in hooks(&wrong) {
        kit.fails(&hook, "").await.unwrap();
    }
    let mut hanging = Vec::new();
    for partial in ["", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{"] {
        for kind in 0..3 {
            let kit = &kit;
            hanging.push(async move {
                let server = Server::hanging(partial).await;
                kit.hangs(&hooks(&server)[kind], || server.open()).await.unwrap();
            });
        }
    }
    join_all(hanging).await;
}
