//! A person answers what hooks of type `receiver` ask.
//!
//! `asker` holds the conversation with a caller, `desk` the open questions, a [`Screen`] and `page` show
//! them, `page` and an [`Order`] take answers. Nothing is stored: when this process ends, each caller sees
//! the end of its connection, which is a failure of its hook and no permission.

mod asker;
mod desk;
mod page;
mod question;

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub use self::asker::{Counter, Order, Reply, Screen, send};
pub use self::desk::{Choice, Desk};
pub use self::page::Page;
pub use self::question::{Part, Question};
use crate::server::Socket;

/// Serves the page, if there is one.
pub async fn visitors<S: Screen>(page: Option<(TcpListener, Page)>, counter: &Arc<Counter<S>>) {
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
        // How many requests of the page are answered at once.
        if visits.len() < 16 {
            let (page, counter) = (Arc::clone(&page), Arc::clone(counter));
            visits.spawn(async move { page.serve(stream, peer.ip(), &counter.desk).await });
        }
    }
}

/// Talks to everyone who connects.
pub async fn callers<S: Screen>(socket: &Socket, counter: &Arc<Counter<S>>) {
    let mut conversations = JoinSet::new();
    loop {
        let Some(stream) = socket.accept().await else { continue };
        while conversations.try_join_next().is_some() {}
        conversations.spawn(Arc::clone(counter).serve(stream));
    }
}
