//! A server inside of the test, and the other end of its conversation.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hookexec::config::Diagnostics;
use hookexec::{Builtin, Config, Executor, Output, Registry};
use hookexec_project::LoadOptions;
use hookexec_serve::server::{Limits, Loaded, Reading, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// How long a test waits for a message before it gives up; none waits so long for success.
const HANG: Duration = Duration::from_mins(2);

/// Opens and counts what the builtin `wait` waits for.
#[derive(Clone)]
pub(crate) struct Gate {
    /// Each permit lets one hook through.
    pub(crate) open: Arc<Semaphore>,
    /// A permit is added when a hook begins to wait.
    pub(crate) waiting: Arc<Semaphore>,
    /// A permit is added when a hook is dropped while it waits.
    pub(crate) dropped: Arc<Semaphore>,
}

/// Adds a permit when it is dropped.
struct Tell(Arc<Semaphore>);

impl Drop for Tell {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

impl Gate {
    pub(crate) fn new() -> Self {
        let closed = || Arc::new(Semaphore::new(0));
        Self { open: closed(), waiting: closed(), dropped: closed() }
    }

    /// Waits until `count` permits were added, and takes them.
    pub(crate) async fn reached(what: &Semaphore, count: u32) {
        let reached = tokio::time::timeout(HANG, what.acquire_many(count)).await;
        reached.expect("it happens").unwrap().forget();
    }

    /// Returns a registry with the builtins `wait`, which waits for the gate, and `say`.
    pub(crate) fn registry(&self) -> Registry {
        let mut registry = Registry::new();
        let gate = self.clone();
        registry.register_builtin(
            "wait",
            Builtin::future(move |_, _: Arc<[String]>| {
                let gate = gate.clone();
                async move {
                    gate.waiting.add_permits(1);
                    let tell = Tell(Arc::clone(&gate.dropped));
                    gate.open.acquire().await.unwrap().forget();
                    std::mem::forget(tell);
                    Ok::<Option<Output>, String>(Some(Output::deny("waited")))
                }
            }),
        );
        registry.register_builtin(
            "say",
            Builtin::inline(|_, args: &[String]| Output::parse(&args[0]).map(Some)),
        );
        registry
    }
}

/// Returns a server of one hooks file that never changes.
pub(crate) fn server(hooks: &str, gate: &Gate, limits: Limits) -> Server {
    let (hooks, registry) = (hooks.to_owned(), gate.registry());
    Server::new("/project", limits, move |_| {
        let config = Config::from_yaml(&hooks, "hooks.yaml")?;
        let executor = Executor::builder(config).registry(registry.clone()).build()?;
        let (watched, absent) = (Vec::new(), Vec::new());
        Ok(Loaded { executor, has_files: false, watched, absent, expires: None })
    })
    .unwrap()
}

/// Returns what loads the file at `path`, anew whenever it changes.
pub(crate) fn load(
    path: &Path,
) -> impl Fn(Reading) -> Result<Loaded, Diagnostics> + Send + Sync + 'static {
    let mut options = LoadOptions::default();
    options.isolated = true;
    options.managed_dir = Some("/nowhere".into());
    options.files = vec![path.to_owned()];
    move |reading| {
        let mut options = options.clone();
        options.named_may_fail = reading == Reading::Again;
        let files = hookexec_project::load(&options)?;
        let places = files.places(&options);
        let has_files = !files.config.files.is_empty();
        let executor = Executor::builder(files.config).registry(Gate::new().registry()).build()?;
        Ok(Loaded { executor, has_files, watched: places, absent: Vec::new(), expires: None })
    }
}

/// One client.
pub(crate) struct Partner {
    reader: BufReader<ReadHalf<DuplexStream>>,
    pub(crate) writer: WriteHalf<DuplexStream>,
    /// Ends when the server has nothing to do with this client any more.
    pub(crate) served: JoinHandle<()>,
}

impl Partner {
    /// Connects to the server with a pipe that holds `room` bytes.
    pub(crate) fn with_room(server: &Server, room: usize) -> Self {
        let (own, theirs) = tokio::io::duplex(room);
        let server = server.clone();
        let done = tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(theirs);
            server.serve(reader, writer, std::future::pending()).await;
        });
        let (reader, writer) = tokio::io::split(own);
        Self { reader: BufReader::new(reader), writer, served: done }
    }

    pub(crate) fn new(server: &Server) -> Self {
        Self::with_room(server, 64 * 1024)
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Sends a request.
    pub(crate) async fn ask(&mut self, id: u64, method: &str, params: Value) {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string()).await;
    }

    /// Sends a dispatch of a call of the tool `shell`.
    pub(crate) async fn dispatch(&mut self, id: u64, event: &str) {
        let input = json!({ "tool_name": "shell" });
        self.ask(id, "dispatch", json!({ "event": event, "input": input })).await;
    }

    /// Returns the next message, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = tokio::time::timeout(HANG, self.reader.read_line(&mut line)).await;
        match read.expect("the server answers").unwrap() {
            0 => None,
            _ => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    /// Sends a request and returns its result, the next message.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        self.ask(1, method, params).await;
        let mut answer = self.next().await.unwrap();
        assert_eq!(answer["error"], Value::Null, "{answer}");
        answer["result"].take()
    }
}
