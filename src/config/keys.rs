//! Every key of `hooks.yaml`: one row for each.
//!
//! The reader, the JSON schema and the tables of `docs/keys.md` all come from these rows.
//! To add a key, add its row and use the new field in the reader of its mapping. A row reads
//!
//! ```text
//! field "key": Type, "default" ("the error without it", "its hint"), "the meaning";
//! ```
//!
//! The default is a text for the documentation; it is empty where nothing stands for the key. With
//! `an error` the schema requires the key. The reader reports that it is missing if the row has an
//! error and a hint. `words!` lists the words of a type, and `later!` the types whose values are
//! read after their mapping.

use std::collections::BTreeMap;
use std::time::Duration;

use hookexec_files::kinds::{At, Count, Filled, Words, reference};
use hookexec_files::units::{AnswerSize, Size};
use hookexec_files::{later, section, words};
use serde_json::{Value as Json, json};

use super::condition::{Condition, Field, List};
use super::hook::Groups;
use super::layer::Layer;
use super::limit::{Period, RunLimit};
use super::model::{EventMethod, InheritEnv, OnError, Protocol, SideEffects};
use super::process::{Argv, Observed, Stage, Start};
use super::settings::{AuditEvents, AuditInput, AuditSettings, PolicySettings, PublicKeys, Source};
use super::when::{Expression, Glob, Parts, Values};
use crate::counts::MAX_COUNTED;
use crate::matcher::Matcher;
use crate::wire::Mode;

section! {
    /// The keys at the top of a file. The events of a hooks block may stand beside them.
    pub(crate) FileKeys<'n>, "the file":
    schema "$schema": SchemaAddress<'n>, "", "the address of the schema, for an editor; not read";
    defaults "defaults": Defaults<'n>, "none",
        "values for all hooks of this file; a hook's own key wins";
    layers "layers": AllowedLayers<'n>, "all",
        "in the administrator's file: the other layers that may be used ([trust](trust.md))";
    audit "audit": AuditSettings, "none",
        "a log of what was decided at each event ([audit](audit.md))";
    policy "policy": PolicySettings, "none",
        "in the administrator's and the user's own `hooks.yaml`: hooks files that many machines \
         share, and where they come from ([fleet](fleet.md))";
    processes "processes": ProcessEntries<'n>, "none",
        "the long-lived processes that hooks of the types `process` and `mcp` call, by name";
    groups "groups": Groups, "none",
        "groups of words and paths, by names such as `@ours`, for the [rules](rules.md) of this file";
    hooks "hooks": HooksBlock<'n>, "none", "the hooks, by event";
}

section! {
    /// The keys of `defaults:`.
    pub(crate) Defaults<'n>, "`defaults`":
    timeout "timeout": Duration, "60 s", "how long a hook may take";
    on_error "on_error": DefaultOnError, "the event decides",
        "what an error or a failure of a hook means; it is a warning where nothing can be blocked";
    shell "shell": Filled, "`/bin/sh`, on Windows Git Bash", "the program that runs a text";
    inherit_env "inherit_env": InheritEnv, "`true`", "which environment variables hooks inherit";
    max_output "max_output": AnswerSize, "1 MiB",
        "the most a hook may write to each of stdout and stderr, 16 MiB at most";
    max_parallel "max_parallel": Count<1024>, "64", "how many hooks of one event run at once";
    deadline "deadline": Duration, "none",
        "the longest that one event may take, all its hooks together";
    http_hosts "http_hosts": Vec<String>, "all",
        "the hosts that hooks of the types `http`, `mcp` and `model` may post to, of this layer \
         and those below it";
}

section! {
    /// The keys of a matcher entry.
    pub(crate) EntryKeys<'n>, "a matcher entry":
    matcher "matcher": Matcher, "every tool",
        "a regular expression over the whole name of the tool, case-sensitive; empty and `*` are \
         every tool";
    hooks "hooks": EntryHooks<'n>, "an error"
        ("a matcher entry needs `hooks`", "write `- matcher: \"shell\"` with the hook below `hooks:`"),
        "the hooks, in order; at least one";
    when "when": Condition, "always", "the condition that the input must meet, for all of them";
    preempt_yolo "preempt_yolo": bool, "",
        "docker-agent's key; it has no effect, because `pre_tool_use` always runs before an \
         approval";
}

