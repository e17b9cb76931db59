//! The types of a resolved configuration, which nothing downstream checks again.
#![expect(clippy::exhaustive_enums, reason = "the words of keys")]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hookexec_files::diagnostic::Diagnostics;
use hookexec_files::source::Location;
use serde::Serialize;
use serde_json::Value;

use super::condition::Condition;
use super::failed::{FailedFile, Untrusted};
use super::hook::OwnKeys;
use super::layer::{InLayer as _, Layer};
use super::limit::{Period, RunLimit};
use super::settings::PolicySettings;
use crate::event::Event;
use crate::matcher::Matcher;
use crate::text::shortened;
use crate::wire::Mode;

/// A loaded configuration: the hooks of all its files, in order, and the processes they call.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Config {
    /// Every hook, in config order; disabled ones included.
    pub hooks: Vec<Hook>,
    /// The processes by name.
    pub processes: BTreeMap<String, Process>,
    /// How many hooks of one event run at once, of all layers together.
    pub max_parallel: Option<usize>,
    /// The logs of decisions: one for each file that says `audit:`.
    pub audit: Vec<super::settings::AuditSettings>,
    /// The files it was read from, in order.
    pub files: Vec<PathBuf>,
    /// The files that don't count as they stand. Each is one hook of its layer that always fails.
    pub failed: Vec<FailedFile>,
    /// Whether files that were named may be among them.
    pub(crate) named_may_fail: bool,
    /// The policies that come from elsewhere. Their hooks are among the others.
    pub policies: Vec<PolicySettings>,
    /// The files that are not read, although their author may count on them: those of layers that
    /// the administrator leaves out, and names that are nearly right. They are among the warnings,
    /// too.
    pub left_out: Diagnostics,
    /// Warnings of things that are allowed and probably not meant, such as a guard whose crash lets the tool run.
    pub warnings: Diagnostics,
}

/// One configured hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Hook {
    /// The event it is configured for.
    pub event: Event,
    /// Which tools it is for; matches everything on events that have no tool.
    pub matcher: Matcher,
    /// Its type: `command`, `builtin`, `process`, or one of the host's own.
    pub kind: String,
    /// The command.
    pub command: Option<Command>,
    /// Arguments for the handler.
    pub args: Vec<String>,
    /// Its name for people.
    pub name: Option<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// Environment variables it gets beside the inherited ones, in order.
    pub env: BTreeMap<String, String>,
    /// Where it runs, as written: `~` and `$VAR` are expanded when it is built.
    pub working_dir: Option<String>,
    /// The program that runs a shell string; `/bin/sh`, on Windows Git Bash, when `None`.
    pub shell: Option<String>,
    /// Which variables of the environment it inherits.
    pub inherit_env: InheritEnv,
    /// The most that is captured of each of its output streams, in bytes.
    pub max_output: usize,
    /// The meaning of its failure; the event's contract decides when `None`.
    pub on_error: Option<OnError>,
    /// The meaning of an exit code other than 0 and 2 where `on_error` is `None`; a warning when
    /// `None`. `defaults: { on_error: ask }` sets it on events that fail closed: a failure stays a
    /// denial.
    pub on_exit_code: Option<OnError>,
    /// Whether anything but one JSON object of known keys is a failure.
    pub strict_output: bool,
    /// When it runs, and whether the event waits for its answer.
    pub phase: Phase,
    /// Whether it runs at all.
    pub enabled: bool,
    /// How often it runs at most. A hook that may block or rewrite has none.
    pub(crate) limit: Option<RunLimit>,
    /// Whether its answer counts.
    pub mode: Mode,
    /// Which agent's payload it reads and whose answer it gives; ours when `None`.
    pub dialect: Option<String>,
    /// The effects of running it: whether a replay may run it.
    pub side_effects: SideEffects,
    /// The condition that its input must meet.
    pub when: Option<Arc<Condition>>,
    /// Parameters of a host's own hook type.
    pub with: Option<Value>,
    /// The keys of its type, beside those that every hook may have.
    pub(crate) own: OwnKeys,
    /// The limits that its layer, or a layer above it, sets on it.
    pub(crate) limits: Arc<Limits>,
    /// Files that an approval covers beside those that its command names, as written.
    pub scripts: Vec<String>,
    /// Why it must not run: its file waits for an approval.
    pub untrusted: Option<Untrusted>,
    /// Where it stands.
    pub location: Location,
    /// Where its keys stand, for messages about one of them.
    pub key_locations: KeyLocations,
}

/// Where the keys of one hook are.
#[derive(Debug, Clone, Default)]
pub struct KeyLocations(pub(super) Vec<(&'static str, Location)>);

impl KeyLocations {
    /// Returns where the value of a key is.
    pub fn get(&self, key: &str) -> Option<&Location> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, location)| location)
    }
}

/// Limits on the hooks of one layer during one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// How long after the start of the event a hook may still run.
    pub(crate) deadline: Option<Duration>,
    /// How many of the hooks of the layer run at once.
    pub(crate) max_parallel: Option<usize>,
    /// The hosts that http hooks may post to; all when `None`.
    pub(crate) http_hosts: Option<BTreeSet<String>>,
}

impl Limits {
    /// Returns what holds before the files of all layers are known.
    pub(super) fn none() -> Arc<Self> {
        static NONE: LazyLock<Arc<Limits>> = LazyLock::new(Arc::default);
        Arc::clone(&NONE)
    }
}

