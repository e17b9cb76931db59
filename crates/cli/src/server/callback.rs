//! Questions to the client: it answers hooks whose builtin is a function of its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;

use super::protocol::{Reply, request};
use hookexec::internal::locked;
use hookexec::{Builtin, Input, Output, Registry};

tokio::task_local! {
    /// The client whose request is being answered.
    static CLIENT: Arc<ClientLink>;
}

/// The way to ask one client.
pub(super) struct ClientLink {
    outbox: Sender<Vec<u8>>,
    next_id: AtomicU64,
    /// The hooks that wait for the client's answers.
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Value, String>>>>,
}

impl ClientLink {
    pub(super) fn new(outbox: Sender<Vec<u8>>) -> Arc<Self> {
        Arc::new(Self { outbox, next_id: AtomicU64::new(1), waiting: Mutex::default() })
    }

    /// Runs `work`, whose hooks may ask this client.
    pub(super) async fn scope<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        CLIENT.scope(self, work).await
    }

    /// Passes an answer of the client to the hook that waits for it.
    pub(super) fn answered(&self, reply: Reply) {
        let hook = locked(&self.waiting).remove(&reply.id);
        if hook.is_none_or(|hook| hook.send(reply.outcome).is_err()) {
            tracing::debug!(reply.id, "the answer of a client comes too late");
        }
    }

    async fn ask(&self, name: &str, args: &[String], input: &Input) -> Result<Value, String> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (hook, answer) = oneshot::channel();
        {
            let mut waiting = locked(&self.waiting);
            // Those whose hook no longer waits.
            waiting.retain(|_, hook| !hook.is_closed());
            waiting.insert(id, hook);
        }
        let params = json!({ "name": name, "args": args, "input": input });
        let sent = self.outbox.send(request(id, "builtin", &params)).await;
        let gone = || "the client is gone".to_owned();
        sent.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// Makes hooks of type `builtin` with one of these names ask the client whose request they belong
/// to. Everything but a valid answer in the hook's time is a failure of the hook.
///
/// # Errors
/// When a name is empty or that of a builtin in the registry.
pub(crate) fn register_host_builtins(
    registry: &mut Registry,
    names: &[String],
) -> Result<(), String> {
    for name in names {
        if name.is_empty() {
            return Err("a builtin needs a name".to_owned());
        }
        if registry.builtin(name).is_some() {
            return Err(format!("`{name}` is the name of another builtin: choose another name"));
        }
        let own = name.clone();
        let ask = move |input: Arc<Input>, args: Arc<[String]>| {
            let name = own.clone();
            async move { ask_client(&name, &args, &input).await }
        };
        registry.register_builtin(name, Builtin::future(ask));
    }
    Ok(())
}

async fn ask_client(name: &str, args: &[String], input: &Input) -> Result<Option<Output>, String> {
    let Ok(client) = CLIENT.try_with(Arc::clone) else {
        return Err(format!(
            "`{name}` is a function of the client, which no background hook can call"
        ));
    };
    let answer = client.ask(name, args, input).await;
    let answer = answer.map_err(|problem| format!("builtin `{name}` of the client: {problem}"))?;
    if answer.is_null() {
        return Ok(None);
    }
    let output = Output::from_value(answer)
        .map_err(|problem| format!("the answer of the client's builtin `{name}`: {problem}"))?;
    let unknown = output.unknown_keys().next();
    match unknown {
        None => Ok(Some(output)),
        Some(key) => Err(format!("the answer of the client's builtin `{name}`: {key}")),
    }
}
