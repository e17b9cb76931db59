//! Random worlds of hooks, and how one is played with the engine.
//!
//! A hook of a world answers by rules on the tool's name and a short text. The text is the command
//! of a call, the response after it, or a prompt. It consists of the letters X, Y and Z, which stand
//! in no name and no message of hookexec.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;

use tokio::time::sleep;

use super::*;
use crate::config::file_of_layer;
use crate::event::{FailureMode, Permission, Rewrite};
use crate::executor::DispatchOptions;

mod random;

pub(super) use random::{genes, world};

const LETTERS: [char; 3] = ['X', 'Y', 'Z'];
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
pub(super) struct RuleAnswer {
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
    pub(super) says: RuleAnswer,
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
    /// Returns whether the hook's matcher chooses the tool.
    pub(super) fn is_for(&self, tool: &str) -> bool {
        let is_matched = self.event.contract().tool_matched && !self.tools.is_empty();
        !is_matched || self.tools.contains(&tool)
    }

    /// Returns whether the hook's matcher and its condition choose the payload.
    pub(super) fn matches(&self, payload: &Payload) -> bool {
        self.is_for(payload.tool)
            && self.when.is_none_or(|when| payload.text.contains(when.letter) == when.wanted)
    }

    /// Returns the answer of the first rule that is about the payload.
    fn rule_answer(&self, payload: &Payload) -> RuleAnswer {
        for rule in &self.rules {
            let has_letter = rule.letter.is_none_or(|letter| payload.text.contains(letter));
            if has_letter && rule.tool.is_none_or(|tool| tool == payload.tool) {
                return rule.says;
            }
        }
        RuleAnswer::default()
    }

    /// Returns the answer to a payload, which depends on nothing else.
    pub(super) fn answer(&self, payload: &Payload) -> WorldAnswer {
        let written = self.rule_answer(payload);
        if written.crashes || written.is_slow {
            let decision = self.decision_of_failure();
            return WorldAnswer { decision, failed: true, ..WorldAnswer::default() };
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
        let RuleAnswer { decision, responds, .. } = written;
        // An answer in the tool's place ranks as an allow.
        let decision = decision.or(responds.then_some(Decision::Allow));
        WorldAnswer { decision, rewrite, responds, failed: false }
    }

    /// Returns what a failure decides: by `on_error`, else by the event.
    fn decision_of_failure(&self) -> Option<Decision> {
        let contract = self.event.contract();
        let asks = match contract.permission {
            Permission::None => Decision::Deny,
            Permission::Decides | Permission::Approves => Decision::Ask,
        };
        match (self.on_error, contract.failure) {
            (Some(OnError::Block), _) | (None, FailureMode::Closed) => Some(Decision::Deny),
            (Some(OnError::Ask), _) | (None, FailureMode::Ask) => Some(asks),
            // The response is withheld, which is a denial.
            (None, FailureMode::Open) if self.event == Event::ToolResponseTransform => {
                Some(Decision::Deny)
            }
            (Some(OnError::Warn | OnError::Ignore), _) | (None, FailureMode::Open) => None,
        }
    }

    /// Returns whether the hook takes turns from the start.
    pub(super) fn is_declared(&self) -> bool {
        self.mutates == Some(true) || self.event.contract().transforms
    }

    /// Returns whether an answer of the hook may make it a rewriter.
    pub(super) fn may_become_rewriter(&self) -> bool {
        !self.is_declared() && self.mutates.is_none() && can_rewrite(self.event)
    }

    /// Returns a hooks block that has this hook alone, with the keys that only a file can set.
    fn yaml(&self, field: &str) -> String {
        let mut keys = "type: builtin, command: play".to_owned();
        if let Some(mutates) = self.mutates {
            let _ = write!(keys, ", mutates: {mutates}");
        }
        if let Some(When { letter, wanted }) = self.when {
            let leaf = format!("{{ field: {field}, regex: {letter} }}");
            let rule = if wanted { leaf } else { format!("{{ not: {leaf} }}") };
            let _ = write!(keys, ", when: {rule}");
        }
        if self.event.contract().tool_matched {
            keys = format!("hooks: [{{ {keys} }}]");
        }
        format!("{}: [{{ {keys} }}]", self.event)
    }

    /// Returns the hook as a file of its layer has it, the one with number `index` of the world.
    fn configured(&self, index: usize, field: &str) -> Hook {
        thread_local! {
            /// Hooks by their text: reading one takes longer than playing a world.
            static HOOKS: RefCell<HashMap<String, Hook>> = RefCell::default();
        }
        let yaml = self.yaml(field);
        let hook_of_yaml = HOOKS.with_borrow_mut(|hooks| {
            let read = || Config::from_yaml(&yaml, "hooks.yaml").expect(&yaml).hooks.remove(0);
            hooks.entry(yaml.clone()).or_insert_with(read).clone()
        });
        let tools = Matcher::new(&self.tools.join("|")).unwrap();
        Hook {
            matcher: if self.tools.is_empty() { Matcher::everything() } else { tools },
            args: vec![index.to_string()],
            name: Some(format!("hook {index}")),
            timeout: TIMEOUT,
            on_error: self.on_error,
            location: file_of_layer(self.layer, Path::new("/hooks.yaml")),
            ..hook_of_yaml
        }
    }
}

/// Returns whether a hook of the event may rewrite the payload.
pub(super) fn can_rewrite(event: Event) -> bool {
    event.contract().rewrite != Rewrite::None
}

/// Returns the reason that a hook gives for a denial or an ask.
pub(super) fn reason_of(hook: usize) -> String {
    format!("<{hook}>")
}

impl World {
    fn is_after_tool(&self) -> bool {
        self.events.iter().all(|event| event.contract().rewrite == Rewrite::ToolResponse)
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
            Some(text) if text.contains(LETTERS) => "a placeholder that was rewritten",
            _ => PLACEHOLDER,
        };
        let tool = TOOLS.into_iter().find(|tool| *tool == input.tool()).unwrap_or(self.input.tool);
        Payload { tool, text: text.to_owned() }
    }