/// The command of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Command {
    /// A text for a shell, or a name: of a builtin, of a process.
    Text(String),
    /// A program and its arguments; no shell.
    Argv(Vec<String>),
}

/// The meaning of a hook's failure for the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// The event is denied.
    Block,
    /// The event asks.
    Ask,
    /// The event goes on, with a warning.
    Warn,
    /// The event goes on; the failure stands in the report only.
    Ignore,
}

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before the others, one after another: it may rewrite what they see.
    Mutate,
    /// Beside the others. If it rewrites all the same, it takes turns like the hooks before it.
    #[default]
    Validate,
    /// Beside the others, and a rewrite of it is ignored: `mutates: false`.
    Judge,
    /// After the verdict, as a notification: a process gives no answer to it.
    Observe,
    /// After the verdict, and nothing waits for it.
    Background,
}

impl Phase {
    /// Returns whether the event waits for the hook, and its answer counts.
    pub fn is_answered(self) -> bool {
        matches!(self, Self::Mutate | Self::Validate | Self::Judge)
    }
}

/// The effects of running a hook, as its author declares them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SideEffects {
    /// Nothing: it only looks.
    None,
    /// Something, but running it twice is like running it once.
    Idempotent,
    /// Anything: it must not run when an event is only replayed.
    #[default]
    External,
}

/// Which variables of the environment a hook inherits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Default)]
#[serde(untagged)]
#[non_exhaustive]
pub enum InheritEnv {
    /// All.
    #[default]
    All,
    /// None.
    None,
    /// Only some, by name.
    Only(Vec<String>),
}

/// One entry of `processes:`: a long-lived child that hooks of type `process` call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Process {
    /// Its name.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs, as written.
    pub working_dir: Option<String>,
    /// Environment variables it gets beside the inherited ones.
    pub env: BTreeMap<String, String>,
    /// Which variables of the environment it inherits.
    pub inherit_env: InheritEnv,
    /// Whether it starts with the executor or at its first call.
    pub eager: bool,
    /// How long its handshake may take.
    pub start_timeout: Duration,
    /// How long a call may take when the hook says nothing.
    pub timeout: Option<Duration>,
    /// The longest line it may write, in bytes.
    pub max_line: usize,
    /// The tools it may answer for; `*` is every tool.
    pub provides: Vec<String>,
    /// Its protocol.
    pub(crate) protocol: Protocol,
    /// Which method observers are notified with.
    pub(crate) event_method: EventMethod,
    /// Whether it must not be started: its file waits for an approval.
    pub untrusted: bool,
    /// Where it stands.
    pub location: Location,
}

/// The protocol of a process: JSON-RPC with the methods of hooks, or with those of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Protocol {
    #[default]
    Hooks,
    Mcp,
}

/// How an observing process is notified of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EventMethod {
    /// `hook.event`, as PicoClaw up to v0.2.8.
    Event,
    /// `hook.runtime_event`, as PicoClaw from v0.2.9 on.
    #[default]
    RuntimeEvent,
}

impl Hook {
    /// The time a hook may take when nothing is said: docker-agent's 60 s.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
    /// The output captured per stream when nothing is said: 1 MiB.
    pub const DEFAULT_MAX_OUTPUT: usize = 1 << 20;

    /// Returns whether the file says its timeout; otherwise it has the time that its caller leaves,
    /// one minute at most.
    pub fn states_timeout(&self) -> bool {
        self.key_locations.get("timeout").is_some() || self.timeout != Self::DEFAULT_TIMEOUT
    }

    /// Returns whether it counts runs, or calls, in a turn.
    pub fn counts_turns(&self) -> bool {
        self.limit.as_ref().is_some_and(|limit| limit.per == Period::Turn)
            || self.kind == "builtin" && self.args.iter().any(|argument| argument == "--per=turn")
    }

    /// Returns whether the limits of its layer let it send anything to `host`.
    pub fn may_post_to(&self, host: &str) -> bool {
        match &self.limits.http_hosts {
            Some(allowed) => allowed.contains(host),
            None => true,
        }
    }

    /// Returns how long after the start of the event it may still run, by the limits of its layer
    /// and the layers above.
    pub fn layer_deadline(&self) -> Option<Duration> {
        self.limits.deadline
    }

    /// Returns how many of its layer's hooks run at once.
    pub fn layer_max_parallel(&self) -> Option<usize> {
        self.limits.max_parallel
    }

    /// Returns who configured it.
    pub fn layer(&self) -> Layer {
        self.location.file().layer()
    }

    /// Returns the name of the process that it calls.
    pub fn process(&self) -> Option<&str> {
        match &self.command {
            Some(Command::Text(name)) if self.kind == "process" => Some(name),
            _ if self.kind == "mcp" => self.with.as_ref()?.get("server")?.as_str(),
            _ => None,
        }
    }

    /// Returns the hook's name, or the beginning of what it runs.
    pub fn label(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let text = match &self.command {
            Some(Command::Text(text)) => Cow::Borrowed(text),
            Some(Command::Argv(argv)) => Cow::Owned(argv.join(" ")),
            None => Cow::Borrowed(&self.kind),
        };
        let text = text.trim();
        let line = text.lines().next().unwrap_or_default().trim_end();
        let label = shortened(line, 60);
        if line.len() < text.len() && label == line {
            return format!("{line}…");
        }
        label.into_owned()
    }
}
