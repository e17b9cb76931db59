//! Codex CLI.

use super::{
    Adapter, Agent, Answer, HookSettings, ImportFormat, Intolerance, Measured, NativeEvent,
    OffSwitch, PackageMark, Plan, claude_dialect, native, transcript,
};
use hookexec::event::Event;
use hookexec::wire::Input;

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "codex", version: "0.169.0" }),
    settings: Some(&SETTINGS),
    transcripts: Some(&transcript::codex::TRANSCRIPTS),
    starts_in_project: true,
    ..Adapter::new(Agent::Codex, "codex", "Codex", native::CODEX, write)
};

static SETTINGS: HookSettings = HookSettings {
    directory: ".codex",
    directory_variable: Some("CODEX_HOME"),
    file: "hooks.json",
    lenient: false,
    intolerance: Intolerance::Members,
    switch_files: &["config.toml"],
    off_switches: &[
        OffSwitch::is(&["features", "hooks"], false),
        OffSwitch::is(&["features", "codex_hooks"], false),
        OffSwitch::managed_only(&["allow_managed_hooks_only"]),
    ],
    managed_files: &["/etc/codex/requirements.toml"],
    package: Some(PackageMark { file: "config.toml", keys: &["plugins"] }),
    // Codex waits no longer there, and warns at every start of a longer timeout.
    short_waits: &[("SessionEnd", 3), ("Interrupt", 3)],
    next_step: "NOT ACTIVE YET: run `hookexec install codex --approve`, or start `codex` and approve the \
                hooks in `/hooks`. Until then Codex skips them silently, also in `codex exec`.",
    import: Some(ImportFormat {
        timeout: "10m",
        // Patches stand in hookexec's own input as they are.
        speaks_claude: |native, matcher| {
            native.event != Some(Event::TurnEnd) && !matcher.contains("apply_patch")
        },
        ..ImportFormat::BASE
    }),
    ..HookSettings::GROUPS
};

fn write(native: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    if native.event == Some(Event::PreCompact) && plan.denies() {
        // A compaction is refused by ending the turn; this event has no key `decision`.
        let stopped = Plan { stop: Some(&plan.reason), ..Plan::default() };
        return claude_dialect::write(native, None, &stopped);
    }
    claude_dialect::write(native, None, plan)
}
