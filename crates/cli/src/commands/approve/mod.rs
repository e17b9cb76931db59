//! `hookexec approve`: a person answers what hooks of type `receiver` ask.
//!
//! `hookexec_serve::approve` holds the questions; `screen` shows them in this terminal, and an
//! [`Order`] answers from another one.

mod screen;

use std::net::SocketAddr;
use std::sync::Arc;

use hookexec_remote::receiver_socket;
use hookexec_serve::approve::{self, Choice, Counter, Desk, Page, Reply, callers, visitors};
use hookexec_serve::server::Socket;
use hookexec_setup::program::KeepError;

use self::screen::Screen;
use crate::console::STYLE;
use crate::console::consent::refuse_agents;
use crate::error::{CommandError, OrCommandError as _};
use crate::runtime::{self, Runtime};
use crate::{Exit, plain};

const UNENCRYPTED: &str =
    "the page is not encrypted: a reader of the traffic in its network can answer, too\n";

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
    order: Option<Order>,

    /// Serves the page at this address of this machine, for a phone in the same network: an IP address,
    /// also with a port. A reader of the traffic in that network can answer, too
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
        let socket = Socket::bind(&receiver_socket().ok_or(KeepError::NoHome)?)?;
        let counter = Arc::new(Counter { desk: Desk::default(), screen });
        let mut page = None;
        if !self.no_page {
            let address = self.listen;
            let opened = Page::open(address, STYLE).await;
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
        Ok(Exit::SUCCESS)
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

/// An order to the process that holds the questions.
#[derive(Debug, clap::Subcommand)]
enum Order {
    /// Lets the call run
    Allow {
        /// The ID of the question
        id: String,
    },
    /// Denies the call
    Deny {
        /// The ID of the question
        id: String,
        /// Why; the model reads it
        #[arg(trailing_var_arg = true)]
        reason: Vec<String>,
    },
    /// Shows all of a call whose long texts were cut
    Show {
        /// The ID of the question
        id: String,
    },
}

impl Order {
    /// Sends the order, and shows what became of it.
    fn send(&self) -> Result<(), CommandError> {
        refuse_agents()?;
        let screen = Screen::of_person()?;
        let path = receiver_socket().ok_or(KeepError::NoHome)?;
        let (id, choice) = match self {
            Self::Allow { id } => (id, Some(Choice::Allow)),
            Self::Deny { id, reason } => (id, Some(Choice::Deny(reason.join(" ")))),
            Self::Show { id } => (id, None),
        };
        let order = (id.clone(), choice, screen.columns());
        let sent = approve::send(&path, &order);
        let reply = Runtime::new()?.run(sent)?.map_err(|problem| {
            let problem = format!("`hookexec approve` at {} {problem}", path.display());
            CommandError::usage(problem).hint("`hookexec approve` must run in another terminal")
        })?;
        match reply {
            Reply::Done(done) => screen.say(&format!("{}\n", done.trim_end())),
            Reply::Refused(problem) => return Err(CommandError::usage(problem)),
        }
        Ok(())
    }
}
