//! Questions to the client: it answers hooks whose builtin is a function of its own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hookexec::{Builtin, Input, Output, Registry};
use hookexec_files::locks::locked;
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;

use super::protocol::{ErrorCode, Refusal, request};

tokio::task_local! {
    /// The client whose request is being answered.
    static CLIENT: Arc<ClientLink>;
}

/// The way to ask one client.
pub(super) struct ClientLink {
    pub(super) outbox: Sender<Vec<u8>>,
    next_id: AtomicU64,
    /// The hooks that wait for the client's answers.
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Value, Value>>>>,
}

impl ClientLink {
    pub(super) fn new(outbox: Sender<Vec<u8>>) -> Self {
        Self { outbox, next_id: AtomicU64::new(1), waiting: Mutex::default() }
    }

    /// Runs `work`, whose hooks may ask this client.
    pub(super) async fn scope<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        CLIENT.scope(self, work).await
    }

    /// Passes an answer of the client to the hook that waits for it.
    pub(super) fn answered(&self, id: &Value, answer: Result<Value, Value>) {
        let hook = locked(&self.waiting).remove(&id.as_u64().unwrap_or_default());
        if hook.is_none_or(|hook| hook.send(answer).is_err()) {
            tracing::debug!(%id, "the answer of a client comes too late");
        }
    }

    /// Calls the function `name` of the client.
    async fn ask(&self, name: &str, args: &[String], input: &Input) -> Result<Value, Value> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (hook, answer) = oneshot::channel();
        {
            let mut waiting = locked(&self.waiting);
            // Their hooks no longer wait.
            waiting.retain(|_, hook| !hook.is_closed());
            waiting.insert(id, hook);
        }
        let params = json!({ "name": name, "args": args, "input": input });
        let sent = self.outbox.send(request(id, "builtin", &params)).await;
        if sent.is_ok()
            && let Ok(answer) = answer.await
        {
            return answer;
        }
        Err(json!({ "message": "the client is gone" }))
    }
}

/// Makes hooks of type `builtin` with this name ask the client whose request they belong to.
/// Everything but a valid answer in the hook's time is a failure of the hook.
pub fn register_host_builtin(registry: &mut Registry, name: &str) {
    let called = name.to_owned();
    let builtin = Builtin::future(move |input: Arc<Input>, args: Arc<[String]>| {
        let name = called.clone();
        async move { call_client(&name, &args, &input).await }
    });
    registry.register_builtin(name.to_owned(), builtin);
}

/// Returns what the client's function `name` answers for a hook.
async fn call_client(
    name: &str,
    args: &[String],
    input: &Input,
) -> Result<Option<Output>, Refusal> {
    let Ok(client) = CLIENT.try_with(Arc::clone) else {
        return Err(failed(name, "no background hook can call it"));
    };
    let output = match client.ask(name, args, input).await {
        Ok(Value::Null) => return Ok(None),
        Ok(answer) => Output::from_value(answer),
        Err(error) => {
            let message = error["message"].as_str().unwrap_or("an error without a message");
            return Err(failed(name, message));
        }
    };
    let output = output.map_err(|problem| failed(name, &format!("its answer: {problem}")))?;
    let unknown = output.unknown_keys().next();
    match unknown {
        None => Ok(Some(output)),
        Some(key) => Err(failed(name, &format!("its answer: {key}"))),
    }
}

fn failed(name: &str, why: &str) -> Refusal {
    Refusal::new(ErrorCode::Internal, format!("builtin `{name}` of the client: {why}"))
}
