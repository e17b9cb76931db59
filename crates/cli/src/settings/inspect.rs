//! One inspection of the files in which an agent looks for hooks. `install`, `uninstall` and
//! `doctor` read its result, and no other code reads these files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use hookexec::internal::files;
use hookexec_agents::{Agent, EntryMember, EntryShape, HookSettings};
use serde_json::Value;

use super::call::Call;
use super::plugin::PluginFile;
use super::{Scope, Settings, store, user_directory, value_in};

/// One file in which an agent looks for hooks, as it is on the disk.
pub(crate) struct AgentFile {
    pub(crate) agent: Agent,
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
    pub(crate) place: Place,
    /// The text; `None` if there is no file.
    pub(crate) text: Result<Option<String>, String>,
    /// The entries in it, or why it can't be understood.
    pub(crate) entries: Result<Vec<Entry>, String>,
    /// Why the agent ignores the whole file.
    pub(crate) ignored: Option<String>,
}

/// How the file calls hookexec.
pub(crate) enum Place {
    Settings(Settings),
    Plugin(PluginFile),
}

/// One entry that runs a command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The agent's event that it is under; empty where the agent looks for no hooks.
    pub(crate) event: String,
    pub(crate) command: String,
    /// The arguments beside the command.
    pub(crate) args: Vec<String>,
    pub(crate) owner: Owner,
    /// Whether it stands where the agent looks for hooks.
    pub(crate) is_live: bool,
    /// The `timeout` beside it, in seconds.
    pub(crate) timeout: Option<f64>,
    /// Whether the entry tells the agent to take its failure for a denial, where that is possible.
    pub(crate) fails_closed: bool,
    /// The members around it that could keep it from being called or heard.
    pub(crate) odd: Vec<String>,
}

/// Whose command it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Owner {
    /// It is as `install` writes it.
    Written(Call),
    /// Another program, such as `timeout 30`, runs what `install` writes.
    Wrapped(Call),
    /// It calls hookexec in another way.
    ByHand,
    Foreign,
}

impl Entry {
    pub(crate) fn is_ours(&self) -> bool {
        self.owner != Owner::Foreign
    }

    /// Returns the command, if it is as `install` writes it.
    pub(crate) fn written(&self) -> Option<&Call> {
        match &self.owner {
            Owner::Written(call) => Some(call),
            _ => None,
        }
    }

    /// Returns the server that the command asks.
    pub(crate) fn socket(&self) -> Option<&str> {
        match &self.owner {
            Owner::Written(call) | Owner::Wrapped(call) => call.socket.as_deref(),
            Owner::ByHand | Owner::Foreign => None,
        }
    }
}

/// Looks at the files of an agent in each scope, the user's first. In the home directory the
/// project's file is the same: it counts once, as the user's.
pub(crate) fn inspect(agent: Agent, project: &Path) -> Vec<AgentFile> {
    let mut found = Vec::new();
    for scope in Scope::value_variants() {
        found.extend(AgentFile::inspect(agent, *scope, project));
    }
    found.dedup_by_key(|file| files::real(&file.path));
    found
}

impl AgentFile {
    /// Looks at the file of one scope; `None` without a home directory, or if the agent has no such
    /// file.
    pub(crate) fn inspect(agent: Agent, scope: Scope, project: &Path) -> Option<Self> {
        let place = if agent.plugin().is_some() {
            Place::Plugin(PluginFile::of(agent, scope, project)?)
        } else {
            Place::Settings(Settings::of(agent, scope, project)?)
        };
        let path = match &place {
            Place::Settings(settings) => settings.path.clone(),
            Place::Plugin(plugin) => plugin.path.clone(),
        };
        let text = store::read(&path).map_err(|error| error.to_string());
        let (entries, ignored) = match (&place, &text) {
            (_, Err(error)) => (Err(error.clone()), None),
            (Place::Settings(settings), Ok(text)) => {
                let text = text.as_deref().unwrap_or_default();
                (settings.entries(text), settings.ignored(text))
            }
            (Place::Plugin(plugin), Ok(text)) => {
                let is_plugin = text.as_ref().is_some_and(|text| plugin.is_plugin(text));
                let entry = is_plugin.then(|| Entry::dead(path.display().to_string()));
                (Ok(entry.into_iter().collect()), None)
            }
        };
        Some(Self { agent, scope, path, place, text, entries, ignored })
    }

