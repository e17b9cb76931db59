//! Codex CLI.

use super::answer::Answer;
use super::native::{Ask, Deny, NativeEvent, Response, Rewrite};
use super::plan::Plan;
use super::settings::{HookSettings, ImportFormat, PackageMark, ScriptWords};
use super::{Adapter, Agent, claude_dialect, read};
use hookexec::event::Event;
use hookexec::wire::Input;

pub(super) static ADAPTER: Adapter = Adapter {
    agent: Agent::Codex,
    name: "codex",
    title: "Codex",
    events: &EVENTS,
    project: None,
    settings: Some(&SETTINGS),
    plugin: None,
    refine: read::plain,
    write,
};

static SETTINGS: HookSettings = HookSettings {
    directory: ".codex",
    directory_variable: Some("CODEX_HOME"),
    file: "hooks.json",
    lenient: false,
    managed_files: &["/etc/codex/requirements.toml"],
    package: Some(PackageMark::EnabledTable("config.toml")),
    // Codex waits no longer there, and warns at every start of a longer timeout.
    short_waits: &[("SessionEnd", 3), ("Interrupt", 3)],
    next_step: "NOT ACTIVE YET: run `hookexec install codex --approve`, or start `codex` and approve the \
                hooks in `/hooks`. Until then Codex skips them silently, also in `codex exec`.",
    import: Some(ImportFormat {
        timeout: "10m",
        words: |native| match native.event {
            Some(Event::TurnEnd) => ScriptWords::Own,
            _ => ScriptWords::ClaudeCodeExceptPatches,
        },
        ..ImportFormat::BASE
    }),
    ..HookSettings::GROUPS
};

// An answer with a key that its event does not take is thrown away whole, and the tool runs.
static EVENTS: [NativeEvent; 12] = [
    NativeEvent::new("SessionStart", Event::SessionStart).context().says(),
    NativeEvent::new("UserPromptSubmit", Event::UserPromptSubmit)
        .deny(Deny::Blocks)
        .context()
        .says()
        .stops(),
    NativeEvent::new("PreToolUse", Event::PreToolUse)
        .deny(Deny::Blocks)
        .ask(Ask::Denies)
        .rewrite(Rewrite::TakesWithAllow)
        .context()
        .says(),
    NativeEvent::new("PermissionRequest", Event::PermissionRequest)
        .deny(Deny::Blocks)
        .ask(Ask::Silence)
        .allows(),
    NativeEvent::new("PostToolUse", Event::PostToolUse)
        .deny(Deny::TellsAsContext)
        .response(Response::AsReason)
        .context()
        .says(),
    NativeEvent::new("Stop", Event::Stop).deny(Deny::GoesOn).says(),
    NativeEvent::new("SubagentStop", Event::SubagentStop).deny(Deny::GoesOn),
    NativeEvent::new("PreCompact", Event::PreCompact).deny(Deny::Blocks).stops(),
    NativeEvent::new("PostCompact", Event::AfterCompaction),
    NativeEvent::new("SessionEnd", Event::SessionEnd),
    NativeEvent::new("Interrupt", Event::TurnEnd),
    NativeEvent::unmapped("SubagentStart"),
];

fn write(native: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    if native.event == Some(Event::PreCompact) && plan.denies() {
        // A compaction is refused by ending the turn; this event has no key `decision`.
        let stopped = Plan { stop: Some(&plan.reason), ..Plan::default() };
        return claude_dialect::write(native, &stopped, None);
    }
    claude_dialect::write(native, plan, None)
}
