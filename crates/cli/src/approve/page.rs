//! The page: the open questions, with a form for each.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr};

use hookexec::internal::files;
use tokio::net::TcpListener;

use super::desk::{Choice, Desk};
use super::http::{Request, Response};
use super::question::{ENTRIES, Question, cut};
use super::screen::{self, clock};
use crate::markup::{escaped, filled};
use crate::page::STYLE;
use crate::plain::visible_line;

const PAGE: &str = include_str!("page.html");
const OWN_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// How many ended questions are shown.
const ENDED: usize = 20;

/// The place of the page. Who knows the token may answer.
pub(super) struct Page {
    /// The authority: what `Host` must be.
    host: String,
    token: String,
}

impl Page {
    /// Opens a port at `address`.
    pub(super) async fn open(address: SocketAddr) -> io::Result<(TcpListener, Self)> {
        let listener = TcpListener::bind(address).await?;
        let mut host = listener.local_addr()?.to_string();
        // A browser leaves the usual port out.
        if address.port() == 80 {
            host.truncate(host.len() - ":80".len());
        }
        Ok((listener, Self { host, token: files::random_id()? }))
    }

    /// Returns its address.
    pub(super) fn address(&self) -> String {
        format!("{}/{}/", self.origin(), self.token)
    }

    fn origin(&self) -> String {
        format!("http://{}", self.host)
    }

    /// Answers a request. Without the token there is nothing; other pages in a browser are kept out
    /// by `Host`, which DNS rebinding can't forge, and by `Origin`.
    pub(super) fn answer(&self, request: &Request, desk: &Desk) -> Response {
        if request.host.as_deref() != Some(&self.host) {
            return Response::text("403 Forbidden", "the request is for another host");
        }
        let (token, path) =
            request.path.trim_start_matches('/').split_once('/').unwrap_or_default();
        // The time that it takes to compare digests tells nothing of the token.
        if files::digest(token.as_bytes()) != files::digest(self.token.as_bytes()) {
            return Response::text(
                "404 Not Found",
                "open the address that `hookexec approve` shows",
            );
        }
        let is_foreign = match &request.origin {
            Some(origin) => *origin != self.origin(),
            None => request.method != "GET",
        };
        if is_foreign {
            return Response::text("403 Forbidden", "the request comes from another page");
        }
        match (&*request.method, path) {
            ("GET", "") => page(desk),
            ("GET", "version") => Response::text("200 OK", &desk.version().to_string()),
            ("GET", id) => match desk.question(id) {
                Ok(question) => {
                    Response::text("200 OK", &screen::text(id, &question, usize::MAX, true))
                }
                Err(problem) => Response::text("404 Not Found", &problem),
            },
            ("POST", "answer") => match answer(request, desk) {
                Ok(_) => Response {
                    status: "303 See Other",
                    head: format!("Location: {}\r\n", self.address()),
                    body: String::new(),
                },
                Err(problem) => Response::text("409 Conflict", &problem),
            },
            _ => Response::text("404 Not Found", "there is nothing here"),
        }
    }
}

/// Returns the page as it is now.
fn page(desk: &Desk) -> Response {
    let Ok(nonce) = files::random_id() else {
        return Response::text("500 Internal Server Error", "the system has no random numbers");
    };
    let (version, open) = (desk.version(), desk.open());
    let count = if open.is_empty() { String::new() } else { format!("({}) ", open.len()) };
    let mut questions = String::new();
    for (id, question) in &open {
        one(&mut questions, id, question);
    }
    if open.is_empty() {
        questions.push_str("<p id=\"none\">No question is open.</p>\n");
    }
    let body = filled(
        PAGE,
        &[
            ("count", &count),
            ("nonce", &nonce),
            ("style", &format!("{STYLE}{OWN_STYLE}")),
            ("version", &version.to_string()),
            ("questions", &questions),
            ("ended", &ended(desk)),
            ("script", SCRIPT),
        ],
    );
    let head = format!(
        "Content-Type: text/html; charset=utf-8\r\nContent-Security-Policy: default-src 'none'; \
         style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; form-action \
         'self'; base-uri 'none'; frame-ancestors 'none'\r\nX-Frame-Options: DENY\r\n\
         Referrer-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n"
    );
    Response { status: "200 OK", head, body }
}

