//! The policies that come from elsewhere: what is in force, and how old it is.

use std::time::Duration;

use hookexec_project::policy::now;
use hookexec_project::policy::{Policy, spoken};

use super::{Grade, Section};

/// Returns what is known about the policies, if there are some.
pub fn section(policies: &[Policy]) -> Option<Section> {
    let mut section = Section::new("Policies");
    for policy in policies {
        add(&mut section, policy);
    }
    if section.findings.is_empty() { None } else { Some(section) }
}

fn add(section: &mut Section, policy: &Policy) {
    let (source, state) = (&policy.settings.source, &policy.state);
    if let Some(failure) = &policy.failure {
        let place = &policy.settings.location;
        section.problem(format!(
            "{place}: {failure}. Nothing that is guarded passes: run `hookexec policy refresh`"
        ));
    } else if let Some(in_force) = &state.in_force {
        // After this time no timer seems to refresh the policy.
        let grade =
            if in_force.age() > Duration::from_hours(24) { Grade::Warning } else { Grade::Ok };
        let (from, age) = (&in_force.source, spoken(in_force.age()));
        let text = format!(
            "{from}: version {} (sha256:{}), which the source last had {age} ago",
            in_force.version, in_force.digest
        );
        section.add(grade, text);
        if policy.current().is_none() {
            section.warning(format!(
                "{source}: this source, with this key, has given no policy yet; the one of {from} stays \
                 in force"
            ));
        }
    }
    if !state.problem.is_empty() {
        let ago = spoken(Duration::from_secs(now().saturating_sub(state.failed_at)));
        let problem = &state.problem;
        section.warning(format!("{source}: the last refresh failed {ago} ago: {problem}"));
    }
}
