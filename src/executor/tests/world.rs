//! Random worlds of hooks, and how one is played with the engine.
//!
//! A hook of a world answers by rules on the tool's name and a short text. The text is the command
//! of a call, the response after it, or a prompt. It consists of the letters X, Y and Z, which stand
//! in no name and no message of hookexec.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use tokio::time::sleep;

use super::*;
use crate::event::{Permission, Rewrite};
use crate::executor::{DispatchOptions, Standing};

pub(super) const LETTERS: [char; 3] = ['X', 'Y', 'Z'];
const TOOLS: [&str; 3] = ["a", "b", "c"];
/// The text that stands for every placeholder of a withheld response.
pub(super) const PLACEHOLDER: &str = "[withheld]";
const TIMEOUT: Duration = Duration::from_secs(1);

/// What a hook gets: the tool's name and the text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Payload {
    pub(super) tool: &'static str,
    pub(super) text: String,
}

impl Payload {
    pub(super) fn under(&self, tool: &'static str) -> Self {
        Self { tool, text: self.text.clone() }
    }

    pub(super) fn withheld(&self) -> Self {
        Self { tool: self.tool, text: PLACEHOLDER.to_owned() }
    }
}

/// One call of a hook.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HookCall {
    pub(super) hook: usize,
    pub(super) payload: Payload,
    pub(super) repeated: bool,
}

/// Changes of a text. One that changes nothing is no rewrite.
#[derive(Debug, Clone, Copy)]
pub(super) enum Edit {
    Append(char),
    Prepend(char),
    Remove(char),
    Replace(char, char),
}

/// One answer of a hook, as it is written in a rule.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Written {
    pub(super) decision: Option<Decision>,
    pub(super) edit: Option<Edit>,
    pub(super) rename: Option<&'static str>,
    pub(super) responds: bool,
    /// It gives no answer: it crashes.
    pub(super) crashes: bool,
    /// It gives no answer in time.
    pub(super) is_slow: bool,
}

/// One rule: the first whose letter is in the text, and whose tool is called, gives the answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) letter: Option<char>,
    pub(super) tool: Option<&'static str>,
    pub(super) says: Written,
}

/// A condition: whether the text has a letter.
#[derive(Debug, Clone, Copy)]
pub(super) struct When {
    letter: char,
    wanted: bool,
}

/// One hook of a world; its place in the world is its place in its file.
#[derive(Debug, Clone)]
pub(super) struct WorldHook {
    pub(super) event: Event,
    pub(super) layer: Layer,
    pub(super) tools: &'static [&'static str],
    pub(super) when: Option<When>,
    pub(super) mutates: Option<bool>,
    pub(super) on_error: Option<OnError>,
    pub(super) rules: Vec<Rule>,
}

/// What a hook answers to one payload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WorldAnswer {
    pub(super) decision: Option<Decision>,
    /// The whole new payload.
    pub(super) rewrite: Option<Payload>,
    pub(super) responds: bool,
    pub(super) failed: bool,
}

/// A moment and its hooks.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) events: Vec<Event>,
    pub(super) input: Payload,
    pub(super) hooks: Vec<WorldHook>,
    /// Whether the agent can't replace a response.
    pub(super) response_stands: bool,
}

/// What came out of a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Played {
    pub(super) decision: Option<Decision>,
    /// The final input: what is executed, or what the model reads.
    pub(super) input: Payload,
    /// The hook whose answer is taken in the tool's place.
    pub(super) responder: Option<usize>,
    /// The calls, sorted.
    pub(super) calls: Vec<HookCall>,
}

impl WorldHook {
    /// Returns whether the hook's matcher and its condition choose the payload.
    pub(super) fn matches(&self, payload: &Payload) -> bool {
        let is_tool = !self.event.contract().tool_matched
            || self.tools.is_empty()
            || self.tools.contains(&payload.tool);
        is_tool && self.when.is_none_or(|when| payload.text.contains(when.letter) == when.wanted)
    }

    fn written(&self, payload: &Payload) -> Written {
        for rule in &self.rules {
            let has_letter = rule.letter.is_none_or(|letter| payload.text.contains(letter));
            if has_letter && rule.tool.is_none_or(|tool| tool == payload.tool) {
                return rule.says;
            }
        }
        Written::default()
    }

