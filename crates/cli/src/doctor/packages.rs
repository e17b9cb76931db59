//! The agents' own packages of hookexec: plugins and extensions that the agent itself installs.

use hookexec_agents::PackageMark;
use serde_json::Value;

use crate::settings::{Settings, user_directory, value_of};

/// Returns where the agent says that its own package of hookexec is installed.
pub(crate) fn installed(all: &[Settings]) -> Option<String> {
    let first = all.first()?;
    let file = |name: &str| Some(user_directory(first.layout)?.join(name));
    let path = match first.layout.package? {
        PackageMark::Enabled(key) => {
            let mut paths = all.iter().map(|settings| &settings.path);
            paths.find(|path| is_enabled(&value_of(path)[key])).cloned()
        }
        PackageMark::EnabledTable(name) => {
            file(name).filter(|path| is_enabled(&value_of(path)["plugins"]))
        }
        PackageMark::File(name) => file(name).filter(|path| path.is_file()),
        _ => None,
    };
    path.map(|path| path.display().to_string())
}

/// Returns whether a plugin `hookexec` of any marketplace is enabled.
fn is_enabled(plugins: &Value) -> bool {
    plugins.as_object().into_iter().flatten().any(|(name, plugin)| {
        name.starts_with("hookexec@") && (*plugin == true || plugin["enabled"] == true)
    })
}