section! {
    /// The keys of a hook.
    pub(crate) HookKeys<'n>, "a hook":
    kind "type": Filled, "an error"
        ("a hook needs a `type`",
         "add `type:` with `rule`, `command`, `builtin`, `process`, `http`, `mcp` or `model`"),
        "what runs it: `rule` (it has [keys of its own](rules.md#the-keys)), `command`, `builtin`, \
         `process`, `http`, `mcp`, `model`, `receiver`, or a type that a program registered";
    command "command": HookCommand<'n>, "an error for types that run something",
        "what runs: text for a shell, a list of program and arguments, or the name of a builtin \
         or a process";
    args "args": Vec<String>, "none",
        "arguments of a builtin or of a command: `$1`, `$2`, ... of a text, the last items of a list";
    name "name": Filled, "what it runs", "its name in reports";
    timeout "timeout": Duration, "`defaults`, else 60 s", "how long it may take";
    on_error "on_error": OnError, "`defaults`, else the event decides",
        "what an error or a failure of the hook means ([on_error](configuration.md#on_error))";
    when "when": Condition, "it always runs", "the condition that the input must meet";
    env "env": BTreeMap<String, String>, "none",
        "environment variables it gets beside the inherited ones; `${env.NAME}` is replaced";
    inherit_env "inherit_env": InheritEnv, "`defaults`, else `true`",
        "which environment variables it inherits: all, none, or those named";
    working_dir "working_dir": Filled, "the project",
        "the directory it runs in; `~` and `$VAR` are expanded";
    shell "shell": Filled, "`defaults`, else `/bin/sh`, on Windows Git Bash", "the program that runs a text";
    max_output "max_output": AnswerSize, "`defaults`, else 1 MiB",
        "the most it may write to each of stdout and stderr, 16 MiB at most";
    strict_output "strict_output": bool, "`false`",
        "whether anything but one JSON object of known keys is a failure";
    mutates "mutates": bool,
        "unset; `true` for builtins that rewrite, and for every hook of an event that exists to \
         rewrite ([events.md](events.md))",
        "whether it is a rewriter. Rewriters [take turns](configuration.md#rewriting) before the others. With \
         `false` its rewrite is ignored; unset, a hook that rewrites becomes a rewriter, and that is \
         reported";
    background "background": bool, "`false`",
        "whether it is started and not waited for; only where nothing can be blocked, or with \
         `mode: shadow`";
    enabled "enabled": bool, "`true`", "whether it runs at all";
    limit "limit": RunLimit, "none",
        "how often it runs at most ([limit](configuration.md#limit)); only at events that can neither be blocked nor \
         rewritten, such as `stop`";
    mode "mode": Mode, "`enforce`",
        "whether its answer counts. With `warn` the user sees what it would have denied, asked or \
         rewritten, with `shadow` it is only in the report";
    dialect "dialect": String, "hookexec's own",
        "the agent for which the script was written. The script gets that agent's payload, and its \
         answer is read in that agent's format ([dialect](import.md#dialect-claude-code))";
    side_effects "side_effects": SideEffects, "`external`",
        "what running it leaves behind. `test --log` runs only hooks with `none` or `idempotent`";
    scripts "scripts": Vec<String>, "none",
        "files of the project that an [approval](trust.md) covers, beside those that the commands \
         name";
    with "with": Json, "none",
        "parameters of an [http](hook-types.md#http-hooks), [MCP](hook-types.md#mcp-hooks) or \
         [model](hook-types.md#model-hooks) hook, or of a type that a program registered";
}

