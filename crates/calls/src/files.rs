//! The files that a call touches.

use std::path::PathBuf;

use serde_json::Value;

use super::arguments::{Arguments, directory};
use super::names::READING;
use super::shells::is_shell;
use crate::tools::{Role, Special, patch};
use hookexec::describe::{Command, Touched, TouchedFile};
use hookexec_files::paths::lexical;

/// Returns the files of a call, each once.
pub(super) fn of_call(call: &Arguments<'_>, commands: &[Command]) -> Vec<TouchedFile> {
    let mut files = Files { call, found: Vec::new() };
    if call.is("shell") {
        files.redirected(commands);
    } else {
        files.named();
    }
    files.found
}

struct Files<'c> {
    call: &'c Arguments<'c>,
    found: Vec<TouchedFile>,
}

impl Files<'_> {
    fn add(&mut self, path: &str, touched: Touched, certain: bool) {
        if path.is_empty() {
            return;
        }
        let directory = directory(self.call.input);
        // Whether a tool expands `~` is its own affair.
        let is_plain = !path.starts_with('~') && !path.contains('\0');
        let certain = certain && is_plain && directory.is_some();
        let directory = directory.unwrap_or_else(|| PathBuf::from(&self.call.input.cwd));
        let path = lexical(&directory.join(path)).to_string_lossy().into_owned();
        for file in &mut self.found {
            if file.path == path && file.touched == touched {
                file.certain |= certain;
                return;
            }
        }
        self.found.push(TouchedFile { path, touched, certain });
    }

    /// Adds the files in the arguments of a tool that runs no command.
    fn named(&mut self) {
        let call = self.call;
        for patch in call.with_role(Role::Patch).into_iter().filter_map(Value::as_str) {
            self.patch(patch);
        }
        let Some(touched) = touched(call) else { return };
        for role in [Role::Path, Role::Paths] {
            for value in call.with_role(role) {
                self.value(value, touched);
            }
        }
    }

    /// Adds a path, a list of paths, or a list of objects with one path each.
    fn value(&mut self, value: &Value, touched: Touched) {
        match value {
            Value::String(path) => self.add(path, touched, true),
            Value::Array(items) => items.iter().for_each(|item| self.value(item, touched)),
            Value::Object(object) => {
                for (key, value) in object {
                    if self.call.role(key) == Some(Role::Path) {
                        self.value(value, touched);
                    }
                }
            }
            _ => {}
        }
    }

    fn patch(&mut self, text: &str) {
        let edits = patch::edits(text).unwrap_or_default();
        if edits.is_empty() {
            for file in patch::files(text) {
                self.add(&file, Touched::Edit, false);
            }
        }
        for edit in edits {
            self.add(&edit.path, edit.touched, true);
        }
    }

    /// Adds the files that commands redirect from and to.
    fn redirected(&mut self, commands: &[Command]) {
        let strays = commands.iter().any(|command| {
            command.hides || matches!(&*command.program, "cd" | "pushd" | "popd" | "shopt")
        });
        for command in commands {
            // A program that runs it may have gone to another directory, or have another root.
            let is_sure = command.wrappers.iter().all(|name| is_shell(name));
            for redirection in &command.redirections {
                let touched = match &*redirection.operator {
                    "<" | "<&" => Touched::Read,
                    _ => Touched::Write,
                };
                let is_absolute = redirection.file.starts_with('/');
                let certain = redirection.certain && is_sure && (!strays || is_absolute);
                self.add(&redirection.file, touched, certain);
            }
        }
    }
}

/// Returns what a tool does with the files in its arguments; `None` if it is not a tool for files.
fn touched(call: &Arguments<'_>) -> Option<Touched> {
    match &*call.kinds {
        _ if call.special == Special::Deletes => Some(Touched::Delete),
        _ if call.is("write") => Some(Touched::Write),
        _ if call.is("edit") => Some(Touched::Edit),
        kinds if kinds.iter().any(|kind| READING.contains(&&**kind)) => Some(Touched::Read),
        _ => None,
    }
}
