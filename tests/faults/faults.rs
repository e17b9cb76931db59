//! The faults, one row for each.

use crate::expected::Ends;
use crate::fault::{Case, Cause, Fault, Hooks, Run, allows, errs, fails, hangs, silent, waits};
use crate::server::Reply;

/// What every report of a timeout says, whoever noticed it.
const TIMEOUT: Cause = "`timeout`";

const TYPED: &str = "a function returns a typed value, not text";
const NO_PROGRAM: &str = "a function is not a program";

const NO_SERVER: &str = "a server is not a child of hookexec";

use Case::{Meaningless, Run as Runs};
use Reply::{Cut, Held, Late, Nobody, Whole};
use Run::{Builtin, Calls, Program, Replies, Script, Shell};

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
            Runs(fails(&[(Calls("echo boom >&2; exit 3"), "exited with code 3")])),
            Runs(fails(&[
                (Replies(Cut("")), "the request to 127.0.0.1:"),
                (
                    Replies(Cut("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}")),
                    "the request to 127.0.0.1:",
                ),
            ])),
            Runs(fails(&[(Replies(Cut("")), "the request to 127.0.0.1:")])),
        ],
    },
    Fault {
        name: "hang",
        cases: [
            Runs(hangs(&[(Shell("exec sleep 1000"), TIMEOUT)])),
            Runs(hangs(&[(Calls("exec sleep 1000"), TIMEOUT)])),
            Runs(hangs(&[(Builtin("hang-async"), TIMEOUT)])),
            Runs(hangs(&[(Calls("exec sleep 1000"), TIMEOUT)])),
            Runs(waits(&[(Replies(Held("")), "timeout")])),
            Runs(waits(&[(Replies(Held("")), "timeout")])),
        ],
    },
    Fault {
        name: "hang that can't be asked to end",
        cases: [
            Runs(hangs(&[(Shell("trap '' TERM; exec sleep 1000"), TIMEOUT)])),
            Runs(hangs(&[(Calls("trap '' TERM; exec sleep 1000"), TIMEOUT)])),
            // A function that blocks its thread can't be stopped at all: its answer is not heard.
            Runs(hangs(&[(Builtin("hang-plain"), TIMEOUT)])),
            Runs(hangs(&[(Calls("trap '' TERM; exec sleep 1000"), TIMEOUT)])),
            Runs(waits(&[(
                Replies(Held("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{")),
                "timeout",
            )])),
            Runs(waits(&[(
                Replies(Held("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{")),
                "timeout",
            )])),
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
            Runs(fails(&[(Calls("sleep 1000 & exit 4"), "exited with code 4")])),
            Meaningless(NO_SERVER),
            Meaningless(NO_SERVER),
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
            Runs(fails(&[(
                Calls(
                    r#"echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"structuredContent\":{""#,
                ),
                "can't be read",
            )])),
            Runs(fails(&[(
                Replies(Whole("200 OK", r#"{"decision":"allow","rea"#)),
                "not valid JSON",
            )])),
            Runs(fails(&[(
                Replies(Whole("200 OK", r#"{"decision":"allow","rea"#)),
                "can't be read",
            )])),
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
            Runs(fails(&[(
                Calls(r#"echo "{\"id\":$id,\"result\":{\"structuredContent\":{}}}{}""#),
                "can't be read",
            )])),
            Runs(fails(&[(Replies(Whole("200 OK", "{}{}")), "not valid JSON")])),
            Runs(fails(&[(
                Replies(Whole(
                    "200 OK",
                    r#"{"decision":"allow","reason":""}{"decision":"allow","reason":""}"#,
                )),
                "can't be read",
            )])),
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
            Runs(fails(&[(
                Calls(
                    r#"printf '{"id":%d,"result":{"structuredContent":{"reason":"%09000d"}}}\n' "$id" 0"#,
                ),
                "longer than 8192 bytes (`max_line`)",
            )])),
            Runs(fails(&[(
                Replies(Whole("200 OK", r#"{"decision":"allow","reason":"@huge"}"#)),
                "answered with more than 1048576 bytes",
            )])),
            Runs(fails(&[(
                Replies(Whole("200 OK", r#"{"decision":"allow","reason":"@huge"}"#)),
                "answered with more than 1048576 bytes",
            )])),
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
            Runs(fails(&[(
                Calls(
                    r#"printf '{"id":%d,"result":{"structuredContent":{"decision":"allow","reason":"\377"}}}\n' "$id""#,
                ),
                "not UTF-8",
            )])),
            Runs(fails(&[(
                Replies(Whole("200 OK", r#"{"decision":"allow","reason":"ÿ"}"#)),
                "not valid UTF-8",
            )])),
            Runs(fails(&[(
                Replies(Whole("200 OK", r#"{"decision":"allow","reason":"ÿ"}"#)),
                "can't be read",
            )])),
        ],
    },
    Fault {
        name: "exit 0 in silence",
        cases: [
            Runs(silent(&[(Shell("exit 0"), ""), (Program("true"), "")])),
            // It owes an answer.
            Runs(fails(&[(Calls("exit 0"), "exited with code 0")])),
            Runs(silent(&[(Builtin("silent"), "")])),
            Runs(fails(&[(Calls("exit 0"), "exited with code 0")])),
            Runs(silent(&[(Replies(Whole("200 OK", "")), "")])),
            Runs(fails(&[(Replies(Whole("200 OK", "")), "can't be read")])),
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
            Runs(fails(&[(
                Calls(
                    r#"echo "{\"id\":$id,\"result\":{\"structuredContent\":{\"decision\":\"alow\"}}}""#,
                ),
                "can't be `alow`",
            )])),
            Runs(fails(&[(Replies(Whole("200 OK", r#"{"decision":"alow"}"#)), "can't be `alow`")])),
            Runs(fails(&[(
                Replies(Whole("200 OK", r#"{"decision":"alow","reason":""}"#)),
                "is not one `decision`",
            )])),
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
            Runs(fails(&[(
                Calls(
                    r#"echo "{\"id\":$id,\"result\":{\"structuredContent\":{\"decision\":[\"allow\"]}}}""#,
                ),
                "`decision`",
            )])),
            Runs(fails(&[(Replies(Whole("200 OK", r#"{"decision":["allow"]}"#)), "`decision`")])),
            Runs(fails(&[(
                Replies(Whole("200 OK", r#"{"decision":["allow"],"reason":""}"#)),
                "is not one `decision`",
            )])),
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
            Runs(fails(&[(Program("./missing"), "does not exist")])),
            Runs(fails(&[(Replies(Nobody), "the request to 127.0.0.1:")])),
            Runs(fails(&[(Replies(Nobody), "the request to 127.0.0.1:")])),
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
            Runs(fails(&[(Program("./barred"), "may not be executed")])),
            Runs(fails(&[(Replies(Whole("403 Forbidden", "")), "answered 403")])),
            Runs(fails(&[(Replies(Whole("403 Forbidden", "")), "answered 403")])),
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
            Runs(fails(&[(Calls("kill -KILL $$"), "SIGKILL")])),
            Meaningless(NO_SERVER),
            Meaningless(NO_SERVER),
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
            Runs(allows(&[(
                Script(
                    r#"sleep 0.2; read -r line; greet; read -r line; each 'echo "{\"id\":$id,\"result\":{\"structuredContent\":{\"decision\":\"allow\"}}}"'"#,
                ),
                "",
            )])),
            Runs(allows(&[(Replies(Late(r#"{"decision":"allow","reason":""}"#)), "")])),
            Runs(allows(&[(Replies(Late(r#"{"decision":"allow","reason":""}"#)), "")])),
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
            Runs(Hooks {
                hangs: true,
                ..fails(&[(
                    Script("read -r line; exec <&-; greet; exec sleep 1000"),
                    "process `child`",
                )])
            }),
            Meaningless(NO_SERVER),
            Meaningless(NO_SERVER),
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
            Runs(Hooks {
                at_once: 256,
                ..hangs(&[(Calls("trap '' TERM; fork 32; exec sleep 1000"), TIMEOUT)])
            }),
            Meaningless(NO_SERVER),
            Meaningless(NO_SERVER),
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
            Runs(fails(&[(
                Calls(r#"exec >/dev/full; echo "{\"id\":$id,\"result\":{}}" || exit 1"#),
                "exited with code 1",
            )])),
            Runs(fails(&[(
                Replies(Whole("507 Insufficient Storage", r#"{"decision":"allow","reason":""}"#)),
                "answered 507",
            )])),
            Runs(fails(&[(
                Replies(Whole("507 Insufficient Storage", r#"{"decision":"allow","reason":""}"#)),
                "answered 507",
            )])),
        ],
    },
];