section! {
    /// The keys of a condition: a join, or a field and one operator.
    pub(crate) ConditionKeys<'n>, "a condition":
    all "all": Parts, "",
        "every one holds; with `commands` or `files`: every item meets the condition beside it; false \
         for an empty list";
    any "any": Parts, "",
        "at least one holds; with `commands` or `files`: at least one item meets the \
         condition beside it";
    not "not": Condition, "", "it does not hold";
    part "where": Condition, "",
        "what an item of the list must meet, when a field and an operator are not enough";
    uncertain "uncertain": List, "",
        "something in the list can't be known before the call runs";
    field "field": Field, "an error",
        "a path into the input: `tool_input.command` or `/tool_input/command`";
    equals "equals": Json, "",
        "the value is this one. Types count: `3` is not `\"3\"`. How a number is written does \
         not: `3`, `3.0` and `3e0` are equal. Integers of any length are compared exactly, other \
         numbers as floats";
    within "in": Values, "", "the value equals one of the list";
    regex "regex": Expression, "",
        "the [regular expression](https://docs.rs/regex/latest/regex/#syntax) is found in the \
         value; anchor it with `^` and `$`; `.` matches a newline only after `(?s)`";
    glob "glob": Glob, "",
        "the pattern matches the whole value: `*` and `?` stay within a directory, `**` goes \
         across, `{a,b}` is either";
    exists "exists": bool, "",
        "the field is present (`true`) or missing (`false`); a field that is `null` counts as \
         present";
}

section! {
    /// The keys of `limit:`.
    pub(crate) LimitKeys<'n>, "a limit":
    times "times": Count<MAX_COUNTED>, "an error"
        ("a limit needs `times`", "write `limit: 3` or `limit: { times: 3, per: turn }`"),
        "how often the hook runs at most";
    per "per": Period, "`session`",
        "the time in which the runs count; `hour` is the last 60 minutes of the session";
    key "key": Field, "one count for all",
        "a field, such as `agent_name`: each of its values has a count of its own";
}

section! {
    /// The keys of `audit:`.
    pub(crate) AuditKeys<'n>, "`audit`":
    path "path": At<'n, Filled>, "an error"
        ("`audit` needs a `path`", "add `path: audit.jsonl`: a file beside this one"),
        "the file; absolute, below the home directory as `~/...`, or beside the hooks file";
    input "input": AuditInput, "`none`",
        "whether the inputs of events are recorded, without secrets; a replay needs them";
    events "events": AuditEvents, "`hooked`",
        "whether events are recorded that no hook is configured for";
    max_size "max_size": Size, "10 MiB", "the size from which a new file is begun";
    keep "keep": Count<100>, "3", "how many full files are kept";
}

section! {
    /// The keys of `policy:`.
    pub(crate) PolicyKeys<'n>, "`policy`":
    from "from": Source, "an error"
        ("`policy` needs `from`", "add `from: https://HOST/FILE`"),
        "where the policy is: `https://HOST/FILE` or `file:///PATH`";
    key "key": PublicKeys, "an error"
        ("`policy` needs `key`", "add `key:` with the public key, as `minisign -G` shows it"),
        "the public key of minisign that must have signed it; of several, one must have";
    name "name": Filled, "any",
        "the name in the policy, as `policy build` was given it; another name is refused";
    expires "expires": Duration, "never",
        "how long the policy counts after the source last had it, such as `7d`; then \
         events that fail closed are denied";
}

section! {
    /// The keys of an entry of `processes:`.
    pub(crate) ProcessKeys<'n>, "a process":
    command "command": Argv, "an error", "the program and its arguments, without a shell";
    working_dir "working_dir": Filled, "the project",
        "the directory it runs in; `~` and `$VAR` are expanded";
    dir "dir": Filled, "", "PicoClaw's name of `working_dir`";
    env "env": BTreeMap<String, String>, "none",
        "environment variables it gets beside the inherited ones; `${env.NAME}` is replaced";
    inherit_env "inherit_env": InheritEnv, "`defaults`, else `true`",
        "which environment variables it inherits: all, none, or those named";
    start "start": Start, "`lazy`", "when it starts: at its first call, or with the program";
    start_timeout "start_timeout": Duration, "5 s", "how long its handshake may take";
    timeout "timeout": Duration, "`defaults`, else 60 s",
        "how long a call may take if the hook has no `timeout`";
    max_line "max_line": AnswerSize, "8 MiB", "the longest line it may write, 16 MiB at most";
    provides "provides": Vec<String>, "none", "the tools it may answer for; `*` is every tool";
    protocol "protocol": Protocol, "`hooks`",
        "what it speaks: `hooks` ([protocol](serve.md#methods)), or `mcp`: it is an MCP server, for \
         [MCP hooks](hook-types.md#mcp-hooks)";
    event_method "event_method": EventMethod, "`runtime_event`",
        "which notification observers get: `hook.runtime_event`, or `hook.event` as PicoClaw up \
         to v0.2.8";
    enabled "enabled": bool, "`true`", "[PicoClaw](import.md#picoclaw): whether it is used at all";
    priority "priority": i64, "0", "PicoClaw: its place in the chain, lower first";
    transport "transport": String, "`stdio`", "PicoClaw: how it is spoken to";
    intercept "intercept": Vec<Stage>, "none",
        "PicoClaw: the stages it decides on; each becomes a hook of the event it corresponds to";
    observe "observe": Observed, "none", "PicoClaw: the events that it observes; `*` is all";
}

