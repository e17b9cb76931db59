//! A server of HTTP on the loopback: a function answers each request.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// A request, with its head in lower case.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body).ok()?;
        Some(Self { head, body })
    }

    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }
}

/// An answer: its status, further headers, and its body.
pub(crate) type Reply = (&'static str, String, Vec<u8>);

/// Starts a server, and returns its address as `HOST:PORT`. It hangs up where `answer` returns
/// nothing, and takes one request of each connection.
pub(crate) fn serve(answer: impl Fn(&Request) -> Option<Reply> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answered = Request::read(&stream).and_then(|request| answer(&request));
            if let Some(reply) = answered {
                let _ = send(stream, reply);
            }
        }
    });
    host
}

fn send(mut stream: TcpStream, (status, headers, body): Reply) -> std::io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), &body].concat())
}
