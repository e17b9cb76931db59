//! `hookexec policy refresh`: fetches the policies that hooks files name, and puts them in force.

use hookexec_project::policy::refresh;

use super::tested;
use crate::Exit;
use crate::config::{ConfigArgs, Purpose};
use crate::console::output;
use crate::error::{CommandError, warn};

pub(super) fn execute() -> Result<Exit, CommandError> {
    let mut options = ConfigArgs::default().options(Purpose::Run)?;
    options.without_project = true;
    let policies = hookexec_project::load(&options)?.policies;
    if policies.is_empty() {
        let message = "no hooks file of the administrator and of the user names a policy";
        let hint = "add `policy:` to it; `hookexec check` shows the mistakes of a file";
        return Err(CommandError::negative(message).hint(hint));
    }
    let mut exit = Exit::Success;
    for mut policy in policies {
        match refresh(&mut policy, tested::passes) {
            Ok(is_new) => {
                let word = if is_new { "" } else { "still " };
                let version = policy.state.in_force.map_or(0, |in_force| in_force.version);
                let source = &policy.settings.source;
                output::print(&format!("{source}: version {version} is {word}in force\n"))?;
            }
            Err(problem) => {
                exit = Exit::Negative;
                warn(&format!("{} was not refreshed: {problem}", policy.settings.source));
            }
        }
    }
    Ok(exit)
}
