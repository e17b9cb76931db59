//! Hooks that nobody would ever call are named at start.

use hookexec::Event;
use hookexec::config::{Command, Hook};
use hookexec::lifecycle::{DeclaredEvents, Session, SessionSource};

use super::support::{executor, silent};

#[tokio::test]
async fn a_hook_on_an_event_that_the_host_does_not_fire_is_named() {
    let (executor, _) = executor([Event::PreToolUse, Event::AfterCompaction], silent());
    let session = Session::builder("s-1").start(executor, SessionSource::Startup).await;
    let unfired: Vec<String> = session.unfired().iter().map(ToString::to_string).collect();
    assert_eq!(
        unfired,
        ["<program>: `scripted` never runs: this agent does not fire `after_compaction`"]
    );
    session.end("exit").await;
}

#[tokio::test]
async fn a_host_that_declares_the_event_is_believed() {
    let (executor, _) = executor(Event::all(), silent());
    let session = Session::builder("s-1")
        .declares(DeclaredEvents::new("everything", Event::all()))
        .attach(executor);
    assert_eq!(session.unfired(), []);
}

#[test]
fn what_the_drivers_fire_leaves_out_what_only_a_host_can_know() {
    let declared = DeclaredEvents::driven();
    let unfired: Vec<Event> = Event::all().filter(|event| !declared.fires(*event)).collect();
    assert_eq!(
        unfired,
        [
            Event::OnUserInput,
            Event::UserSteeringMessagesSubmit,
            Event::UserFollowupSubmit,
            Event::PreCompact,
            Event::OnAgentSwitch,
            Event::BeforeCompaction,
            Event::AfterCompaction,
            Event::WorktreeCreate,
            Event::BeforeAgentRun,
            Event::AfterAgentComplete,
        ]
    );
}

#[test]
fn a_hook_that_is_switched_off_is_not_missed() {
    let mut hook = Hook::new(Event::WorktreeCreate, "command", Command::Text("true".to_owned()));
    let unfired = |hook: &Hook| DeclaredEvents::driven().unfired([hook]).len();
    assert_eq!(unfired(&hook), 1);
    hook.enabled = false;
    assert_eq!(unfired(&hook), 0);
}
