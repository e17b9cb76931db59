//! Plays one case: builds its hooks from files, fires its events, and notes each call.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::format::{Case, Fires, HookCase, Scenario, WITHHELD, call_line, layer_of};
use super::rules::{Rule, answer_by, plain, text_of};
use super::*;
use crate::asks::Judged;
use crate::config::ConfigBuilder;
use crate::executor::DispatchOptions;
use crate::handler::{BoxFuture, Call, Failure, Handler, HandlerError, HandlerResult};
use crate::lifecycle::{Session, TurnEnd};
use crate::locks::locked;

const BEFORE_TOOL: [Event; 3] = [Event::ToolInputTransform, Event::ToolGuard, PreToolUse];
const AFTER_TOOL: [Event; 2] = [Event::ToolResponseTransform, PostToolUse];
/// The type of the hooks.
const KIND: &str = "play";

/// What was seen of a case.
pub(super) struct Seen {
    pub(super) verdict: Verdict,
    /// The text that is executed, or that the model reads.
    pub(super) last: String,
    pub(super) waited: Duration,
    pub(super) stops: Option<usize>,
    pub(super) calls: Vec<Record>,
}

/// One call of a hook.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) hook: String,
    pub(super) line: String,
    pub(super) limit: Duration,
    /// Whether the event waits for it.
    pub(super) is_awaited: bool,
    /// Its places among all starts and ends of calls.
    pub(super) began: usize,
    pub(super) ended: usize,
}

#[derive(Debug, Default)]
struct Log {
    records: Vec<Record>,
    marks: usize,
}

impl Log {
    fn mark(&mut self) -> usize {
        self.marks += 1;
        self.marks
    }
}

/// Answers for one hook of a case.
struct Player {
    id: String,
    is_awaited: bool,
    takes: Duration,
    rules: Vec<Rule>,
    calls: AtomicUsize,
    log: Arc<Mutex<Log>>,
}

/// Notes the end of a call, also of one that is dropped.
struct Ending(Arc<Mutex<Log>>, usize);

impl Drop for Ending {
    fn drop(&mut self) {
        let mut log = locked(&self.0);
        let mark = log.mark();
        if let Some(record) = log.records.get_mut(self.1) {
            record.ended = mark;
        }
    }
}

impl Player {
    fn begin(&self, call: &Call<'_>) -> Ending {
        let text = shown(text_of(call.event, call.input));
        let line = call_line(&self.id, call.input.tool(), &text, call.input.repeated);
        let mut log = locked(&self.log);
        let began = log.mark();
        log.records.push(Record {
            hook: self.id.clone(),
            line,
            limit: call.deadline.saturating_duration_since(Instant::now().into_std()),
            is_awaited: self.is_awaited,
            began,
            ended: usize::MAX,
        });
        Ending(Arc::clone(&self.log), log.records.len() - 1)
    }
}

impl Handler for Player {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async move {
            let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
            let _ending = self.begin(call);
            tokio::time::sleep(self.takes).await;
            let answer = answer_by(&self.rules, call.event, call.input, number);
            let failed = |why| HandlerError::new(Failure::Other, why);
            answer.map(HandlerResult::from).map_err(failed)
        })
    }

    fn refuses_response(&self, _: &Input) -> Option<String> {
        None
    }
}

/// Returns a text as cases write it.
fn shown(text: String) -> String {
    if text.contains("withheld by hookexec") { WITHHELD.to_owned() } else { text }
}

/// Returns an executor with the hooks of a case, read from one file for each layer and name.
fn executor_with(
    scenario: &Scenario,
    hooks: &[(String, HookCase)],
    log: &Arc<Mutex<Log>>,
) -> Executor {
    let mut files: BTreeMap<(&str, &str), Vec<&(String, HookCase)>> = BTreeMap::new();
    for hook in hooks {
        let layer = layer_of(&hook.0).name();
        files.entry((layer, &hook.1.file)).or_default().push(hook);
    }
    let mut builder = ConfigBuilder::new();
    for ((_, name), hooks) in files {
        let layer = layer_of(&hooks[0].0);
        let path = format!("{}/{name}", layer.name());
        let text = file_text(&hooks, scenario.deadlines.get(layer.name()).copied());
        let file = Arc::new(SourceFile::new(path, text).in_layer(layer));
        let part = builder.read(&file).unwrap();
        builder.add(part);
    }
    let mut config = builder.build().unwrap();
    assert!(config.failed.is_empty(), "{:?}", config.failed);
    for hook in &mut config.hooks {
        let id = hook.with.as_ref().and_then(Value::as_str).unwrap();
        if hooks.iter().any(|(known, case)| known == id && case.observer) {
            hook.phase = Phase::Observe;
        }
    }
    let builder = Executor::builder(config).registry(registry_of(hooks, log));
    builder.working_dir("/project").build().unwrap()
}

