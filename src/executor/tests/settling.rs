//! How asks are settled, in random worlds: a plain model of the paragraph "Asks" of the page, and law 1
//! for asks. No hook rewrites here, and each answers at once.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;

use super::layered::in_layer;
use super::*;
use crate::asks::Judged;
use crate::executor::{BEFORE_TOOL, DispatchOptions};

const CASES: u32 = 20_000;
const ALLOW: Option<Decision> = Some(Decision::Allow);
const ASK: Option<Decision> = Some(Decision::Ask);
const DENY: Option<Decision> = Some(Decision::Deny);

/// A hook that answers always the same.
#[derive(Debug, Clone)]
struct Voice {
    event: Event,
    layer: Layer,
    says: Option<Decision>,
    fails: bool,
    on_error: Option<OnError>,
}

impl Voice {
    fn decision(&self) -> Option<Decision> {
        match self.on_error {
            _ if !self.fails => self.says,
            Some(OnError::Warn | OnError::Ignore) => None,
            Some(OnError::Ask) => ASK,
            None if self.event == PermissionRequest => ASK,
            Some(OnError::Block) | None => DENY,
        }
    }

    /// Returns whether it failed, and nothing is settled for that.
    fn prevents_settling(&self) -> bool {
        self.fails && self.decision().is_some()
    }
}

/// The hooks of one tool call.
#[derive(Debug, Clone)]
struct Question {
    voices: Vec<Voice>,
    /// Whether the agent itself would ask its user.
    host_asks: bool,
}

/// The model: returns the verdict, and the hooks that are called.
fn settled(question: &Question) -> (Option<Decision>, BTreeSet<usize>) {
    let of = |events: &'static [Event]| {
        let voices = question.voices.iter().enumerate();
        voices.filter(|(_, voice)| events.contains(&voice.event))
    };
    let strictest = |events| of(events).filter_map(|(_, voice)| voice.decision()).max();
    let numbers = |events| of(events).map(|(number, _)| number);
    let asking = |events| {
        let voices = of(events).filter(|(_, voice)| voice.decision() == ASK);
        voices.map(|(_, voice)| (voice.layer.rank(), voice.event))
    };
    let mut called: BTreeSet<usize> = numbers(&BEFORE_TOOL).collect();
    let mut asks: Vec<(usize, Event)> = asking(&BEFORE_TOOL).collect();
    let decision = strictest(&BEFORE_TOOL);
    if decision.is_none() && question.host_asks {
        asks.push((Layer::User.rank(), PreToolUse));
    } else if decision != ASK {
        return (decision, called);
    }
    for events in [&[PermissionRequest], &[Event::Approval]] {
        if asks.is_empty() || numbers(events).next().is_none() {
            continue;
        }
        called.extend(numbers(events));
        let is_person = events[0] == Event::Approval;
        // A person who gives no answer has not approved.
        if strictest(events) == DENY || is_person && strictest(events).is_none() {
            return (DENY, called);
        }
        asks.extend(asking(events));
        if of(events).any(|(_, voice)| voice.prevents_settling()) {
            continue;
        }
        for (_, allows) in of(events).filter(|(_, voice)| voice.decision() == ALLOW) {
            let is_settled = |ask: &(usize, Event)| {
                ask.0 >= allows.layer.rank() && (ask.1 != Event::ToolGuard || is_person)
            };
            asks.retain(|ask| !is_settled(ask));
        }
    }
    (if asks.is_empty() { ALLOW } else { ASK }, called)
}

/// Has the engine evaluate and settle the question.
async fn engine_settles(question: &Question) -> (Option<Decision>, BTreeSet<usize>) {
    let called = Arc::new(Mutex::new(BTreeSet::new()));
    let (voices, log) = (question.voices.clone(), Arc::clone(&called));
    let speak = move |input: &Input, args: &[String]| {
        let number: usize = args[0].parse().unwrap();
        assert!(log.lock().unwrap().insert(number), "hook {number} is called twice");
        let voice = &voices[number];
        if voice.fails {
            return Err("on purpose");
        }
        let digest = input.approval.as_ref().map(|asked| asked.digest.clone());
        let decision = voice.says;
        Ok(Some(Output { decision, digest, ..Output::default() }))
    };
    let mut registry = Registry::new();
    registry.register_builtin("speak", Builtin::inline(speak));
    let mut hooks = Vec::new();
    for (number, voice) in question.voices.iter().enumerate() {
        let hook = hook(voice.event, "speak", &[&number.to_string()]);
        hooks.push(in_layer(voice.layer, Hook { on_error: voice.on_error, ..hook }));
    }
    hooks.sort_by_key(|hook| hook.layer().rank());
    let config = Config { hooks, ..Config::default() };
    let builder = Executor::builder(config).registry(registry).env([]).working_dir("/project");
    let executor = builder.build().unwrap();
    let (input, options) = (call("ls"), DispatchOptions::default());
    let decided = executor.run_moment(&BEFORE_TOOL, &input, options).await;
    let mut verdict = decided.verdict;
    let judged = Judged {
        event: PreToolUse,
        verdicts: &decided.verdicts,
        original: &input,
        input: &input,
        options,
        consults: true,
        host_asks: question.host_asks.then_some("the agent asks its user"),
        asks_person: true,
    };
    executor.settle(&mut verdict, &judged).await;
    let called = called.lock().unwrap().clone();
    (verdict.decision, called)
}

fn voice() -> impl Strategy<Value = Voice> {
    let before = [PreToolUse, PreToolUse, Event::ToolGuard];
    let event = select([&before[..], &[PermissionRequest; 3], &[Event::Approval]].concat());
    let layer = select(vec![Layer::Project, Layer::User, Layer::Managed]);
    let says = select(vec![None, ALLOW, ASK, ALLOW, ASK, ALLOW, ASK, DENY]);
    let on_error = select(vec![OnError::Block, OnError::Ask, OnError::Warn, OnError::Ignore]);
    let failure = (prop::bool::weighted(0.15), prop::option::of(on_error));
    (event, layer, says, failure).prop_map(|(event, layer, says, (fails, on_error))| Voice {
        event,
        layer,
        says,
        fails,
        on_error,
    })
}

fn question() -> impl Strategy<Value = Question> {
    (prop::collection::vec(voice(), 1..7), any::<bool>()).prop_map(|(mut voices, host_asks)| {
        // Of several persons the first answer counts, so the order of finishing matters.
        let mut persons = 0;
        voices.retain(|voice| {
            persons += usize::from(voice.event == Event::Approval);
            voice.event != Event::Approval || persons == 1
        });
        Question { voices, host_asks }
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn asks_are_settled_as_the_model_says(question in question()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (decision, called) = runtime.block_on(engine_settles(&question));
        for number in &called {
            let voice = &question.voices[*number];
            prop_assert!(voice.decision() != DENY || decision == DENY, "a denial is lost");
            let answers = |other: &&usize| {
                let other = &question.voices[**other];
                let may_settle = [PermissionRequest, Event::Approval].contains(&other.event);
                may_settle && other.says == ALLOW && other.layer.rank() <= voice.layer.rank()
            };
            let is_lost = voice.decision() == ASK && decision < ASK;
            prop_assert!(!is_lost || called.iter().any(|other| answers(&other)), "an ask is lost");
        }
        prop_assert_eq!((decision, called), settled(&question));
    }
}
