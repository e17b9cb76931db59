//! Hooks files and inputs of any size, shared by the benchmarks.

use std::fmt::Write as _;

use hookexec::{Builtin, Input, Registry};
use serde_json::json;

/// Returns a hooks file with `count` command hooks, none of which matches a tool of [`input`]: half
/// of the matchers are lists of names, half are regular expressions.
pub(crate) fn hooks_file(count: usize) -> String {
    let mut text = String::from("hooks:\n  pre_tool_use:\n");
    for number in 0..count {
        let matcher = match number % 2 {
            0 => format!("edit_{number}|write_{number}"),
            _ => format!("mcp__server{number}__.*write.*"),
        };
        let _ = write!(
            text,
            "    - matcher: \"{matcher}\"\n      hooks:\n        - type: command\n          \
             command: ./check-{number}.sh --strict\n          timeout: 5\n"
        );
    }
    text
}

/// Returns a hooks file with `count` hooks of type builtin that are called for every tool.
pub(crate) fn builtins_file(count: usize) -> String {
    let mut text = String::from("pre_tool_use:\n  - hooks:\n");
    for number in 0..count {
        let _ = writeln!(text, "    - {{ type: builtin, command: noop, args: [\"{number}\"] }}");
    }
    text
}

/// Returns a registry whose builtin `noop` has no opinion.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register_builtin(
        "noop",
        Builtin::inline(|_, _: &[String]| Ok::<_, std::convert::Infallible>(None)),
    );
    registry
}

/// Returns the input of a call of the tool `shell`, of about `size` bytes.
pub(crate) fn input(size: usize) -> Input {
    let arguments = json!({ "cmd": "cargo test --workspace", "stdin": "x".repeat(size) });
    let serde_json::Value::Object(arguments) = arguments else { unreachable!("it is an object") };
    let mut input = Input::for_tool("shell", arguments).with_session("0193f5a2-session");
    input.cwd = "/home/user/project".into();
    input.hook_event_name = Some(hookexec::Event::PreToolUse);
    input
}
