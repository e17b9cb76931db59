//! A server that does wrong, for hooks that post.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

#[path = "../support/request.rs"]
mod request;

use request::Request;

/// What a server does with a request.
#[derive(Clone, Copy)]
pub(crate) enum Reply {
    /// It answers with this status and this body. A `ÿ` is a byte that is not UTF-8, and `@huge` two
    /// megabytes.
    Whole(&'static str, &'static str),
    /// The same after a while.
    Late(&'static str),
    /// It writes this and closes the connection.
    Cut(&'static str),
    /// It writes this and holds the connection.
    Held(&'static str),
    /// There is no server.
    Nobody,
}

pub(crate) struct Server {
    pub(crate) url: String,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Starts a server. As a model, the body is what the model says.
    pub(crate) async fn start(reply: Reply, is_model: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        if matches!(reply, Reply::Nobody) {
            drop(listener);
            return Self { url, task: tokio::spawn(async {}) };
        }
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(BufReader::new(stream), reply, is_model));
            }
        });
        Self { url, task }
    }
}

async fn serve(mut stream: BufReader<TcpStream>, reply: Reply, is_model: bool) -> Option<()> {
    let request = Request::read(&mut stream).await?;
    assert!(request.head.starts_with("POST ") && !request.body.is_empty(), "{request:?}");
    let bytes = match reply {
        Reply::Whole(status, body) => whole(status, body, is_model),
        Reply::Late(body) => {
            tokio::time::sleep(Duration::from_millis(200)).await;
            whole("200 OK", body, is_model)
        }
        Reply::Cut(text) | Reply::Held(text) => text.as_bytes().to_vec(),
        Reply::Nobody => Vec::new(),
    };
    stream.get_mut().write_all(&bytes).await.ok()?;
    if matches!(reply, Reply::Held(_)) {
        let _ = stream.read(&mut [0]).await;
    }
    Some(())
}

fn whole(status: &str, body: &str, is_model: bool) -> Vec<u8> {
    let mut body = body.replace("@huge", &"x".repeat(2 << 20));
    if is_model && status == "200 OK" {
        let message = json!({ "role": "assistant", "content": body });
        let choices = json!([{ "index": 0, "finish_reason": "stop", "message": message }]);
        body = json!({ "choices": choices }).to_string();
    }
    let latin = body.chars().map(|letter| u8::try_from(letter).unwrap());
    let body: Vec<u8> = latin.collect();
    let mut reply =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    reply.extend(body);
    reply
}
