//! Hooks that run twice: they were imported and still stand in the settings they came from.

use hookexec::internal::Check;

use super::Finding;
use crate::import;
use crate::settings::Settings;

/// Returns a warning when the settings, which call hookexec, hold commands of hooks that hookexec
/// runs.
pub(super) fn doubled(settings: &Settings, check: &Check) -> Option<Finding> {
    let ours: Vec<_> = check.configured().filter(|hook| hook.enabled).collect();
    let twice = import::commands(settings.agent, &settings.path)
        .into_iter()
        .filter(|command| ours.iter().any(|hook| hook.command.as_ref() == Some(command)))
        .count();
    (twice > 0).then(|| {
        Finding::warning(format!(
            "{}: {twice} of the hooks there stand in the hooks files, too, and run twice; take them \
             out of the settings",
            settings.path.display()
        ))
    })
}
