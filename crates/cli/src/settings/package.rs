//! The package of hookexec that an agent itself installs: a plugin or an extension.

use hookexec_agents::PackageMark;
use serde_json::Value;

use super::inspect::AgentFile;
use super::{user_directory, value_of};

/// Returns where the agent says that its own package of hookexec is installed.
pub(crate) fn package(files: &[AgentFile]) -> Option<String> {
    let layout = files.first()?.agent.settings()?;
    let directory = user_directory(layout)?;
    let path = match layout.package? {
        PackageMark::Enabled(key) => {
            let file = files.iter().find(|file| is_enabled(&value_of(&file.path)[key]))?;
            file.path.clone()
        }
        PackageMark::EnabledTable(name) => {
            let path = directory.join(name);
            if !is_enabled(&value_of(&path)["plugins"]) {
                return None;
            }
            path
        }
        PackageMark::File(name) => Some(directory.join(name)).filter(|path| path.is_file())?,
        _ => return None,
    };
    Some(path.display().to_string())
}

/// Returns whether a plugin `hookexec` of any marketplace is enabled.
fn is_enabled(plugins: &Value) -> bool {
    plugins.as_object().into_iter().flatten().any(|(name, plugin)| {
        name.starts_with("hookexec@") && (*plugin == true || plugin["enabled"] == true)
    })
}