/// Answers a question as a form says.
fn answer(request: &Request, desk: &Desk) -> Result<String, String> {
    let field = |name: &str| request.form.get(name).map(String::as_str);
    let (Some(id), Some(digest)) = (field("id"), field("digest")) else {
        return Err("the form names no question; nothing was answered".to_owned());
    };
    let choice = match field("choice") {
        Some("allow") => Choice::Allow,
        Some("deny") => Choice::Deny(field("reason").unwrap_or_default().trim().to_owned()),
        _ => return Err("the form has no answer; nothing was answered".to_owned()),
    };
    desk.answer(id, Some(digest), &choice, &place(request.peer))
}

/// Returns where an answer comes from, for the log of decisions.
fn place(peer: IpAddr) -> String {
    if peer.is_loopback() { "page".to_owned() } else { format!("page, from {peer}") }
}

/// Writes a question. Its two forms are apart: Enter in the reason of a denial allows nothing.
fn one(page: &mut String, id: &str, question: &Question) {
    let left = question.left();
    let _ = writeln!(
        page,
        "<section class=\"question\" id=\"question-{id}\">\n<h2><code>{}</code> <small>{id}, \
         <time data-left=\"{}\">{}</time> left</small></h2>",
        part(&question.tool),
        left.as_secs(),
        clock(left)
    );
    for argument in question.arguments.iter().take(ENTRIES) {
        let (name, text, note) = (part(&argument.name), part(&argument.text), argument.note);
        let class = if argument.is_old { " class=\"old\"" } else { "" };
        let _ = writeln!(page, "<h3><code>{name}</code>{note}</h3>\n<pre{class}>{text}</pre>");
    }
    more(page, "p", question.arguments.len(), "arguments");
    page.push_str("<ul class=\"why\">\n");
    for reason in question.reasons.iter().take(ENTRIES) {
        let _ = writeln!(page, "<li>asked by <span class=\"said\">{}</span></li>", part(reason));
    }
    more(page, "li", question.reasons.len(), "reasons");
    let (origin, digest) = (part(&question.origin), escaped(&question.digest));
    let _ = writeln!(
        page,
        "<li>from <span class=\"said\">{origin}</span></li>\n<li><code>{digest}</code></li>\n</ul>"
    );
    if question.is_cut() {
        let _ = writeln!(
            page,
            "<p class=\"notice\">This is not all of the call: <a href=\"{id}\">show all of it</a>.</p>"
        );
    }
    let form = format!(
        "<form method=\"post\" action=\"answer\"><input type=\"hidden\" name=\"id\" \
         value=\"{id}\"><input type=\"hidden\" name=\"digest\" value=\"{digest}\">"
    );
    let _ = writeln!(
        page,
        "<div class=\"answers\">{form}<button class=\"allow\" name=\"choice\" value=\"allow\">\
         Allow</button></form>\n{form}<input name=\"reason\" placeholder=\"Reason, for the model\" \
         autocomplete=\"off\"><button class=\"deny\" name=\"choice\" value=\"deny\">Deny</button>\
         </form></div>\n</section>"
    );
}

/// Returns the rows of a text that are shown, and says how much is left out.
fn part(text: &str) -> String {
    let (shown, left) = cut(text);
    let mut part = escaped(shown);
    if left > 0 {
        let _ = write!(part, "\n<b class=\"cut\">... and {left} characters more</b>");
    }
    part
}

/// Says how many of `count` things are left out.
fn more(page: &mut String, tag: &str, count: usize, what: &str) {
    if count > ENTRIES {
        let left = count - ENTRIES;
        let _ = writeln!(page, "<{tag}><b class=\"cut\">... and {left} {what} more</b></{tag}>");
    }
}

fn ended(desk: &Desk) -> String {
    let mut rows = String::new();
    for one in desk.ended().iter().take(ENDED) {
        let (id, tool, said) = (&one.id, part(&one.tool), escaped(&visible_line(&one.said)));
        let _ = writeln!(
            rows,
            "<tr><td>{id}</td><td><code>{tool}</code></td><td class=\"said\">{said}</td></tr>"
        );
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<section>\n<h2>Ended</h2>\n<table id=\"ended-questions\"><tbody>\n{rows}</tbody></table>\n\
         </section>\n"
    )
}
