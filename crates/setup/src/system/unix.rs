//! The rules of a Unix system.

use std::path::Path;

/// Returns a path as it is written into settings, before it is quoted, or why it can't be.
pub fn settings_path(path: &Path) -> Result<String, &'static str> {
    path.to_str().map(str::to_owned).ok_or("is not UTF-8")
}
