//! Factory's Droid.

use super::{
    Adapter, Agent, HookSettings, Intolerance, Measured, OffSwitch, claude_dialect, native,
};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "droid", version: "0.225.2" }),
    project: Some("FACTORY_PROJECT_DIR"),
    settings: Some(&SETTINGS),
    // It has two forms of a denial; this one needs no parsing.
    denies_by_exit_code: true,
    ..Adapter::new(Agent::Droid, "droid", "Droid", native::DROID, claude_dialect::write)
};

static SETTINGS: HookSettings = HookSettings {
    directory: ".factory",
    file: "hooks.json",
    older_file: Some("settings.json"),
    switch_files: &["settings.json"],
    root: &[],
    intolerance: Intolerance::Entries,
    off_switches: &[
        OffSwitch::is(&["hooksDisabled"], true),
        OffSwitch::is(&["hooks", "hooksDisabled"], true),
    ],
    next_step: "Restart Droid and review the hooks in `/hooks`.",
    ..HookSettings::GROUPS
};