fn registry_of(hooks: &[(String, HookCase)], log: &Arc<Mutex<Log>>) -> Registry {
    let (hooks, log) = (hooks.to_vec(), Arc::clone(log));
    let mut registry = Registry::new();
    registry.register(
        KIND,
        HandlerFactory::new(move |_, hook| {
            let id = hook.with.as_ref().and_then(Value::as_str).unwrap();
            let (_, case) = hooks.iter().find(|(known, _)| known == id).unwrap();
            Ok(Arc::new(Player {
                id: id.to_owned(),
                is_awaited: !case.background && !case.observer,
                takes: Duration::from_secs_f64(case.takes),
                rules: case.does.clone(),
                calls: AtomicUsize::new(0),
                log: Arc::clone(&log),
            }))
        }),
    );
    registry
}

/// Returns the text of a hooks file.
fn file_text(hooks: &[&(String, HookCase)], deadline: Option<f64>) -> String {
    let mut events: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (id, case) in hooks.iter().copied() {
        let mut keys = object(json!({ "type": KIND, "with": id }));
        let mut set = |key: &str, value: Option<Value>| {
            keys.extend(value.map(|value| (key.to_owned(), value)));
        };
        set("name", case.command.is_none().then_some(json!(id)));
        set("command", Some(json!(case.command.as_ref().unwrap_or(id))));
        set("mutates", case.mutates.map(Value::Bool));
        set("when", case.when.as_ref().map(|condition| json!(condition)));
        set("on_error", case.on_error.map(|on_error| json!(on_error.key())));
        set("timeout", case.timeout.map(|seconds| json!(seconds)));
        let is_shadow = case.background && case.on.contract().may_block;
        set("background", case.background.then_some(json!(true)));
        set("mode", is_shadow.then_some(json!("shadow")));
        let hook = match &case.matcher {
            _ if !case.on.contract().tool_matched => json!(keys),
            Some(matcher) => json!({ "matcher": matcher, "hooks": [keys] }),
            None => json!({ "hooks": [keys] }),
        };
        events.entry(case.on.name()).or_default().push(hook);
    }
    let mut file = json!({ "hooks": events });
    if let Some(seconds) = deadline {
        file["defaults"] = json!({ "deadline": format!("{}ms", seconds * 1000.0) });
    }
    file.to_string()
}

/// Fires the events of a case once, and a second time if it says so.
pub(super) async fn play(scenario: &Scenario, case: &Case) -> Vec<Seen> {
    let log = Arc::<Mutex<Log>>::default();
    let hooks = scenario.hooks_of(case);
    let executor = Arc::new(executor_with(scenario, &hooks, &log));
    let mut all = Vec::new();
    for _ in 0..if case.again { 2 } else { 1 } {
        let mut seen = match scenario.fires {
            Fires::ToolCall => call_tool(&executor, scenario, case).await,
            Fires::ToolResponse => read_response(&executor, scenario, case).await,
            Fires::Prompt => submit_prompt(&executor, scenario, case).await,
            Fires::Stop => stop(&executor).await,
        };
        // What nothing waits for.
        tokio::time::sleep(Duration::from_mins(1)).await;
        seen.calls = std::mem::take(&mut locked(&log).records);
        all.push(seen);
    }
    all
}

fn input_of(scenario: &Scenario, case: &Case) -> Input {
    let text = case.input.as_ref().unwrap_or(&scenario.input);
    let mut input = match (scenario.tool(), scenario.fires) {
        ("", _) => Input { prompt: Some(text.clone()), ..Input::default() },
        (tool, Fires::ToolResponse) => {
            let response = Some(json!(text));
            Input { tool_response: response, ..Input::call(tool).arg("command", "cat f") }
        }
        (tool @ "Write", _) => {
            Input::call(tool).arg("file_path", "app.js").arg("content", text.as_str())
        }
        (tool @ "WebFetch", _) => Input::call(tool).arg("url", text.as_str()),
        (tool, _) => Input::call(tool).arg("command", text.as_str()),
    };
    input.session_id = "session".to_owned();
    if case.agent.unwrap_or(scenario.agent).approves_with_arguments {
        input.agent_name = Some("claude-code".to_owned());
        input.native = Some(json!({}));
    }
    input
}

