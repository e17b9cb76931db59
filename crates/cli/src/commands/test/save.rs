//! `hookexec test --past AGENT --save-case N`: a test case of a call of the past.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use hookexec::Config;
use hookexec::config::Hook;
use hookexec_agents::Agent;
use hookexec_builtins::audit_log::clean;
use hookexec_builtins::secrets::Redactor;
use hookexec_files::directories::DROP_INS;
use hookexec_files::section::Kind as _;
use hookexec_setup::settings::store;
use hookexec_workbench::testing::{PastGroup, PolicyOutcome, is_plain, with_case};
use serde_json::{Value, json};

use crate::commands::init::change::{NOT_LOCKED, lock};
use crate::console::output;
use crate::error::{CommandError, OrCommandError as _, unreadable, unwritable};

/// Adds a case of the example in `group` to the cases of the hooks file at `hooks`, and shows the
/// exception that would let the call through, if there is one.
pub(super) fn save(
    agent: Agent,
    group: &PastGroup,
    hooks: &Path,
    exception: Option<(&str, String)>,
) -> Result<(), CommandError> {
    let decision = match group.outcome {
        PolicyOutcome::Denied => "deny",
        PolicyOutcome::Asked => "ask",
        PolicyOutcome::Rewritten | PolicyOutcome::Redacted => {
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
    let name = format!("{hook}: {decision} {about} ({time})");
    let quoted = Value::from(&*name);
    let case = format!(
        "  - name: {quoted}\n    from: {agent}\n    payload: {payload}\n    expect: {{ decision: {decision} }}\n"
    );
    let _lock = lock().or_usage(NOT_LOCKED)?;
    let cases = hooks.with_extension("test.yaml");
    let old = store::read(&cases).or_usage(unreadable(&cases))?;
    let text = with_case(&cases, old.as_deref(), (&name, &case), hooks)?;
    store::write(&cases, old.as_deref(), &text).or_usage(unwritable(&cases))?;
    let mut said = format!("added a case to {}\n", cases.display());
    let _ = match exception {
        Some((key, text)) => writeln!(
            said,
            "if this is a false alarm, write `decision: none` there, and add to the rule at {}:\n  except: {{ {key}: [{}] }}",
            group.source,
            Value::from(text)
        ),
        None if group.fitting.is_some() => {
            writeln!(said, "no exception of plain words is for this call alone")
        }
        None => Ok(()),
    };
    output::print(&said)
}

/// Returns the key and the item of the `except` of a rule that may let the example through, and nothing
/// else; `None` for other hooks.
pub(super) fn exception(group: &PastGroup) -> Option<(&'static str, String)> {
    let (fitting, reason) = (group.fitting.as_deref()?, group.reason.as_deref()?);
    if !fitting.split(' ').all(is_plain) {
        return None;
    }
    if !reason.contains("` fits `") {
        // A name alone would be one in every directory.
        let is_placed = fitting.starts_with(['/', '~', '$']) || fitting.starts_with("./");
        let place = if is_placed { "" } else { "./" };
        return Some(("files", format!("{place}{fitting}")));
    }
    // With an option, or another operand, the command may do what is stopped for another reason.
    let has_option = fitting.split(' ').any(|word| word.starts_with('-'));
    let end = if has_option { "" } else { " !-*" };
    Some(("commands", format!("{fitting} !*{end}")))
}

/// Returns a configuration of the rule alone, with one more exception; `None` if the rule can't have it.
pub(super) fn with_exception(hook: &Hook, key: &str, text: &str) -> Option<Config> {
    let mut rule = hook.read_own_keys(|reader, node| Value::read(reader, node, "")).ok()?;
    rule["type"] = json!("rule");
    let items = &mut rule["except"][key];
    *items = match items.take() {
        Value::Array(old) => [old, vec![json!(text)]].concat(),
        Value::Null => vec![json!(text)],
        one => vec![one, json!(text)],
    }
    .into();
    let mut groups = serde_json::Map::new();
    for name in hook.groups().names() {
        groups.insert(name.to_owned(), json!(hook.groups().get(name)));
    }
    let config = json!({ "groups": groups, "hooks": { hook.event.name(): [{ "hooks": [rule] }] } });
    Config::from_yaml(&config.to_string(), hook.location.path()).ok()
}