    /// Returns the entries that call hookexec, wherever they stand.
    pub(crate) fn ours(&self) -> Vec<&Entry> {
        let entries = self.entries.as_deref().unwrap_or_default();
        entries.iter().filter(|entry| entry.is_ours()).collect()
    }

    /// Returns the servers that the entries ask, each with how many entries ask it.
    pub(crate) fn sockets(&self) -> BTreeMap<&str, usize> {
        let mut sockets = BTreeMap::new();
        for socket in self.ours().into_iter().filter_map(Entry::socket) {
            *sockets.entry(socket).or_default() += 1;
        }
        sockets
    }

    /// Returns whether the agent calls hookexec by this file.
    pub(crate) fn calls_hookexec(&self) -> bool {
        self.ignored.is_none() && self.ours().iter().any(|entry| entry.is_live)
    }

    /// Returns whether the agent seems to be used here.
    pub(crate) fn is_found(&self) -> bool {
        let directory = match &self.place {
            Place::Settings(settings) => user_directory(settings.layout),
            Place::Plugin(plugin) => plugin.path.ancestors().nth(2).map(Path::to_owned),
        };
        let is_settings = matches!(self.place, Place::Settings(_));
        directory.is_some_and(|directory| directory.is_dir()) || is_settings && self.path.exists()
    }

    /// Returns the value of the file; null if it can't be read.
    pub(crate) fn value(&self) -> Value {
        let text = self.text.as_ref().ok().and_then(Option::as_deref);
        text.map(|text| value_in(&self.path, text)).unwrap_or_default()
    }
}

impl Entry {
    /// Returns an entry of hookexec that the agent does not read as a hook.
    fn dead(command: String) -> Self {
        Self {
            event: String::new(),
            command,
            args: Vec::new(),
            owner: Owner::ByHand,
            is_live: false,
            timeout: None,
            fails_closed: false,
            odd: Vec::new(),
        }
    }
}

/// Returns the entries in the value of a file: those that the agent reads as hooks, and those of
/// hookexec among the `commands` that stand elsewhere.
pub(super) fn entries(settings: &Settings, value: &Value, commands: Vec<String>) -> Vec<Entry> {
    let mut elsewhere = commands;
    elsewhere.retain(|command| settings.is_ours(command));
    let mut found = live(settings.layout, settings.root, value);
    for entry in &mut found {
        if !settings.is_ours(&entry.command) {
            continue;
        }
        entry.owner = owner(settings.agent, &entry.command);
        if let Some(place) = elsewhere.iter().position(|command| *command == entry.command) {
            elsewhere.remove(place);
        }
    }
    found.extend(elsewhere.into_iter().map(Entry::dead));
    found
}

fn owner(agent: Agent, command: &str) -> Owner {
    if let Some(call) = Call::of(agent, command) {
        return Owner::Written(call);
    }
    unwrapped(agent, command).map_or(Owner::ByHand, Owner::Wrapped)
}

/// Returns the call behind another program, if no shell syntax stands before it that could change
/// its exit code or output.
fn unwrapped(agent: Agent, command: &str) -> Option<Call> {
    let mut starts = command.match_indices(' ').map(|(blank, _)| blank + 1);
    let (start, call) =
        starts.find_map(|start| Some((start, Call::of(agent, &command[start..])?)))?;
    let wrapper = &command[..start];
    let is_plain = !wrapper.contains(['|', '&', ';', '<', '>', '!', '\n', '(', '`']);
    is_plain.then_some(call)
}

