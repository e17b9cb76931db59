//! `hookexec approve`: a person answers what hooks of type `receiver` ask.
//!
//! `asker` holds the conversation with a caller, `desk` the open questions, `screen` and `page` show
//! them and take answers. Nothing is stored: when this process ends, each caller sees the end of its
//! connection, which is a failure of its hook and no permission.

mod asker;
mod desk;
mod http;
mod page;
mod question;
mod screen;

use std::io::IsTerminal as _;
use std::sync::Arc;

use hookexec::internal::receiver_socket;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use self::desk::Desk;
use self::page::Page;
use self::screen::Screen;
use super::consent::refuse_agents;
use super::error::{CommandError, OrCommandError as _};
use super::runtime::{self, Runtime};
use super::server::Socket;
use super::{Exit, system};

/// How many callers may wait at once.
const CALLERS: usize = 64;

const EXAMPLE: &str = "\
In ~/.config/hookexec/hooks.yaml, for what other hooks answer with `ask`:
  hooks:
    approval:
      - hooks: [{ type: receiver, timeout: 10m }]

`hookexec docs approval` says who may answer what.

Example: hookexec approve";

/// Shows the calls that hooks ask a person about, and takes the answers
///
/// Hooks of `type: receiver` below `approval:` ask here. Questions are listed in this terminal, and on a
/// page in the browser. A call runs only if you approve it in time; when this command ends, every
/// open question is denied. Nothing is stored: a restart forgets what you approved for a session.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// Serves no page for the browser
    #[arg(long)]
    no_page: bool,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        if cfg!(windows) {
            return Err(CommandError::usage("`hookexec approve` is not available on Windows")
                .hint("ask by a hook of type `command` or `http` below `approval:`"));
        }
        refuse_agents()?;
        let (keyboard, screen) = terminal()?;
        let screen = Screen::new(screen);
        Runtime::new()?.block_on(self.receive(screen.into(), screen::lines(keyboard)))?
    }

    async fn receive(
        &self,
        screen: Arc<Screen>,
        mut typed: tokio::sync::mpsc::Receiver<String>,
    ) -> Result<Exit, CommandError> {
        let mut signals = runtime::listen()?;
        let path = receiver_socket().ok_or_else(|| {
            CommandError::usage("the socket needs a home directory").hint("set HOME")
        })?;
        let socket = Socket::bind(path)?;
        let desk = Arc::new(Desk::default());
        screen.say(screen::HELP);
        let mut page = None;
        if !self.no_page {
            let opened = Page::open().await.or_usage("can't open a port for the page");
            let opened = opened.map_err(|error| error.hint("use `--no-page`"))?;
            screen.say(&format!("page: {}\n", opened.1.address()));
            page = Some(opened);
        }
        screen.say(&format!("waiting for questions at {}\n", socket.path().display()));
        let typing = async {
            while let Some(line) = typed.recv().await {
                screen.obey(&line, &desk);
            }
        };
        tokio::select! {
            biased;
            _ = signals.next() => {}
            () = typing => {}
            () = serve_page(page, &desk) => {}
            () = callers(&socket, &desk, &screen) => {}
        }
        Ok(Exit::Success)
    }
}

/// Serves the page, if there is one.
async fn serve_page(page: Option<(TcpListener, Page)>, desk: &Arc<Desk>) {
    let Some((listener, page)) = page else { return std::future::pending().await };
    let desk = Arc::clone(desk);
    http::serve(&listener, move |request| page.answer(request, &desk)).await;
}

/// Talks to everyone who connects.
async fn callers(socket: &Socket, desk: &Arc<Desk>, screen: &Arc<Screen>) {
    let seats = Arc::new(Semaphore::new(CALLERS));
    let mut conversations = JoinSet::new();
    loop {
        let accepted = socket.accept().await;
        while conversations.try_join_next().is_some() {}
        let Some(stream) = accepted else { continue };
        let Ok(seat) = Arc::clone(&seats).try_acquire_owned() else {
            asker::refuse(&stream, CALLERS);
            continue;
        };
        let (desk, screen) = (Arc::clone(desk), Arc::clone(screen));
        conversations.spawn(async move {
            asker::serve(stream, &desk, &screen).await;
            drop(seat);
        });
    }
}

/// Returns the keyboard and the screen of the person who started this.
fn terminal() -> Result<(std::fs::File, std::fs::File), CommandError> {
    let hint = "run it in a terminal of its own, outside of the agent";
    if !std::io::stdin().is_terminal() {
        return Err(
            CommandError::usage("a person answers here: stdin is not a terminal").hint(hint)
        );
    }
    system::terminal().or_usage("can't open the terminal").map_err(|error| error.hint(hint))
}
