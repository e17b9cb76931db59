//! Kilo CLI, which grew out of `OpenCode` and loads its plugin.

use super::opencode::{EVENTS, TEXT};
use super::{Adapter, Agent, Measured, PackageMark, Plugin, PluginFile, plugin};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "kilo", version: "7.7.7" }),
    plugin: Some(&PLUGIN),
    ..Adapter::new(Agent::Kilo, "kilo", "Kilo CLI", EVENTS, plugin::write)
};

static PLUGIN: Plugin = Plugin {
    source: "plugins/opencode",
    file: Some(PluginFile {
        text: TEXT,
        is_in_config: true,
        directory: "kilo",
        project: ".kilo",
        file: "plugin/hookexec.js",
    }),
    package: PackageMark { file: "../kilo.json", keys: &["plugin"] },
    off_switches: &[],
};
