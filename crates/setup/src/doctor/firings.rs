//! Notes of the calls of agents, by which `doctor` tells when an agent called last, and which of its tools
//! hookexec does not know.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hookexec_agents::{Agent, NativeCall, NativeEvent};
use hookexec_files::directories::state_directory;

use crate::settings::store;

/// The file with the names of tools that hookexec does not know, one a line.
const UNKNOWN_TOOLS: &str = "unknown tools";

/// Returns where the calls of an agent are noted: a file for each of its events.
fn directory(agent: Agent) -> Option<PathBuf> {
    Some(state_directory()?.join("hookexec/agents").join(agent.name()))
}

/// Notes that an agent called. An answer must not wait for it.
pub fn note(call: &NativeCall) {
    let Some(directory) = directory(call.agent) else { return };
    let mut cwd = call.input.cwd.clone();
    if cwd.is_empty() {
        // Some payloads name no directory; the agent then started hookexec where it works.
        cwd = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    }
    let (file, line) = (directory.join(call.native.name), format!("{cwd}\n"));
    if overwrite(&file, &line).is_err() && fs::create_dir_all(&directory).is_ok() {
        let _ = overwrite(&file, &line);
    }
    let Some(tool) = hookexec_agents::unknown_tool(call) else { return };
    // A model may have made it up: few are kept.
    let mut names = unknown_tools(call.agent);
    let is_name = tool.bytes().all(|byte| byte.is_ascii_graphic());
    if is_name && names.len() + tool.len() < 4096 && !names.lines().any(|name| name == tool) {
        names.push_str(tool);
        names.push('\n');
        let _ = fs::write(directory.join(UNKNOWN_TOOLS), names);
    }
}

/// Overwrites a note. It keeps its length if it can: some file systems wait for the disk after a file was
/// emptied.
fn overwrite(file: &Path, line: &str) -> io::Result<()> {
    let mut note = File::options().write(true).create(true).truncate(false).open(file)?;
    let length = line.len() as u64;
    if note.metadata()?.len() != length {
        note.set_len(length)?;
    }
    note.write_all(line.as_bytes())
}

/// Forgets the calls of an agent: `doctor` would miss a plugin that called before.
pub fn forget(agent: Agent) {
    if let Some(directory) = directory(agent) {
        let _ = fs::remove_dir_all(directory);
    }
}

/// Returns when an agent last called at an event, and in which directory it worked.
pub(super) fn last(agent: Agent, native: &NativeEvent) -> Option<(SystemTime, String)> {
    let note = directory(agent)?.join(native.name);
    let time = note.metadata().ok()?.modified().ok()?;
    Some((time, store::text(&note).trim_end_matches('\n').to_owned()))
}

/// Returns the names of the tools of an agent that hookexec does not know, one a line.
pub(super) fn unknown_tools(agent: Agent) -> String {
    let Some(directory) = directory(agent) else { return String::new() };
    store::text(&directory.join(UNKNOWN_TOOLS))
}