section! {
    /// The keys of PicoClaw's `hooks` block, beside events.
    pub(crate) PicoclawKeys<'n>, "`hooks`":
    enabled "enabled": bool, "`true`", "PicoClaw: whether its hooks are loaded at all";
    defaults "defaults": PicoclawDefaults<'n>, "",
        "PicoClaw: how long its hooks may take, in milliseconds";
    builtins "builtins": PicoclawBuiltins<'n>, "none",
        "PicoClaw: its compiled-in hooks, which do not exist here and must be disabled";
    processes "processes": ProcessEntries<'n>, "none", "PicoClaw: its process hooks, by name";
}

section! {
    /// The keys of `defaults:` in PicoClaw's `hooks` block.
    pub(crate) PicoclawDefaults<'n>, "`hooks.defaults`":
    observer "observer_timeout_ms": i64, "500", "for observers";
    interceptor "interceptor_timeout_ms": i64, "5000", "for interceptors";
    approval "approval_timeout_ms": i64, "60000", "for approvals";
}

/// The meaning of a failure for all hooks of a file; a default never relaxes an event.
#[derive(Clone, Copy)]
pub(crate) struct DefaultOnError(pub(super) OnError);

words! { OnError:
    "block" => Self::Block, "ask" => Self::Ask, "warn" => Self::Warn, "ignore" => Self::Ignore
}
words! { DefaultOnError: "block" => Self(OnError::Block), "ask" => Self(OnError::Ask) }
words! { Mode: "enforce" => Self::Enforce, "warn" => Self::Warn, "shadow" => Self::Shadow }
words! { SideEffects:
    "none" => Self::None, "idempotent" => Self::Idempotent, "external" => Self::External
}
words! { Period: "session" => Self::Session, "turn" => Self::Turn, "hour" => Self::Hour }
words! { EventMethod: "event" => Self::Event, "runtime_event" => Self::RuntimeEvent }
words! { Protocol: "hooks" => Self::Hooks, "mcp" => Self::Mcp }
words! { Start: "lazy" => Self(false), "eager" => Self(true) }
words! { AuditInput: "none" => Self(false), "redacted" => Self(true) }
words! { AuditEvents: "hooked" => Self(false), "all" => Self(true) }
words! { Layer:
    "user" => Self::User, "project" => Self::Project, "command_line" => Self::CommandLine
}

impl Words for List {
    const WORDS: &'static [(&'static str, Self)] = &Self::NAMES;
}

later! {
    /// `$schema:`.
    SchemaAddress: json!({ "type": "string" });
    /// `layers:`, which only an administrator's file may have.
    AllowedLayers: <Vec<Layer>>::schema();
    /// A hooks block.
    HooksBlock: reference("hooks");
    /// The `hooks:` of a matcher entry.
    EntryHooks: json!({ "type": ["object", "array"] });
    /// `processes:`.
    ProcessEntries: json!({ "type": "object", "additionalProperties": reference("process") });
    /// The `command:` of a hook.
    HookCommand: json!({ "anyOf": [Filled::schema(), Argv::schema()] });
    /// The `builtins:` of PicoClaw.
    PicoclawBuiltins: json!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": { "enabled": { "const": false } },
            "required": ["enabled"]
        }
    });
}
