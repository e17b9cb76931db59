//! Kiro, its command line and editor: exit code 2 refuses, plain text is context.

use super::{
    Adapter, Agent, Answer, EntryMember, EntryShape, HookSettings, NativeEvent, Plan, native,
};
use hookexec::wire::Input;

pub(super) static ADAPTER: Adapter = Adapter {
    settings: Some(&SETTINGS),
    denies_by_exit_code: true,
    ..Adapter::new(Agent::Kiro, "kiro", "Kiro", native::KIRO, write)
};

static SETTINGS: HookSettings = HookSettings {
    directory: ".kiro",
    file: "hooks/hookexec.json",
    root: &[],
    shape: EntryShape::Triggers,
    members: &[EntryMember::Type, EntryMember::Command],
    version: Some("\"v1\""),
    next_step: "Kiro reads the change at once. Agents with a file of their own have hooks of their own: \
                add the same commands there.",
    ..HookSettings::GROUPS
};

fn write(_: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    match &plan.context {
        Some(context) => Answer::text(context),
        None => Answer::default(),
    }
}
