//! The agents' own packages of hookexec: plugins and extensions that the agent itself installs.

use hookexec_agents::PackageMark;
use serde_json::Value;

use super::switches;
use crate::settings::{Settings, store, text};

/// Returns where the agent says that its own package of hookexec is installed.
pub(crate) fn installed(all: &[Settings]) -> Option<String> {
    let first = all.first()?;
    let file = |name: &str| Some(first.user_directory()?.join(name));
    let path = match first.layout.package? {
        PackageMark::Enabled(key) => {
            let mut paths = all.iter().map(|settings| &settings.path);
            paths.find(|path| is_enabled(&store::text(path), key)).cloned()
        }
        PackageMark::EnabledTable(name) => {
            file(name).filter(|path| is_enabled_table(&store::text(path)))
        }
        PackageMark::File(name) => file(name).filter(|path| path.is_file()),
        _ => None,
    };
    path.map(|path| path.display().to_string())
}

/// Returns whether the settings enable a plugin `hookexec` of any marketplace.
fn is_enabled(settings: &str, key: &str) -> bool {
    let Some(Value::Object(plugins)) = text::value_at(settings, &format!("/{key}")) else {
        return false;
    };
    plugins.iter().any(|(name, value)| name.starts_with("hookexec@") && *value == true)
}

/// The same for a TOML file.
fn is_enabled_table(config: &str) -> bool {
    let config = switches::toml(config);
    let mut plugins = config["plugins"].as_object().into_iter().flatten();
    plugins.any(|(name, plugin)| name.starts_with("hookexec@") && plugin["enabled"] == true)
}
