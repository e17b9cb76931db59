//! The factory and the handler of process hooks.

use std::sync::Arc;
use std::time::Duration;

use super::processes::Entry;
use super::{Processes, picoclaw};
use crate::config::process::Stage;
use crate::config::{EventMethod, Hook, Protocol};
use crate::event::Event;
use crate::handler::{
    BoxFuture, BuildError, Call, Failure, Handler, HandlerError, HandlerResult, name_in_command,
};
use crate::suggest;
use crate::wire::{Input, Output};

/// Builds the handler of a process hook.
///
/// The hook's `command` is the name of an entry of `processes:`. All hooks of one entry call one
/// child, which is started at the first call and kept. A call is one JSON-RPC request; what it is
/// told and what it may answer is described in `docs/serve.md`.
///
/// A hook in the background, or one that only observes, is a notification: it never delays an
/// event, and what its process can't take is dropped, counted and reported.
pub(crate) fn build(
    processes: &Arc<Processes>,
    hook: &Hook,
) -> Result<Arc<dyn Handler>, BuildError> {
    let callee = CalledProcess::new(processes, name_in_command(hook), Protocol::Hooks)?;
    let process = callee.entry.process();
    let observes = !hook.phase.is_answered();
    let stage = Stage::of(hook.event);
    if hook.enabled {
        let mode = if observes { Some("observe") } else { stage.map(|stage| stage.mode) };
        process.roles().add(mode, hook.event);
    }
    let role = match stage {
        _ if observes => Role::Observe(process.definition.event_method),
        Some(stage) => Role::Stage(stage),
        None => Role::Event(format!("hook.{}", hook.event)),
    };
    Ok(Arc::new(ProcessHandler { callee, role }))
}

/// An entry of `processes:` that hooks call.
#[derive(Debug)]
pub struct CalledProcess {
    name: String,
    entry: Arc<Entry>,
    /// Holds the children: they live as long as a hook can call them.
    processes: Arc<Processes>,
}

impl CalledProcess {
    /// Returns the process that a hook names, in `with` if it is an MCP server.
    pub(crate) fn new(
        processes: &Arc<Processes>,
        name: &str,
        protocol: Protocol,
    ) -> Result<Self, BuildError> {
        let (key, is, hint) = match protocol {
            Protocol::Hooks => ("command", "an MCP server", "call it by a hook of `type: mcp`"),
            Protocol::Mcp => {
                ("with", "not an MCP server", "if it is one, add `protocol: mcp` to it")
            }
        };
        let Some(entry) = processes.entries.get(name) else {
            return Err(unknown(name, processes, key));
        };
        let process = entry.process();
        if let Err(obstacle) = &process.launch {
            let mut error = obstacle.clone();
            error.key = None;
            error.message = format!("process `{name}` can't be started: {}", obstacle.message);
            return Err(error);
        }
        if process.definition.protocol != protocol {
            let error = BuildError::new(format!("process `{name}` is {is}"));
            return Err(error.at(key).hint(hint));
        }
        let (entry, processes) = (Arc::clone(entry), Arc::clone(processes));
        Ok(Self { name: name.to_owned(), entry, processes })
    }

    /// Returns its name in `processes:`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends the request `method` with `params`, which are JSON, and returns the JSON of the result. The
    /// process is started if it does not run.
    ///
    /// # Errors
    /// When it can't be started, refuses the request, or gives no result before the call's deadline.
    pub async fn ask(
        &self,
        method: &str,
        params: &[u8],
        call: &Call<'_>,
    ) -> Result<String, HandlerError> {
        self.entry.process().call(method, params, call.deadline).await
    }
}

fn tools(request: &Input) -> &[serde_json::Value] {
    request.tools.as_deref().unwrap_or_default()
}

fn unknown(name: &str, processes: &Processes, key: &'static str) -> BuildError {
    let error = BuildError::new(format!("unknown process `{name}`")).at(key);
    if processes.entries.is_empty() {
        return error.hint(
            "add `processes:` to this hooks file, or to another one of the same user or project",
        );
    }
    let names = processes.entries.keys().map(String::as_str);
    error.hint(suggest::hint_or_list(name, names, "known processes:"))
}

/// A hook that calls a process.
struct ProcessHandler {
    callee: CalledProcess,
    role: Role,
}

/// The part that a hook gives its process.
enum Role {
    Stage(Stage),
    /// An event that PicoClaw does not know, by method.
    Event(String),
    Observe(EventMethod),
}

impl Handler for ProcessHandler {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async move {
            let output = match &self.role {
                Role::Observe(method) => return Ok(self.notify(*method, call)),
                Role::Stage(stage) => {
                    let params = stage.params(call.input, call.description());
                    let reply = self.callee.ask(stage.method, &params, call).await?;
                    let output = stage
                        .read(&reply, call.input)
                        .map_err(|problem| self.misread(stage.method, &problem))?;
                    if stage.event == Event::BeforeLlmCall {
                        self.note_tools(call, &output);
                    }
                    output
                }
                Role::Event(method) => {
                    let reply = self.callee.ask(method, &call.json(), call).await?;
                    picoclaw::read_output(&reply)
                        .map_err(|problem| self.misread(method, &problem))?
                }
            };
            Ok(Some(output).into())
        })
    }

    fn grace(&self) -> Duration {
        // How long after its deadline a call may take to say so.
        Duration::from_millis(500)
    }

    fn refuses_response(&self, input: &Input) -> Option<String> {
        let (name, tool) = (&self.callee.name, input.tool());
        let provides = &self.callee.entry.process().definition.provides;
        let may = provides.iter().any(|known| known == "*" || known == tool)
            || self.callee.processes.injections().owns(name, &input.session_id, tool);
        if may {
            return None;
        }
        Some(format!(
            "process `{name}` answered in the place of tool `{tool}`, which it neither provides nor brought along; list the tool in its `provides:`"
        ))
    }
}

impl ProcessHandler {
    fn notify(&self, method: EventMethod, call: &Call<'_>) -> HandlerResult {
        let (method, params) = picoclaw::notification(method, call.event, call.input);
        let mut result = HandlerResult::from(Some(Output::default()));
        if let Err(error) = self.callee.entry.process().notify(method, &params) {
            result.warnings.push(format!("the event was not told: {error}"));
        }
        result
    }

    /// Remembers the tools that the process added to a request.
    fn note_tools(&self, call: &Call<'_>, output: &Output) {
        let before = tools(call.input);
        let change = output.updated_request.as_ref();
        let after = change.and_then(|change| change.tools.as_deref()).unwrap_or(before);
        // What the host defined stays the host's, also when a hook before took it out.
        let known = [tools(call.original), before];
        let injections = self.callee.processes.injections();
        injections.note(&self.callee.name, &call.input.session_id, known, after);
    }

    fn misread(&self, method: &str, problem: &str) -> HandlerError {
        let name = &self.callee.name;
        let message =
            format!("the answer of process `{name}` to `{method}` can't be used: {problem}");
        HandlerError::new(Failure::Protocol, message)
    }
}
