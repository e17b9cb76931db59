//! The page on the loopback: the open questions, with a form for each.

use std::fmt::Write as _;
use std::io;

use hookexec::internal::files;
use tokio::net::TcpListener;

use super::desk::{Choice, Desk};
use super::http::{Request, Response};
use super::question::{Argument, Question};
use super::screen::clock;
use crate::markup::escaped;
use crate::page::STYLE;
use crate::plain::{visible, visible_line};

const OWN_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// How many ended questions are shown.
const ENDED: usize = 20;

/// Where the page is. Who knows the token may answer.
pub(super) struct Page {
    /// The authority: what `Host` must be.
    host: String,
    token: String,
}

impl Page {
    /// Opens a port of this machine that no other machine reaches.
    pub(super) async fn open() -> io::Result<(TcpListener, Self)> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let host = listener.local_addr()?.to_string();
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
            ("POST", "answer") => match answer(request, desk) {
                Ok(()) => Response {
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
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{count}hookexec approve</title>\n\
         <style nonce=\"{nonce}\">\n{STYLE}{OWN_STYLE}</style>\n</head>\n\
         <body data-version=\"{version}\">\n<header>\n<h1>Questions</h1>\n\
         <p>Calls of agents wait here for you. One without an answer is denied.</p>\n\
         <p class=\"notice\" id=\"changed\" hidden>The list has changed: reload the page.</p>\n\
         <p class=\"notice\" id=\"ended\" hidden><code>hookexec approve</code> has ended: \
         nothing on this page can be answered.</p>\n</header>\n"
    );
    if open.is_empty() {
        page.push_str("<p id=\"none\">No question is open.</p>\n");
    }
    for (number, question) in &open {
        one(&mut page, *number, question);
    }
    ended(&mut page, desk);
    let _ = write!(page, "<script nonce=\"{nonce}\">\n{SCRIPT}</script>\n</body>\n</html>\n");
    let head = format!(
        "Content-Type: text/html; charset=utf-8\r\nContent-Security-Policy: default-src 'none'; \
         style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; form-action \
         'self'; base-uri 'none'; frame-ancestors 'none'\r\nX-Frame-Options: DENY\r\n\
         Referrer-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n"
    );
    Response { status: "200 OK", head, body: page }
}

/// Answers a question as a form says.
fn answer(request: &Request, desk: &Desk) -> Result<(), String> {
    let field = |name: &str| request.form.get(name).map(String::as_str);
    let number = field("number").and_then(|number| number.parse().ok());
    let (Some(number), Some(digest)) = (number, field("digest")) else {
        return Err("the form names no question; nothing was answered".to_owned());
    };
    let choice = match field("choice") {
        Some("once") => Choice::Once,
        Some("session") => Choice::Session,
        Some("deny") => Choice::Deny(field("reason").unwrap_or_default().trim().to_owned()),
        _ => return Err("the form has no answer; nothing was answered".to_owned()),
    };
    desk.answer(number, digest, &choice, "page")
}

/// Writes a question. Its two forms are apart: Enter in the reason of a denial approves nothing.
fn one(page: &mut String, number: u64, question: &Question) {
    let (tool, left) = (visible_line(&question.tool), question.left());
    let _ = write!(
        page,
        "<section class=\"question\" id=\"question-{number}\">\n<h2>{number}: <code>{}</code> \
         <small><time data-left=\"{}\">{}</time> left</small></h2>\n",
        escaped(&tool),
        left.as_secs(),
        clock(left)
    );
    question.arguments.iter().for_each(|it| argument(page, it));
    page.push_str("<ul class=\"why\">\n");
    for reason in &question.reasons {
        let reason = escaped(&visible_line(reason));
        let _ = writeln!(page, "<li>asked by <span class=\"said\">{reason}</span></li>");
    }
    let (origin, digest) = (visible_line(&question.origin()), escaped(&question.digest));
    let _ = write!(
        page,
        "<li>from <span class=\"said\">{}</span></li>\n<li><code>{digest}</code></li>\n</ul>\n",
        escaped(&origin)
    );
    let hidden = format!(
        "<form method=\"post\" action=\"answer\"><input type=\"hidden\" name=\"number\" \
         value=\"{number}\"><input type=\"hidden\" name=\"digest\" value=\"{digest}\">"
    );
    let session = if question.session.id.is_empty() {
        ""
    } else {
        "<button name=\"choice\" value=\"session\">Approve for this session</button>"
    };
    let _ = write!(
        page,
        "<div class=\"answers\">{hidden}<button class=\"allow\" name=\"choice\" value=\"once\">\
         Approve once</button>{session}</form>\n{hidden}<input name=\"reason\" \
         placeholder=\"Reason, for the model\" autocomplete=\"off\"><button class=\"deny\" \
         name=\"choice\" value=\"deny\">Deny</button></form></div>\n</section>\n"
    );
}

fn argument(page: &mut String, argument: &Argument) {
    let Argument { name, text, note, is_old } = argument;
    let (name, text) = (escaped(&visible_line(name)), escaped(&visible(text)));
    let class = if *is_old { " class=\"old\"" } else { "" };
    let _ = writeln!(page, "<h3><code>{name}</code>{note}</h3>\n<pre{class}>{text}</pre>");
}

fn ended(page: &mut String, desk: &Desk) {
    let ended = desk.ended();
    if ended.is_empty() {
        return;
    }
    page.push_str("<section>\n<h2>Ended</h2>\n<table id=\"ended-questions\"><tbody>\n");
    for one in ended.iter().take(ENDED) {
        let _ = writeln!(
            page,
            "<tr><td class=\"n\">{}</td><td><code>{}</code></td><td class=\"said\">{}</td></tr>",
            one.number,
            escaped(&visible_line(&one.tool)),
            escaped(&visible_line(&one.said))
        );
    }
    page.push_str("</tbody></table>\n</section>\n");
}
