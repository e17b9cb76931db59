//! Hosts whose events are known: what `check --host` measures a configuration against.

use super::{Agent, UnknownName};
use hookexec::Event;
use hookexec::lifecycle::DeclaredEvents;

/// Hosts that call hooks themselves; the coding agents are in [`Agent`].
const HOSTS: [&str; 2] = ["docker-agent", "picoclaw"];

/// The stages at which PicoClaw's hooks are asked.
const PICOCLAW: [Event; 5] = [
    Event::BeforeLlmCall,
    Event::AfterLlmCall,
    Event::PreToolUse,
    Event::PermissionRequest,
    Event::PostToolUse,
];

/// Returns the names of all hosts whose events are known.
fn known_hosts() -> impl Iterator<Item = &'static str> {
    HOSTS.into_iter().chain(Agent::all().map(Agent::name))
}

/// Returns what the host of that name fires: a coding agent's name, `docker-agent` or `picoclaw`.
///
/// # Errors
/// When the host is not known.
pub fn events_of_host(name: &str) -> Result<DeclaredEvents, UnknownName> {
    match name {
        "docker-agent" => return Ok(DeclaredEvents::new("docker-agent", Event::all())),
        "picoclaw" => return Ok(DeclaredEvents::new("PicoClaw", PICOCLAW)),
        _ => {}
    }
    if let Ok(agent) = name.parse::<Agent>() {
        let events = agent.events().iter().flat_map(|native| native.fires(agent));
        return Ok(DeclaredEvents::new(agent.title(), events));
    }
    Err(UnknownName::new("host", name, known_hosts()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_host_declares_its_events() {
        for host in known_hosts() {
            let declared = events_of_host(host).unwrap();
            assert!(declared.fires(Event::PreToolUse), "{host}");
        }
        assert!(!events_of_host("claude-code").unwrap().fires(Event::BeforeLlmCall));
    }

    #[test]
    fn a_misspelt_host_names_the_one_meant() {
        let error = events_of_host("claude_code").unwrap_err().to_string();
        assert_eq!(error, "unknown host `claude_code`; did you mean `claude-code`?");
    }
}