    /// Returns the answer to a payload, which depends on nothing else.
    pub(super) fn answer(&self, payload: &Payload) -> WorldAnswer {
        let written = self.written(payload);
        if written.crashes || written.is_slow {
            return WorldAnswer { failed: true, ..WorldAnswer::default() };
        }
        let text = match written.edit {
            None => payload.text.clone(),
            Some(Edit::Append(letter)) => format!("{}{letter}", payload.text),
            Some(Edit::Prepend(letter)) => format!("{letter}{}", payload.text),
            Some(Edit::Remove(letter)) => payload.text.replace(letter, ""),
            Some(Edit::Replace(from, to)) => payload.text.replace(from, &to.to_string()),
        };
        let new = Payload { tool: written.rename.unwrap_or(payload.tool), text };
        let rewrite = Some(new).filter(|new| new != payload);
        let Written { decision, responds, .. } = written;
        WorldAnswer { decision, rewrite, responds, failed: false }
    }

    /// Returns whether the hook takes turns from the start.
    pub(super) fn is_declared(&self) -> bool {
        self.mutates == Some(true) || self.event.contract().transforms
    }

    /// Returns whether an answer of the hook may make it a rewriter.
    pub(super) fn may_become_rewriter(&self) -> bool {
        !self.is_declared() && self.mutates.is_none() && can_rewrite(self.event)
    }

    /// Removes what the hook's event has no use for, which is not what the page is about.
    fn made_valid(mut self) -> Self {
        let contract = self.event.contract();
        let withholds = self.event == Event::ToolResponseTransform;
        self.on_error = match self.on_error {
            Some(OnError::Block) if !contract.may_block && !withholds => None,
            Some(OnError::Ask) if !contract.may_block || withholds => None,
            other => other,
        };
        for rule in &mut self.rules {
            let says = &mut rule.says;
            if withholds {
                says.decision = says.decision.filter(|decision| *decision == Decision::Deny);
            }
            says.edit = says.edit.filter(|_| can_rewrite(self.event));
            says.rename = says.rename.filter(|_| contract.rewrite == Rewrite::ToolInput);
            says.responds &= contract.may_respond;
            if contract.permission == Permission::None && says.decision == Some(Decision::Ask) {
                says.decision = Some(Decision::Deny);
            }
        }
        self
    }

    fn yaml(&self, field: &str) -> String {
        let mut keys = format!("type: builtin, command: play, timeout: {}s", TIMEOUT.as_secs());
        if let Some(mutates) = self.mutates {
            let _ = write!(keys, ", mutates: {mutates}");
        }
        let on_error = self.on_error.map(|on_error| match on_error {
            OnError::Block => "block",
            OnError::Ask => "ask",
            OnError::Warn => "warn",
            OnError::Ignore => "ignore",
        });
        if let Some(on_error) = on_error {
            let _ = write!(keys, ", on_error: {on_error}");
        }
        if let Some(When { letter, wanted }) = self.when {
            let leaf = format!("{{ field: {field}, regex: {letter} }}");
            let rule = if wanted { leaf } else { format!("{{ not: {leaf} }}") };
            let _ = write!(keys, ", when: {rule}");
        }
        if !self.event.contract().tool_matched {
            return format!("{}: [{{ {keys} }}]", self.event);
        }
        let tools = if self.tools.is_empty() { "*".to_owned() } else { self.tools.join("|") };
        format!("{}: [{{ matcher: '{tools}', hooks: [{{ {keys} }}] }}]", self.event)
    }

    /// Returns the hook as a file of its layer has it, the one with number `index` of the world.
    fn configured(&self, index: usize, field: &str) -> Hook {
        thread_local! {
            /// Hooks by their text: reading one takes longer than playing a world.
            static READ: RefCell<HashMap<String, Hook>> = RefCell::default();
        }
        let yaml = self.yaml(field);
        let read = READ.with_borrow_mut(|read| match read.get(&yaml) {
            Some(hook) => hook.clone(),
            None => {
                let hook = Config::from_yaml(&yaml, "hooks.yaml").expect(&yaml).hooks.remove(0);
                read.insert(yaml, hook.clone());
                hook
            }
        });
        let location = Location::of_file_in(self.layer, Path::new("hooks.yaml"));
        Hook { args: vec![index.to_string()], name: Some(name_of(index)), location, ..read }
    }
}

/// Returns whether a hook of the event may rewrite the payload.
pub(super) fn can_rewrite(event: Event) -> bool {
    event.contract().rewrite != Rewrite::None
}

fn name_of(index: usize) -> String {
    format!("hook {index}")
}

/// Returns the reason that a hook gives for a denial or an ask.
pub(super) fn reason_of(hook: usize) -> String {
    format!("<{hook}>")
}