    /// Returns the engine's form of a hook's answer.
    fn engine_output(&self, index: usize, payload: &Payload) -> Output {
        let (decision, answer) =
            (self.hooks[index].rule_answer(payload).decision, self.hooks[index].answer(payload));
        let reason = decision.map(|_| reason_of(index));
        let mut output = Output { decision, reason, ..Output::default() };
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
        let answer_call = move |input: Arc<Input>, args: Arc<[String]>| {
            let (world, index): (_, usize) = (Arc::clone(&world), args[0].parse().unwrap());
            let payload = world.payload(&input);
            let repeated = input.repeated;
            let call = HookCall { hook: index, payload: payload.clone(), repeated };
            log.lock().unwrap().push(call);
            let delay = Duration::from_millis(delays.get(index).copied().unwrap_or_default());
            async move {
                let written = world.hooks[index].rule_answer(&payload);
                sleep(if written.is_slow { TIMEOUT * 2 } else { delay }).await;
                if written.crashes {
                    return Err("on purpose");
                }
                Ok(Some(world.engine_output(index, &payload)))
            }
        };
        let mut registry = Registry::new();
        registry.register_builtin("play", Builtin::future(answer_call));
        let hooks = self.hooks.iter().enumerate();
        let mut hooks: Vec<Hook> =
            hooks.map(|(index, hook)| hook.configured(index, self.field())).collect();
        // As they are loaded.
        hooks.sort_by_key(|hook| hook.layer().rank());
        let config = Config { hooks, ..Config::default() };
        let builder = Executor::builder(config).registry(registry).env([]).working_dir("/project");
        let executor = builder.build().unwrap();
        let options =
            DispatchOptions { stands: self.response_stands, ..DispatchOptions::default() };
        let input = self.engine_input();
        // Time stands still but for the sleeps.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let decided = runtime.block_on(executor.run_moment(&self.events, &input, options));
        let verdict = decided.verdict;
        let last = decided.rewritten.as_ref().unwrap_or(&input);
        let responder = verdict.respond.as_ref().and_then(|given| given.for_llm.parse().ok());
        let mut calls = std::mem::take(&mut *calls.lock().unwrap());
        calls.sort();
        let input = if self.response_stands { self.input.clone() } else { self.payload(last) };
        (Played { decision: verdict.decision, input, responder, calls }, verdict)
    }
}
