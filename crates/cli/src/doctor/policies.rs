//! The policies that come from elsewhere: what is in force, and how old it is.

use std::time::Duration;

use hookexec::internal::policy::now;
use hookexec::internal::{Policy, spoken};

use super::{Finding, Section};

/// Returns what is known about the policies, if there are some.
pub(super) fn section(policies: &[Policy]) -> Option<Section> {
    let findings: Vec<Finding> = policies.iter().flat_map(findings).collect();
    (!findings.is_empty()).then(|| Section::new("Policies", findings))
}

fn findings(policy: &Policy) -> Vec<Finding> {
    let (source, state) = (&policy.settings.source, &policy.state);
    let mut findings = Vec::new();
    if let Some(failure) = &policy.failure {
        let place = &policy.settings.location;
        findings.push(Finding::problem(format!(
            "{place}: {failure}. Nothing that is guarded passes: run `hookexec policy refresh`"
        )));
    } else if let Some(in_force) = &state.in_force {
        let text = format!(
            "{}: version {} (sha256:{}), which the source last had {} ago",
            in_force.source,
            in_force.version,
            in_force.digest,
            spoken(in_force.age()),
        );
        let is_late = in_force.age() > LATE;
        findings.push(if is_late { Finding::warning(text) } else { Finding::fine(text) });
        if policy.current().is_none() {
            findings.push(Finding::warning(format!(
                "{source}: this source, with this key, has given no policy yet; the one of {} stays in \
                 force",
                in_force.source
            )));
        }
    }
    if !state.problem.is_empty() {
        let ago = spoken(Duration::from_secs(now().saturating_sub(state.failed_at)));
        findings.push(Finding::warning(format!(
            "{source}: the last refresh failed {ago} ago: {}",
            state.problem
        )));
    }
    findings
}

/// After this time no timer seems to refresh the policy.
const LATE: Duration = Duration::from_hours(24);