/// Returns the entries under `root` that the agent reads as hooks, their owners not yet told.
fn live(layout: &HookSettings, root: &[&str], settings: &Value) -> Vec<Entry> {
    let Value::Object(events) = root.iter().fold(settings, |value, key| &value[key]) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if matches!(layout.shape, EntryShape::Triggers | EntryShape::Tables) {
        for entry in elements(events.get("hooks")) {
            found.extend(match layout.event_key() {
                Some(key) => hook(layout, entry[key].as_str().unwrap_or_default(), entry),
                None => trigger(layout, entry),
            });
        }
        return found;
    }
    for (event, entries) in events {
        for element in elements(Some(entries)) {
            let is_group = layout.shape == EntryShape::Groups;
            let hooks = if is_group {
                elements(element.get("hooks"))
            } else {
                std::slice::from_ref(element)
            };
            for mut live in hooks.iter().filter_map(|entry| hook(layout, event, entry)) {
                if is_group {
                    live.odd.extend(odd(element, &["hooks"], is_for_every_tool));
                }
                found.push(live);
            }
        }
    }
    found
}

/// Returns whether a member is a matcher that leaves no tool out.
fn is_for_every_tool(key: &str, value: &Value) -> bool {
    let every = ["", "*", ".*"];
    key == "matcher" && (value.is_null() || every.iter().any(|all| value == all))
}

fn elements(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn hook(layout: &HookSettings, event: &str, entry: &Value) -> Option<Entry> {
    let has = |member| layout.members.contains(&member);
    let known = ["command", "timeout", "failClosed", "onFailure", "strict"];
    let mut odd = odd(entry, &known, |key, value| {
        layout.event_key() == Some(key)
            || key == "type" && value == "command"
            || layout.shape == EntryShape::Tables && is_for_every_tool(key, value)
    });
    if has(EntryMember::Type) && entry.get("type").is_none() {
        odd.insert(0, "no `type`".to_owned());
    }
    let args = elements(entry.get("args")).iter().filter_map(Value::as_str);
    let args = args.map(str::to_owned).collect();
    let unit = if layout.counts_milliseconds() { 1000.0 } else { 1.0 };
    Some(Entry {
        event: event.to_owned(),
        command: entry["command"].as_str()?.to_owned(),
        args,
        owner: Owner::Foreign,
        is_live: true,
        timeout: entry["timeout"].as_f64().map(|timeout| timeout / unit),
        fails_closed: (!has(EntryMember::FailClosed) || entry["failClosed"] == true)
            && (!has(EntryMember::OnFailure) || entry["onFailure"] == "block")
            && (!has(EntryMember::Strict) || entry["strict"] == true),
        odd,
    })
}

fn trigger(layout: &HookSettings, entry: &Value) -> Option<Entry> {
    let event = entry["trigger"].as_str().unwrap_or_default();
    let mut live = hook(layout, event, &entry["action"])?;
    live.timeout = entry["timeout"].as_f64();
    live.odd.extend(odd(entry, &["action", "trigger", "timeout"], |key, value| {
        key == "enabled" && value == true
    }));
    Some(live)
}

/// Returns the members that are neither known nor `fine`.
fn odd(object: &Value, known: &[&str], fine: impl Fn(&str, &Value) -> bool) -> Vec<String> {
    // These say nothing about whether a hook is called.
    const LABELS: [&str; 4] = ["name", "description", "statusMessage", "sequential"];
    let is_odd = |(key, value): &(&String, &Value)| {
        let key = key.as_str();
        !known.contains(&key) && !LABELS.contains(&key) && !fine(key, value)
    };
    let members = object.as_object().into_iter().flatten().filter(is_odd);
    members.map(|(key, value)| format!("`{key}: {value}`")).collect()
}