fn options_of(scenario: &Scenario, case: &Case) -> DispatchOptions<'static> {
    let agent = case.agent.unwrap_or(scenario.agent);
    let replaces = match scenario.fires {
        Fires::ToolResponse => agent.replaces_response,
        _ => agent.replaces_input,
    };
    let until = Instant::now() + Duration::from_secs_f64(scenario.within);
    DispatchOptions {
        stands: !replaces,
        until: Some(until.into_std()),
        ..DispatchOptions::default()
    }
}

async fn call_tool(executor: &Executor, scenario: &Scenario, case: &Case) -> Seen {
    let (input, options) = (input_of(scenario, case), options_of(scenario, case));
    let agent = case.agent.unwrap_or(scenario.agent);
    let began = Instant::now();
    let verdict = {
        let decided = executor.run_moment(&BEFORE_TOOL, &input, options).await;
        let mut verdict = decided.verdict;
        let judged = Judged {
            event: PreToolUse,
            verdicts: &decided.verdicts,
            original: &input,
            input: &executor.final_call(&input, &verdict),
            options,
            consults: true,
            host_asks: agent.asks.then_some("the agent asks its user"),
            asks_person: true,
        };
        executor.settle(&mut verdict, &judged).await;
        verdict
    };
    let last = text_of(PreToolUse, &executor.final_call(&input, &verdict));
    Seen { verdict, last, waited: began.elapsed(), stops: None, calls: Vec::new() }
}

async fn read_response(executor: &Executor, scenario: &Scenario, case: &Case) -> Seen {
    let (input, options) = (input_of(scenario, case), options_of(scenario, case));
    let began = Instant::now();
    let verdict = executor.run_moment(&AFTER_TOOL, &input, options).await.verdict;
    let response = verdict.updated_tool_response.as_ref().or(input.tool_response.as_ref());
    let last = shown(response.map(plain).unwrap_or_default());
    Seen { verdict, last, waited: began.elapsed(), stops: None, calls: Vec::new() }
}

fn session(executor: &Arc<Executor>) -> Session {
    Session::builder("session").attach(Arc::clone(executor))
}

async fn submit_prompt(executor: &Arc<Executor>, scenario: &Scenario, case: &Case) -> Seen {
    let prompt = case.input.as_ref().unwrap_or(&scenario.input).clone();
    let (session, began) = (session(executor), Instant::now());
    let verdict = match session.turn(prompt.clone()).await {
        Ok(turn) => turn.opening().verdicts().first().cloned(),
        Err(refused) => refused.trail.verdicts().first().cloned(),
    };
    let verdict = verdict.unwrap_or(Verdict::no_opinion(UserPromptSubmit));
    Seen { verdict, last: prompt, waited: began.elapsed(), stops: None, calls: Vec::new() }
}

/// Stops until the hooks let the turn end, and returns what they said last. An agent that stops more
/// often than this is stuck.
async fn stop(executor: &Arc<Executor>) -> Seen {
    let (session, began) = (session(executor), Instant::now());
    let turn = session.begin_turn("turn-1", None).await.unwrap();
    let mut stops = 1;
    let end = loop {
        match turn.finish("done").await {
            Ok(finished) => break Ok(finished),
            Err(reason) if stops == 20 => break Err(TurnEnd::Other(reason)),
            // What nothing waits for has started when the agent stops again.
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
        stops += 1;
    };
    tokio::time::sleep(Duration::from_secs(1)).await;
    let trail = turn.end(end).await;
    let reports = trail.verdicts().iter().flat_map(|verdict| verdict.hooks.clone());
    // The turn has ended, so a denial in the reports did not count.
    let verdict = Verdict { hooks: reports.collect(), ..Verdict::no_opinion(Stop) };
    let waited = began.elapsed();
    Seen { verdict, last: String::new(), waited, stops: Some(stops), calls: Vec::new() }
}
