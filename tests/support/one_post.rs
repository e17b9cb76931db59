//! A server that answers one post.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

pub(crate) struct OnePost {
    pub(crate) port: u16,
    /// The head of the request, and its body.
    pub(crate) request: JoinHandle<(String, String)>,
}

impl OnePost {
    /// Returns a server that answers with `status` and `body`.
    pub(crate) fn new(status: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nLocation: http://127.0.0.1:1/\r\n\r\n{body}"
        );
        let request = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert!(reader.read_line(&mut head).unwrap() > 0);
            }
            let length = head.lines().find_map(|line| {
                line.to_lowercase().strip_prefix("content-length: ")?.parse().ok()
            });
            let mut body = vec![0; length.unwrap()];
            reader.read_exact(&mut body).unwrap();
            reader.into_inner().write_all(answer.as_bytes()).unwrap();
            (head, String::from_utf8(body).unwrap())
        });
        Self { port, request }
    }
}