impl World {
    fn is_after_tool(&self) -> bool {
        self.events.iter().all(|event| event.contract().rewrite == Rewrite::ToolResponse)
    }

    /// Returns the numbers of the hooks, those of the highest layer first, then by file order.
    pub(super) fn from_the_top(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.hooks.len()).collect();
        all.sort_by_key(|index| self.hooks[*index].layer.rank());
        all
    }

    fn field(&self) -> &'static str {
        match self.events[0].contract() {
            contract if contract.rewrite == Rewrite::ToolResponse => "tool_response",
            contract if contract.tool_matched => "tool_input.cmd",
            _ => "prompt",
        }
    }

    fn engine_input(&self) -> Input {
        let Payload { tool, text } = &self.input;
        if self.is_after_tool() {
            let response = Some(json!(text));
            return Input { tool_response: response, ..Input::call(*tool).arg("cmd", "ls") };
        }
        if self.events[0].contract().tool_matched {
            return Input::call(*tool).arg("cmd", text.clone());
        }
        Input { prompt: Some(text.clone()), ..Input::default() }
    }

    /// Reads what a hook gets, or what is executed, out of the engine's form of it.
    fn payload(&self, input: &Input) -> Payload {
        let path: Vec<&str> = self.field().split('.').collect();
        let found = input.lookup(&path).map(std::borrow::Cow::into_owned).unwrap_or_default();
        let text = match found.as_str() {
            Some(text) if text.chars().all(|letter| LETTERS.contains(&letter)) => text,
            _ => PLACEHOLDER,
        };
        let tool = TOOLS.into_iter().find(|tool| *tool == input.tool()).unwrap_or(self.input.tool);
        Payload { tool, text: text.to_owned() }
    }

    fn output(&self, index: usize, payload: &Payload, answer: WorldAnswer) -> Output {
        let reason = answer.decision.map(|_| reason_of(index));
        let mut output = Output { decision: answer.decision, reason, ..Output::default() };
        if let Some(new) = answer.rewrite {
            output.updated_tool_name =
                Some(new.tool.to_owned()).filter(|_| new.tool != payload.tool);
            if new.text != payload.text && self.is_after_tool() {
                output.updated_tool_response = Some(json!(new.text));
            } else if new.text != payload.text {
                let keys = object(json!({ "cmd": new.text }));
                output.updated_input = Output::patch_input(keys).updated_input;
            }
        }
        output.respond = answer.responds.then(|| ToolResult::text(index.to_string()));
        output
    }

    /// Plays the world with the engine. A hook takes as many milliseconds as `delays` say.
    /// Returns also the verdict of all events together.
    pub(super) fn play(&self, delays: &[u64]) -> (Played, Verdict) {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (world, log, delays) = (Arc::new(self.clone()), Arc::clone(&calls), delays.to_vec());
        let play = move |input: Arc<Input>, args: Arc<[String]>| {
            let (world, index): (_, usize) = (Arc::clone(&world), args[0].parse().unwrap());
            let payload = world.payload(&input);
            let repeated = input.repeated;
            let call = HookCall { hook: index, payload: payload.clone(), repeated };
            log.lock().unwrap().push(call);
            let delay = Duration::from_millis(delays.get(index).copied().unwrap_or_default());
            async move {
                let hook = &world.hooks[index];
                let written = hook.written(&payload);
                sleep(if written.is_slow { TIMEOUT * 2 } else { delay }).await;
                if written.crashes {
                    return Err("on purpose");
                }
                Ok(Some(world.output(index, &payload, hook.answer(&payload))))
            }
        };
        let mut registry = Registry::new();
        registry.register_builtin("play", Builtin::future(play));
        let from_the_top = self.from_the_top();
        let hooks = from_the_top.iter().map(|&at| self.hooks[at].configured(at, self.field()));
        let config = Config { hooks: hooks.collect(), ..Config::default() };
        let builder = Executor::builder(config).registry(registry).env([]).working_dir("/project");
        let executor = builder.build().unwrap();
        let options =
            DispatchOptions { response_stands: self.response_stands, ..DispatchOptions::default() };
        let (input, mut standing) = (self.engine_input(), Standing::default());
        // Time stands still but for the sleeps.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let _ = runtime.block_on(executor.run_moment(&self.events, &input, options, &mut standing));
        let verdict = standing.verdict.unwrap();
        let last = standing.rewritten.as_ref().unwrap_or(&input);
        let responder = verdict.respond.as_ref().and_then(|given| given.for_llm.parse().ok());
        let mut calls = std::mem::take(&mut *calls.lock().unwrap());
        calls.sort();
        let input = if self.response_stands { self.input.clone() } else { self.payload(last) };
        (Played { decision: verdict.decision, input, responder, calls }, verdict)
    }
}

