//! The log of decisions as one HTML page: a static one, whose script shows the data in it.

use std::path::Path;

use hookexec_files::files;
use hookexec_files::template::filled;
use hookexec_workbench::records::Report;

use crate::console::STYLE;
use crate::error::{CommandError, OrCommandError as _, unwritable};

const PAGE: &str = include_str!("report.html");
const OWN_STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// By this a page is known again.
const TITLE: &str = "<title>hookexec: decisions</title>";

/// Writes the page of a report to `file`, with a remark on what it is about.
pub(crate) fn draw(file: &Path, report: &mut Report, remark: &str) -> Result<(), CommandError> {
    // What was logged may hold the end of the element that it stands in.
    let data = report.data(remark).to_string().replace('<', "\\u003c");
    let nonce = files::random_id().or_internal("the system has no random numbers")?;
    let style = format!("{STYLE}{OWN_STYLE}");
    let values = [
        ("title", TITLE),
        ("nonce", &nonce),
        ("style", &style),
        ("data", &data),
        ("script", SCRIPT),
    ];
    write(file, &filled(PAGE, &values))
}

/// Writes the page for its owner alone: it may hold inputs. Never replaces a file that is not such
/// a page, for example the log or the hooks file.
fn write(file: &Path, page: &str) -> Result<(), CommandError> {
    let failed = unwritable(file);
    if file.is_file() {
        let old = std::fs::read(file).or_usage(&failed)?;
        let ours = String::from_utf8_lossy(&old[..old.len().min(1024)]).contains(TITLE);
        if !ours && !old.is_empty() {
            let problem = format!("{} exists and is not a page of `hookexec log`", file.display());
            return Err(
                CommandError::usage(problem).hint("name another file: `--html report.html`")
            );
        }
    }
    files::replace(file, page.as_bytes(), true, |_| Ok(())).or_usage(&failed)
}
