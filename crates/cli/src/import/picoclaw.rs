//! The hooks of PicoClaw's `config.json`.

use std::path::Path;

use hookexec::config::Diagnostics;
use hookexec::internal::reading::read_text;
use hookexec::wire::parse_strict;
use serde_json::Value;

/// Returns the `hooks` of a configuration as YAML, without the hooks that are compiled into
/// PicoClaw, and what is wrong with them.
pub(super) fn read(path: &Path, text: &str) -> Result<(String, Diagnostics), String> {
    let mut config = parse_strict(text).map_err(|error| error.to_string())?;
    let Some(Value::Object(hooks)) = config.get_mut("hooks") else {
        return Err("it has no object `hooks`".into());
    };
    hooks.remove("builtins");
    // JSON is YAML as well.
    let written = format!("hooks: {}\n", serde_json::to_string_pretty(&hooks).unwrap_or_default());
    let problems = read_text(path, text, |reader, root| {
        let fields = reader.open_fields(root, "the file")?;
        fields.get("hooks").map(|block| reader.hooks_block(block))
    });
    Ok((written, problems.err().unwrap_or_default()))
}
