//! `hookexec test --past AGENT --save-case N`: a test case of a call of the past.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use hookexec_agents::Agent;
use hookexec_builtins::builtins::audit_log::clean;
use hookexec_builtins::builtins::secrets::Redactor;
use hookexec_files::directories::DROP_INS;
use hookexec_setup::settings::store;
use hookexec_workbench::testing::{Outcome, PastGroup, is_plain, with_case};
use serde_json::Value;

use crate::console::output;
use crate::error::{CommandError, OrCommandError as _, unreadable, unwritable};

/// Adds a case of the example in `group` to the cases of the hooks file at `hooks`, and shows the
/// exception that would let the call through.
pub(super) fn save(agent: Agent, group: &PastGroup, hooks: &Path) -> Result<(), CommandError> {
    let decision = match group.outcome {
        Outcome::Denied => "deny",
        Outcome::Asked => "ask",
        Outcome::Rewritten | Outcome::Redacted => {
            return Err(CommandError::usage("a case is made of calls that are denied or asked"));
        }
    };
    // Each YAML file there is a hooks file.
    if hooks.parent().is_some_and(|directory| directory.ends_with(DROP_INS)) {
        let problem = format!("no cases can be put beside {}", hooks.display());
        let hint = "write a file of cases beside `hooks.d`, with `config: hooks.d/NAME.yaml`";
        return Err(CommandError::usage(problem).hint(hint));
    }
    // The file of cases is for others, too.
    let env: BTreeMap<_, _> = std::env::vars_os().collect();
    let redactor = Redactor::new(&env);
    let mut payload = group.payload.clone().unwrap_or_default();
    if let Value::Object(fields) = &mut payload {
        clean(&redactor, fields);
    }
    let (hook, time) = (&group.hook, &group.time);
    let about = redactor.redact(group.fitting.as_deref().unwrap_or(&group.tool));
    let name = Value::from(format!("{hook}: {decision} {about} ({time})"));
    let case = format!(
        "  - name: {name}\n    from: {agent}\n    payload: {payload}\n    expect: {{ decision: {decision} }}\n"
    );
    let cases = hooks.with_extension("test.yaml");
    let old = store::read(&cases).or_usage(unreadable(&cases))?;
    let text = with_case(&cases, old.as_deref(), &case).map_err(CommandError::config)?;
    store::write(&cases, old.as_deref(), &text).or_usage(unwritable(&cases))?;
    let mut said = format!("added a case to {}\n", cases.display());
    if let Some(exception) = exception(group) {
        let source = &group.source;
        let _ = writeln!(
            said,
            "if this is a false alarm, write `decision: none` there, and add to the rule at {source}:\n  {exception}"
        );
    }
    output::print(&said)
}

/// Returns the `except` of a rule that lets the example through; `None` for other hooks, and if it would
/// let more through.
fn exception(group: &PastGroup) -> Option<String> {
    let (fitting, reason) = (group.fitting.as_deref()?, group.reason.as_deref()?);
    if !fitting.split(' ').all(is_plain) {
        return None;
    }
    let key = if reason.contains("` fits `") { "commands" } else { "files" };
    Some(format!("except: {{ {key}: [{}] }}", Value::from(fitting)))
}
