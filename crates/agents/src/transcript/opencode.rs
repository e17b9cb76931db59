//! `OpenCode`: `~/.local/share/opencode/opencode.db`, which its own program prints.

use std::fs::File;
use std::io::{self, Seek as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Session, Transcripts};
use hookexec_files::directories::base_directory;

pub(crate) static TRANSCRIPTS: Transcripts = Transcripts {
    directory: || base_directory("XDG_DATA_HOME", ".local/share"),
    within: "opencode",
    endings: &["opencode.db"],
    print: Some(print),
    marks: &["{"],
    before: "tool.execute.before",
    take,
};

/// The calls since a time, an object each. The name of the column is the first line, and JSON as well.
const QUERY: &str = r#"
select json_object(
    'id', part.id, 'session', session.id, 'directory', session.directory, 'version', session.version,
    'time', strftime('%Y-%m-%dT%H:%M:%fZ', part.time_created / 1000.0, 'unixepoch'),
    'tool', json_extract(part.data, '$.tool'), 'state', json_extract(part.data, '$.state')
) as "{}"
from part join session on session.id = part.session_id
where json_extract(part.data, '$.type') = 'tool' and part.time_created >= unixepoch('SINCE') * 1000
order by part.time_created"#;

/// Returns what the program prints of its database.
fn print(database: &Path, since: &str) -> io::Result<File> {
    // Into a pipe it prints only what the reader takes before it exits.
    let mut printed = tempfile::tempfile()?;
    let mut command = Command::new("opencode");
    command.args(["db", "--pure", "--format", "tsv", &QUERY.replace("SINCE", since)]);
    command.current_dir(database.parent().unwrap_or(database));
    command.stdin(Stdio::null()).stdout(printed.try_clone()?);
    let status = command.status();
    let status =
        status.map_err(|error| io::Error::other(format!("can't run `opencode db`: {error}")))?;
    if !status.success() {
        return Err(io::Error::other(format!("`opencode db` failed: {status}")));
    }
    printed.rewind()?;
    Ok(printed)
}

fn take(line: &Value, session: &mut Session<'_>) {
    session.is_known = true;
    let keys = ["id", "session", "directory", "time", "tool"].map(|key| line[key].as_str());
    let [Some(id), Some(of), Some(directory), Some(time), Some(tool)] = keys else { return };
    of.clone_into(&mut session.id);
    // Each line may be of another project.
    directory.clone_into(&mut session.cwd);
    directory.clone_into(&mut session.project);
    time.clone_into(&mut session.time);
    session.version = line["version"].as_str().map(str::to_owned);
    let state = &line["state"];
    session.call(id, tool, &state["input"]);
    // Its plugins see no result of a call that failed.
    if state["status"] == "completed" {
        session.result(id, "tool.execute.after", "tool_response", &state["output"]);
    }
}