fn letter() -> impl Strategy<Value = char> {
    select(LETTERS.to_vec())
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        letter().prop_map(Edit::Append),
        letter().prop_map(Edit::Prepend),
        letter().prop_map(Edit::Remove),
        (letter(), letter()).prop_map(|(from, to)| Edit::Replace(from, to)),
    ]
}

pub(super) fn decision() -> impl Strategy<Value = Option<Decision>> {
    let some = |decision| Just(Some(decision));
    prop_oneof![
        6 => Just(None),
        2 => some(Decision::Allow),
        2 => some(Decision::Ask),
        1 => some(Decision::Deny),
    ]
}

fn written() -> impl Strategy<Value = Written> {
    let edit = prop::option::weighted(0.4, edit());
    let rename = prop::option::weighted(0.2, select(TOOLS.to_vec()));
    let answer = (decision(), edit, rename, prop::bool::weighted(0.1));
    prop_oneof![
        12 => answer.prop_map(|(decision, edit, rename, responds)| {
            Written { decision, edit, rename, responds, ..Written::default() }
        }),
        1 => Just(Written { crashes: true, ..Written::default() }),
        1 => Just(Written { is_slow: true, ..Written::default() }),
    ]
}

fn rule(says: impl Strategy<Value = Written>) -> impl Strategy<Value = Rule> {
    let tool = prop::option::weighted(0.2, select(TOOLS.to_vec()));
    let parts = (prop::option::weighted(0.7, letter()), tool, says);
    parts.prop_map(|(letter, tool, says)| Rule { letter, tool, says })
}

/// Returns a hook for one of `events`, with rules whose answers are from `says`.
pub(super) fn hook_of(
    says: impl Strategy<Value = Written>,
) -> impl Strategy<Value = (Index, WorldHook)> {
    let layer = select(vec![Layer::Project, Layer::User, Layer::Managed]);
    let tools: Vec<&[&str]> = vec![&[], &["a"], &["b"], &["a", "b"], &["b", "c"]];
    let tools = prop_oneof![2 => Just(&[] as &[&str]), 3 => select(tools)];
    let when = (letter(), any::<bool>()).prop_map(|(letter, wanted)| When { letter, wanted });
    let mutates = prop_oneof![3 => Just(None), 2 => Just(Some(true)), 1 => Just(Some(false))];
    let on_error = select(vec![OnError::Block, OnError::Ask, OnError::Warn, OnError::Ignore]);
    let settings = (tools, prop::option::weighted(0.3, when), mutates, prop::option::of(on_error));
    let rules = prop::collection::vec(rule(says), 0..3);
    (any::<Index>(), layer, settings, rules).prop_map(|(event, layer, settings, rules)| {
        let (tools, when, mutates, on_error) = settings;
        let hook = WorldHook { event: Event::Stop, layer, tools, when, mutates, on_error, rules };
        (event, hook)
    })
}

/// Returns worlds of up to six hooks.
pub(super) fn world() -> impl Strategy<Value = World> {
    let before = vec![Event::ToolInputTransform, Event::ToolGuard, PreToolUse];
    let after = vec![Event::ToolResponseTransform, PostToolUse];
    let alone = vec![
        PreToolUse,
        PostToolUse,
        PermissionRequest,
        UserPromptSubmit,
        Event::BeforeAgentRun,
        Event::ToolGuard,
        Event::ToolInputTransform,
        Event::ToolResponseTransform,
    ];
    let events = prop_oneof![
        5 => Just(before),
        4 => Just(after),
        1 => select(alone).prop_map(|event| vec![event]),
    ];
    let hooks = prop::collection::vec(hook_of(written()), 0..=6);
    let text = prop::collection::vec(letter(), 0..3);
    let stands = prop::bool::weighted(0.1);
    (events, hooks, text, stands).prop_map(|(events, hooks, text, stands)| {
        let input = Payload { tool: TOOLS[0], text: text.into_iter().collect() };
        let mut world = World { events, input, hooks: Vec::new(), response_stands: false };
        world.response_stands = stands && world.is_after_tool();
        for (event, hook) in hooks {
            world.add(event, hook);
        }
        world
    })
}

impl World {
    /// Puts a hook at the end of the files.
    pub(super) fn add(&mut self, event: Index, hook: WorldHook) {
        let event = *event.get(&self.events);
        self.hooks.push(WorldHook { event, ..hook }.made_valid());
    }
}
