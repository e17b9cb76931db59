//! `hookexec approve`: a person answers what hooks of type `receiver` ask.
//!
//! `asker` holds the conversation with a caller, `desk` the open questions, `screen` and `page` show
//! them, `page` and `order` take answers. Nothing is stored: when this process ends, each caller sees
//! the end of its connection, which is a failure of its hook and no permission.

mod asker;
mod desk;
mod http;
mod order;
mod page;
mod question;
mod screen;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hookexec::internal::receiver_socket;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use self::asker::Counter;
use self::desk::Desk;
use self::page::Page;
use self::screen::Screen;
use super::consent::refuse_agents;
use super::error::{CommandError, OrCommandError as _};
use super::runtime::{self, Runtime};
use super::server::Socket;
use super::{Exit, plain};

/// How many callers may wait at once.
const CALLERS: usize = 64;
/// How many requests of the page are answered at once.
const VISITORS: usize = 16;

const UNENCRYPTED: &str =
    "the page is not encrypted: who reads the traffic of its network can answer, too\n";

const EXAMPLE: &str = "\
In ~/.config/hookexec/hooks.yaml, for what other hooks answer with `ask`:
  hooks:
    approval:
      - hooks: [{ type: receiver, timeout: 10m }]

`hookexec docs approval` says who may answer what.

Examples:
  hookexec approve                        lists the calls as they come, and serves a page for the browser
  hookexec approve --listen 192.168.1.5   serves the page for a phone in the same network
  hookexec approve allow 7f3a9c21         answers in another terminal";

/// Lists the calls that hooks ask a person about, and takes the answers
///
/// Hooks of `type: receiver` below `approval:` ask here. Each question is listed in this terminal with its
/// ID, and on a page for the browser. A call runs only if you allow it in time. Ctrl-C ends the command,
/// and every open question is denied then. Nothing is stored.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    order: Option<order::Order>,

    /// Serves the page at this address of this machine, for a phone in the same network: an IP address,
    /// also with a port. Who reads the traffic of that network can answer, too
    #[arg(long, value_name = "ADDRESS", value_parser = address, default_value = "127.0.0.1")]
    listen: SocketAddr,

    /// Serves no page for the browser
    #[arg(long, conflicts_with = "listen")]
    no_page: bool,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        if cfg!(windows) {
            return Err(CommandError::usage("`hookexec approve` is not available on Windows")
                .hint("ask by a hook of type `command` or `http` below `approval:`"));
        }
        if let Some(order) = &self.order {
            return order.send().map(Exit::from);
        }
        refuse_agents()?;
        let screen = Screen::of_person()?;
        Runtime::new()?.block_on(self.receive(screen))?
    }

    async fn receive(&self, screen: Screen) -> Result<Exit, CommandError> {
        let mut signals = runtime::listen()?;
        let socket = Socket::bind(&receiver_socket().ok_or_else(order::no_home)?)?;
        let counter = Arc::new(Counter { desk: Desk::default(), screen });
        let mut page = None;
        if !self.no_page {
            let address = self.listen;
            let opened = Page::open(address).await;
            let opened = opened.or_usage(format!("can't open a port at {address} for the page"));
            let hint = "give an address of this machine and a free port, or use `--no-page`";
            let (listener, opened) = opened.map_err(|error| error.hint(hint))?;
            let warning = if address.ip().is_loopback() { "" } else { UNENCRYPTED };
            counter.screen.say(&format!("page: {}\n{warning}", opened.address()));
            page = Some((listener, opened));
        }
        let place = socket.path().display().to_string();
        counter.screen.say(&format!("waiting for questions at {}\n", plain::line(&place)));
        tokio::select! {
            biased;
            _ = signals.next() => {}
            () = visitors(page, &counter) => {}
            () = callers(&socket, &counter) => {}
        }
        if !counter.desk.is_empty() {
            counter.screen.say("`hookexec approve` ends, and its open questions are denied\n");
        }
        Ok(Exit::Success)
    }
}

/// Reads the address of `--listen`. The port may be left out.
fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let address = match (text.parse(), text.parse()) {
        (Ok(address), _) => address,
        (_, Ok(ip)) => SocketAddr::new(ip, 0),
        _ => return Err("expected an IP address, such as `192.168.1.5:8700`"),
    };
    if address.ip().is_unspecified() {
        return Err("name one address of this machine, which the phone can open");
    }
    Ok(address)
}

/// Serves the page, if there is one.
async fn visitors(page: Option<(TcpListener, Page)>, counter: &Arc<Counter>) {
    let Some((listener, page)) = page else { return std::future::pending().await };
    let page = Arc::new(page);
    let mut visits = JoinSet::new();
    loop {
        while visits.try_join_next().is_some() {}
        let Ok((stream, peer)) = listener.accept().await else {
            // Out of descriptors, most likely: without a pause this would be a busy loop.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Beyond the limit a client sees the end of its connection.
        if visits.len() < VISITORS {
            let (page, counter) = (Arc::clone(&page), Arc::clone(counter));
            visits.spawn(http::serve(stream, move |request| {
                page.answer(request, peer.ip(), &counter.desk)
            }));
        }
    }
}

/// Talks to everyone who connects.
async fn callers(socket: &Socket, counter: &Arc<Counter>) {
    let mut conversations = JoinSet::new();
    loop {
        let Some(stream) = socket.accept().await else { continue };
        while conversations.try_join_next().is_some() {}
        if conversations.len() < CALLERS {
            conversations.spawn(Arc::clone(counter).serve(stream));
        } else {
            asker::refuse(&stream, CALLERS);
        }
    }
}
