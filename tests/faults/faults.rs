//! The faults: what goes wrong, as a hook of each type does it, and how such a hook ends.

use crate::expected::Ends;

/// The types of hooks, in the order of a fault's cases.
pub(crate) const TYPES: [&str; 3] = ["command", "process", "builtin"];

/// Something that goes wrong.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    cases: [Case; TYPES.len()],
}

impl Fault {
    pub(crate) const fn case(&'static self, kind: usize) -> &'static Case {
        &self.cases[kind]
    }
}

/// A fault of a type.
pub(crate) enum Case {
    /// It can't happen there, and why.
    Meaningless(&'static str),
    Run(Hooks),
}

/// Hooks that do the same wrong in different ways.
pub(crate) struct Hooks {
    pub(crate) ends: Ends,
    pub(crate) variants: &'static [(Run, Cause)],
    /// Whether it hangs, so that its timeout is what ends it.
    pub(crate) hangs: bool,
    /// How many dispatches of it may be under way at once, in cells side by side.
    pub(crate) at_once: usize,
    /// Whether it leaves a background job, which is left alone.
    pub(crate) lives_on: bool,
    /// Whether the input is larger than a pipe holds.
    pub(crate) large_input: bool,
}

/// Part of what the report must say.
type Cause = &'static str;

/// What a hook runs.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// A text for the shell.
    Shell(&'static str),
    /// A program without a shell.
    Program(&'static str),
    /// A process: a text for the shell that says what it does with each call, of number `$id`.
    Calls(&'static str),
    /// A process: a text for the shell that says everything it does.
    Script(&'static str),
    /// A builtin by name.
    Builtin(&'static str),
}

impl Hooks {
    const fn new(ends: Ends, variants: &'static [(Run, Cause)]) -> Self {
        Self { ends, variants, hangs: false, at_once: 128, lives_on: false, large_input: false }
    }
}

const fn silent(variants: &'static [(Run, Cause)]) -> Hooks {
    Hooks::new(Ends::Silent, variants)
}

const fn allows(variants: &'static [(Run, Cause)]) -> Hooks {
    Hooks::new(Ends::Allows, variants)
}

const fn fails(variants: &'static [(Run, Cause)]) -> Hooks {
    Hooks::new(Ends::Fails, variants)
}

const fn errs(variants: &'static [(Run, Cause)]) -> Hooks {
    Hooks::new(Ends::Errs, variants)
}

const fn hangs(variants: &'static [(Run, Cause)]) -> Hooks {
    // Who hangs costs nothing but time.
    Hooks { hangs: true, at_once: 10_000, ..Hooks::new(Ends::Fails, variants) }
}

/// What every report of a timeout says, whoever noticed it.
const TIMEOUT: Cause = "`timeout`";

const TYPED: &str = "a function returns a typed value, not text";
const NO_PROGRAM: &str = "a function is not a program";

use Case::{Meaningless, Run as Runs};
use Run::{Builtin, Calls, Program, Script, Shell};

/// Every fault.
pub(crate) static FAULTS: [Fault; 18] = [
    Fault {
        name: "crash",
        cases: [
            Runs(errs(&[(Shell("echo boom >&2; exit 1"), "exit code 1: boom")])),
            Runs(fails(&[(Calls("echo boom >&2; exit 3"), "exited with code 3")])),
            Runs(fails(&[
                (Builtin("crash-inline"), "panicked: boom"),
                (Builtin("crash-plain"), "panicked: boom"),
                (Builtin("crash-async"), "panicked: boom"),
            ])),
        ],
    },
    Fault {
        name: "hang",
        cases: [
            Runs(hangs(&[(Shell("exec sleep 1000"), TIMEOUT)])),
            Runs(hangs(&[(Calls("exec sleep 1000"), TIMEOUT)])),
            Runs(hangs(&[(Builtin("hang-async"), TIMEOUT)])),
        ],
    },
    Fault {
        name: "hang that can't be asked to end",
        cases: [
            Runs(hangs(&[(Shell("trap '' TERM; exec sleep 1000"), TIMEOUT)])),
            Runs(hangs(&[(Calls("trap '' TERM; exec sleep 1000"), TIMEOUT)])),
            // A function that blocks its thread can't be stopped at all: its answer is not heard.
            Runs(hangs(&[(Builtin("hang-plain"), TIMEOUT)])),
        ],
    },
    Fault {
        name: "end while a child holds its pipes",
        cases: [
            Runs(Hooks {
                lives_on: true,
                ..allows(&[(Shell("sleep 1000 & echo '{\"decision\":\"allow\"}'"), "")])
            }),
            Runs(fails(&[(Calls("sleep 1000 & exit 4"), "exited with code 4")])),
            Meaningless("a function has no pipes"),
        ],
    },
    Fault {
        name: "half a JSON object",
        cases: [
            Runs(fails(&[(Shell("echo '{\"decision\":\"allow\",\"rea'"), "not valid JSON")])),
            Runs(fails(&[(
                Calls(r#"echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"decision\":\"allow""#),
                "can't be read",
            )])),
            Meaningless(TYPED),
        ],
    },
    Fault {
        name: "two JSON objects",
        cases: [
            Runs(fails(&[
                (
                    Shell("echo '{\"decision\":\"allow\"}{\"decision\":\"allow\"}'"),
                    "not valid JSON",
                ),
                (Shell("echo '{\"decision\":\"allow\"}'; echo '{}'"), "not valid JSON"),
            ])),
            Runs(fails(&[(
                Calls(r#"echo "{\"id\":$id,\"result\":{}}{\"id\":$id,\"result\":{}}""#),
                "can't be read",
            )])),
            Meaningless(TYPED),
        ],
    },
    Fault {
        name: "huge output",
        cases: [
            Runs(fails(&[(
                Shell("exec yes \"$(printf %01000d 0)\""),
                "wrote more than 1048576 bytes to stdout",
            )])),
            Runs(fails(&[(
                Calls(r#"printf '{"id":%d,"result":{"reason":"%09000d"}}\n' "$id" 0"#),
                "longer than 8192 bytes (`max_line`)",
            )])),
            Meaningless("a function's answer is the host's own memory"),
        ],
    },
    Fault {
        name: "invalid UTF-8",
        cases: [
            Runs(fails(&[(
                Shell(r#"printf '{"decision":"allow","reason":"\377"}'"#),
                "not valid UTF-8",
            )])),
            Runs(fails(&[(
                Calls(
                    r#"printf '{"id":%d,"result":{"decision":"allow","reason":"\377"}}\n' "$id""#,
                ),
                "not UTF-8",
            )])),
            Meaningless("a function's text is UTF-8 by its type"),
        ],
    },
    Fault {
        name: "exit 0 in silence",
        cases: [
            Runs(silent(&[(Shell("exit 0"), ""), (Program("true"), "")])),
            // It owes an answer.
            Runs(fails(&[(Calls("exit 0"), "exited with code 0")])),
            Runs(silent(&[(Builtin("silent"), "")])),
        ],
    },
    Fault {
        name: "an unknown word as verdict",
        cases: [
            Runs(fails(&[(Shell("echo '{\"decision\":\"alow\"}'"), "can't be `alow`")])),
            Runs(fails(&[(
                Calls(r#"echo "{\"id\":$id,\"result\":{\"decision\":\"alow\"}}""#),
                "can't be `alow`",
            )])),
            Meaningless(TYPED),
        ],
    },
    Fault {
        name: "a verdict of the wrong type",
        cases: [
            Runs(fails(&[(Shell("echo '{\"decision\":[\"allow\"]}'"), "`decision`")])),
            Runs(fails(&[(
                Calls(r#"echo "{\"id\":$id,\"result\":{\"decision\":[\"allow\"]}}""#),
                "`decision`",
            )])),
            Meaningless(TYPED),
        ],
    },
    Fault {
        name: "a program that does not exist",
        cases: [
            Runs(fails(&[
                (Program("./missing"), "does not exist"),
                (Program("hookexec-missing"), "was not found in PATH"),
                (Shell("./missing"), "not found"),
            ])),
            Runs(fails(&[(Program("./missing"), "does not exist")])),
            Runs(Hooks::new(Ends::Refused, &[(Builtin("missing"), "unknown builtin `missing`")])),
        ],
    },
    Fault {
        name: "a program that may not be run",
        cases: [
            Runs(fails(&[
                (Program("./barred"), "may not be executed"),
                (Shell("./barred"), "exit code 126"),
            ])),
            Runs(fails(&[(Program("./barred"), "may not be executed")])),
            Meaningless(NO_PROGRAM),
        ],
    },
    Fault {
        name: "killed by a signal",
        cases: [
            Runs(fails(&[
                (Shell("kill -KILL $$"), "SIGKILL"),
                // The shell lives, and says it by its exit code.
                (Shell("sh -c 'kill -KILL $$'; exit $?"), "a signal ended its program (number 9)"),
            ])),
            Runs(fails(&[(Calls("kill -KILL $$"), "SIGKILL")])),
            Meaningless("a signal ends the host, and with it the event"),
        ],
    },
    Fault {
        name: "slow start",
        cases: [
            Runs(allows(&[(Shell("sleep 0.2; echo '{\"decision\":\"allow\"}'"), "")])),
            Runs(allows(&[(
                Script(
                    r#"sleep 0.2; hello; each 'echo "{\"id\":$id,\"result\":{\"decision\":\"allow\"}}"'"#,
                ),
                "",
            )])),
            Runs(allows(&[(Builtin("slow-plain"), ""), (Builtin("slow-async"), "")])),
        ],
    },
    Fault {
        name: "stdin closed early",
        cases: [
            Runs(Hooks {
                large_input: true,
                ..allows(&[(Shell("exec <&-; echo '{\"decision\":\"allow\"}'"), "")])
            }),
            // While another child is being started, that one holds the pipe too: then the call is
            // written, and only its timeout tells.
            Runs(Hooks {
                hangs: true,
                ..fails(&[(
                    Script("read -r line; exec <&-; welcome; exec sleep 1000"),
                    "process `child`",
                )])
            }),
            Meaningless("a function has no stdin"),
        ],
    },
    Fault {
        name: "32 children that ignore SIGTERM",
        cases: [
            Runs(Hooks {
                at_once: 64,
                ..hangs(&[(Shell("trap '' TERM; fork 32; exec sleep 1000"), TIMEOUT)])
            }),
            Runs(Hooks {
                at_once: 256,
                ..hangs(&[(Calls("trap '' TERM; fork 32; exec sleep 1000"), TIMEOUT)])
            }),
            Meaningless("what the host's own code starts is the host's to stop"),
        ],
    },
    Fault {
        name: "disk full for its output",
        cases: [
            Runs(errs(&[(
                Shell("/bin/echo '{\"decision\":\"allow\"}' >/dev/full"),
                "exit code 1: /bin/echo: write error: No space left on device",
            )])),
            Runs(fails(&[(
                Calls(r#"exec >/dev/full; echo "{\"id\":$id,\"result\":{}}" || exit 1"#),
                "exited with code 1",
            )])),
            Runs(fails(&[(Builtin("full"), "No space left on device")])),
        ],
    },
];
