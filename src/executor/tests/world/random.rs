//! Makes random worlds. They shrink to few hooks with plain answers.

use proptest::prelude::*;

use super::*;

/// The numbers that a hook is made of. They shrink to 0, which stands for the plainest choice.
type Genes = [u8; 27];

/// Returns the numbers of one hook.
pub(in crate::executor::tests) fn genes() -> impl Strategy<Value = Genes> {
    prop::array::uniform27(any::<u8>())
}

/// Takes numbers off the genes of one hook.
struct Choices(std::array::IntoIter<u8, 27>);

impl Choices {
    fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[usize::from(self.0.next().unwrap_or_default()) % among.len()]
    }

    fn rule(&mut self) -> Rule {
        use Decision::{Allow, Ask, Deny};
        let letter = self.pick(&[None, Some('X'), Some('Y'), None, Some('Z')]);
        let tool = self.pick(&[None, None, None, Some("a"), Some("b")]);
        let [allow, ask, deny] = [Allow, Ask, Deny].map(Some);
        let decision = self.pick(&[None, allow, ask, None, allow, None, None, None, deny, None]);
        let edit = self.pick(&EDITS);
        let rename = self.pick(&[None, None, None, Some("b"), None, Some("c"), None, Some("a")]);
        let other = self.pick(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3]);
        let (responds, crashes, is_slow) = (other == 1, other == 2, other == 3);
        let says = RuleAnswer { decision, edit, rename, responds, crashes, is_slow };
        Rule { letter, tool, says }
    }
}

/// The edits of random hooks.
const EDITS: [Option<Edit>; 10] = [
    None,
    Some(Edit::Append('X')),
    None,
    Some(Edit::Prepend('Y')),
    Some(Edit::Append('Z')),
    None,
    Some(Edit::Remove('X')),
    Some(Edit::Remove('Y')),
    Some(Edit::Replace('Z', 'X')),
    None,
];

impl WorldHook {
    /// Removes what the hook's event has no use for, which is not what the page is about.
    fn made_valid(mut self) -> Self {
        let contract = self.event.contract();
        let withholds = self.event == Event::ToolResponseTransform;
        self.on_error = match self.on_error {
            Some(OnError::Block) if !contract.may_block && !withholds => None,
            Some(OnError::Ask) if !contract.may_block || withholds => None,
            other => other,
        };
        self.mutates = self.mutates.filter(|mutates| *mutates || !contract.transforms);
        for rule in &mut self.rules {
            let says = &mut rule.says;
            says.edit = says.edit.filter(|_| can_rewrite(self.event));
            says.rename = says.rename.filter(|_| contract.rewrite == Rewrite::ToolInput);
            says.responds &= contract.may_respond;
            if contract.permission == Permission::None {
                let is_denial = |decision: &Decision| *decision != Decision::Allow;
                says.decision = says.decision.filter(is_denial).and(Some(Decision::Deny));
            }
        }
        self
    }

    /// Returns the hook of one of `events` that the genes describe.
    pub(in crate::executor::tests) fn random(genes: Genes, events: &[Event]) -> Self {
        let mut choices = Choices(genes.into_iter());
        // The last event is the one whose judges may rewrite.
        let latest_first = events.iter().rev().copied();
        let event = choices.pick(&latest_first.chain(events.last().copied()).collect::<Vec<_>>());
        let layer = choices.pick(&[Layer::User, Layer::Project, Layer::Managed]);
        let tools: [&[&str]; 7] = [&[], &[], &[], &["a"], &["b"], &["a", "b"], &["b", "c"]];
        let tools = choices.pick(&tools);
        let mutates = choices.pick(&[None, Some(true), None, None, Some(true), Some(false)]);
        let [warn, ask, block] = [OnError::Warn, OnError::Ask, OnError::Block].map(Some);
        let on_error = choices.pick(&[None, warn, warn, ask, block, Some(OnError::Ignore)]);
        let is_conditional = choices.pick(&[false, false, false, true]);
        let when = When { letter: choices.pick(&LETTERS), wanted: choices.pick(&[true, false]) };
        let count = choices.pick(&[1, 2, 3]);
        let rules = (0..count).map(|_| choices.rule()).collect();
        let when = Some(when).filter(|_| is_conditional);
        WorldHook { event, layer, tools, when, mutates, on_error, rules }.made_valid()
    }
}

/// Returns worlds of up to six hooks.
pub(in crate::executor::tests) fn world() -> impl Strategy<Value = World> {
    const INPUT: Event = Event::ToolInputTransform;
    const RESPONSE: Event = Event::ToolResponseTransform;
    const BEFORE: &[Event] = &[INPUT, Event::ToolGuard, PreToolUse];
    const AFTER: &[Event] = &[RESPONSE, PostToolUse];
    let moments: [&[Event]; 14] = [
        BEFORE,
        AFTER,
        BEFORE,
        AFTER,
        BEFORE,
        BEFORE,
        &[PreToolUse],
        &[PostToolUse],
        &[PermissionRequest],
        &[UserPromptSubmit],
        &[Event::BeforeAgentRun],
        &[Event::ToolGuard],
        &[INPUT],
        &[RESPONSE],
    ];
    let text = prop::sample::select(vec!["X", "XY", "XYZ", "YZ", "ZYX", ""]);
    let hooks = prop::collection::vec(genes(), 1..=6);
    (0..moments.len(), text, hooks, 0..10).prop_map(move |(moment, text, hooks, agent)| {
        let events = moments[moment];
        let hooks = hooks.into_iter().map(|genes| WorldHook::random(genes, events)).collect();
        let is_after = moments[moment].contains(&PostToolUse);
        World {
            events: events.to_vec(),
            input: Payload { tool: TOOLS[0], text: text.to_owned() },
            hooks,
            response_stands: is_after && agent == 9,
        }
    })
}
