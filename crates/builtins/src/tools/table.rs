//! The table itself: arguments by role, and the tools of each agent.

use super::Role::{
    Command, Content, Edits, Glob, New, Old, Patch, Path, Paths, Pattern, Prose, Query, Url, Words,
};
use super::{Arguments, Mcp, Special, Tool, Tools, Toolset};

const SHELL: Arguments = &[
    (Command, "command cmd command_line commandLine script chars input keys text"),
    (Words, "args arguments argv"),
];

pub(super) const FILE: Arguments = &[
    (Path, "file_path path filePath absolute_path file filename target_file notebook_path"),
    (Paths, "paths file_paths image_paths include files operations replacements"),
    (Edits, "edits changes"),
    (
        Content,
        "content contents file_text fileText insert_text new_source text code code_edit \
        new_content",
    ),
    (Old, "old_string old_str oldStr oldString oldText old_text"),
    (New, "new_string new_str newStr newString newText new_text"),
];

/// The arguments of a tool that takes a patch; they come before those of [`FILE`].
pub(super) const PATCH: Arguments =
    &[(Patch, "input patch patchText patch_text command content diff")];

const SEARCH_FILES: Arguments = &[
    (Pattern, "pattern regex"),
    (Glob, "glob include include_pattern"),
    (Path, "path dir_path directory target_directory"),
    (Paths, "paths"),
];

const FETCH: Arguments = &[(Url, "url urls uri"), (Prose, "prompt")];

const SEARCH_WEB: Arguments = &[(Query, "query search_query q")];

const SUBAGENT: Arguments = &[(Prose, "prompt description")];

/// The roles of arguments by their names alone, for tools that are not in the table.
pub(super) const ANY: Arguments = &[
    (
        Command,
        "command commands cmd script shell_command code argv chars stdin keys \
        commandLine command_line run",
    ),
    (
        Content,
        "content contents file_text fileText body new_source insert_text new_content \
        old_content code_edit codeEdit replacement markdown html",
    ),
    (Old, "old_string oldString old_str oldStr oldText"),
    (New, "new_string newString new_str newStr newText"),
    (Patch, "patch diff patchText"),
    (Pattern, "pattern regex"),
    (Query, "query sql statement"),
    (
        Prose,
        "prompt description message title comment question explanation instructions \
        thought",
    ),
];

/// Returns the arguments of tools of a kind.
pub(super) fn arguments(kind: &str) -> Option<Arguments> {
    match kind {
        "shell" => Some(SHELL),
        "write" | "edit" | "read" => Some(FILE),
        "list" | "glob" | "grep" => Some(SEARCH_FILES),
        "fetch" => Some(FETCH),
        "search" => Some(SEARCH_WEB),
        "subagent" => Some(SUBAGENT),
        _ => None,
    }
}

const fn tool(names: &'static [&'static str], kinds: &'static [&'static str]) -> Tool {
    Tool { names, kinds, special: Special::Nothing }
}

const fn patch(names: &'static [&'static str]) -> Tool {
    Tool { names, kinds: &["edit", "write"], special: Special::Patches }
}

/// Tools whose command is not one for a POSIX shell.
const fn opaque(names: &'static [&'static str]) -> Tool {
    Tool { names, kinds: &["shell"], special: Special::Opaque }
}

/// Tools that reach no file, no command and no network: plans, questions, notes.
const fn harmless(names: &'static [&'static str]) -> Tool {
    tool(names, &[])
}

pub(super) const CLAUDE_CODE: Tools = &[
    tool(&["Bash"], &["shell"]),
    tool(&["Monitor"], &["shell"]),
    opaque(&["PowerShell"]),
    tool(&["Write"], &["write"]),
    tool(&["Edit"], &["edit"]),
    tool(&["MultiEdit"], &["edit"]),
    tool(&["NotebookEdit"], &["edit", "write"]),
    tool(&["Read"], &["read"]),
    tool(&["NotebookRead"], &["read"]),
    // They send a file away.
    tool(&["Artifact", "Projects"], &["read"]),
    tool(&["LS"], &["list"]),
    tool(&["Glob"], &["glob"]),
    tool(&["Grep"], &["grep"]),
    tool(&["WebFetch"], &["fetch"]),
    tool(&["WebSearch"], &["search"]),
    tool(&["Agent", "Task"], &["subagent"]),
    tool(&["Workflow"], &["subagent"]),
    harmless(&["TodoWrite", "ExitPlanMode", "EnterPlanMode", "AskUserQuestion", "Skill"]),
    harmless(&["TaskCreate", "TaskUpdate", "TaskGet", "TaskList", "TaskOutput", "TaskStop"]),
    harmless(&["BashOutput", "KillShell", "ToolSearch", "EnterWorktree", "ExitWorktree"]),
    harmless(&["KillBash", "SlashCommand"]),
];

pub(super) const CODEX: Tools = &[
    tool(&["Bash", "exec_command", "shell", "shell_command", "local_shell"], &["shell"]),
    opaque(&["write_stdin"]),
    // The patch stands in `tool_input.command`; it may add, change, move and delete files.
    patch(&["apply_patch"]),
    tool(&["view_image", "read_file"], &["read"]),
    tool(&["list_dir"], &["list"]),
    tool(&["grep_files"], &["grep"]),
    tool(&["web_search"], &["search"]),
    tool(&["spawn_agent", "Agent"], &["subagent"]),
    harmless(&["update_plan", "request_user_input", "wait_agent", "close_agent"]),
];

pub(super) const GEMINI: Tools = &[
    tool(&["run_shell_command"], &["shell"]),
    tool(&["write_file"], &["write"]),
    tool(&["replace", "edit"], &["edit"]),
    tool(&["read_file", "read_many_files"], &["read"]),
    tool(&["list_directory"], &["list"]),
    tool(&["glob"], &["glob"]),
    tool(&["grep_search", "search_file_content"], &["grep"]),
    tool(&["web_fetch"], &["fetch"]),
    tool(&["google_web_search", "web_search"], &["search"]),
    tool(&["invoke_agent"], &["subagent"]),
    // Qwen Code's.
    tool(&["notebook_edit"], &["edit", "write"]),
    tool(&["agent", "task"], &["subagent"]),
    tool(&["monitor"], &["shell"]),
    tool(&["zoom_image", "display_image"], &["read"]),
    harmless(&["write_todos", "ask_user", "save_memory", "enter_plan_mode", "activate_skill"]),
    harmless(&["exit_plan_mode", "todo_write", "ask_user_question", "skill"]),
];

/// Qwen Code has Gemini's tools and a few of its own.
pub(super) const COPILOT: Tools = &[
    tool(&["bash"], &["shell"]),
    opaque(&["powershell", "write_bash", "write_powershell"]),
    tool(&["Bash"], &["shell"]),
    opaque(&["PowerShell"]),
    tool(&["create", "Write"], &["write"]),
    tool(&["edit", "Edit"], &["edit"]),
    tool(&["str_replace_editor"], &["edit", "write", "read"]),
    patch(&["apply_patch"]),
    tool(&["view", "Read"], &["read"]),
    tool(&["glob", "Glob"], &["glob"]),
    tool(&["grep", "rg", "Grep"], &["grep"]),
    tool(&["web_fetch", "WebFetch"], &["fetch"]),
    tool(&["web_search", "WebSearch"], &["search"]),
    tool(&["task", "Task", "Agent"], &["subagent"]),
    harmless(&["report_intent", "ask_user", "update_todo", "skill", "exit_plan_mode"]),
    harmless(&["read_bash", "stop_bash", "list_bash", "read_agent", "list_agents"]),
];

pub(super) const CURSOR: Tools = &[
    tool(&["Shell"], &["shell"]),
    // One tool writes and edits; deleting counts as writing.
    tool(&["Write"], &["write", "edit"]),
    tool(&["StrReplace", "Edit"], &["edit"]),
    Tool { names: &["Delete"], kinds: &["write"], special: Special::Deletes },
    tool(&["Read"], &["read"]),
    tool(&["LS"], &["list"]),
    tool(&["Glob"], &["glob"]),
    tool(&["Grep"], &["grep"]),
    tool(&["WebFetch"], &["fetch"]),
    tool(&["WebSearch"], &["search"]),
    tool(&["Task"], &["subagent"]),
    harmless(&["TodoWrite", "AskQuestion", "CreatePlan", "SwitchMode"]),
];

pub(super) const DROID: Tools = &[
    tool(&["Execute", "Bash"], &["shell"]),
    tool(&["Create", "Write"], &["write"]),
    tool(&["Edit", "MultiEdit"], &["edit"]),
    patch(&["ApplyPatch"]),
    tool(&["Read", "GenerateImage"], &["read"]),
    tool(&["LS"], &["list"]),
    tool(&["Glob"], &["glob"]),
    tool(&["Grep"], &["grep"]),
    tool(&["FetchUrl", "WebFetch"], &["fetch"]),
    tool(&["WebSearch"], &["search"]),
    tool(&["Task"], &["subagent"]),
    harmless(&["TodoWrite", "ExitSpecMode", "AskUser", "Skill"]),
];

/// Windsurf names no tools; these names are ours, after its events.
pub(super) const WINDSURF: Tools = &[
    tool(&["run_command"], &["shell"]),
    tool(&["write_code"], &["write", "edit"]),
    tool(&["read_code"], &["read"]),
];

pub(super) const KIRO: Tools = &[
    tool(&["execute_bash", "shell"], &["shell"]),
    opaque(&["execute_cmd"]),
    tool(&["fs_write", "write"], &["write", "edit"]),
    // One tool reads files, lists directories and searches.
    tool(&["fs_read", "read"], &["read", "list", "grep"]),
    tool(&["glob"], &["glob"]),
    tool(&["grep"], &["grep"]),
    tool(&["web_fetch"], &["fetch"]),
    tool(&["web_search"], &["search"]),
    tool(&["use_subagent", "delegate"], &["subagent"]),
    harmless(&["todo_list", "thinking", "introspect"]),
];

pub(super) const OPENCODE: Tools = &[
    tool(&["bash"], &["shell"]),
    tool(&["write"], &["write"]),
    tool(&["edit", "multiedit"], &["edit"]),
    patch(&["patch", "apply_patch"]),
    tool(&["read"], &["read"]),
    tool(&["list"], &["list"]),
    tool(&["glob"], &["glob"]),
    tool(&["grep"], &["grep"]),
    tool(&["webfetch"], &["fetch"]),
    tool(&["websearch", "codesearch"], &["search"]),
    tool(&["task"], &["subagent"]),
    // Kilo's.
    tool(&["background_process"], &["shell"]),
    harmless(&["board_post", "board_read", "cancel_wakeup", "kilo_local_recall"]),
    harmless(&["todowrite", "todoread", "question", "skill", "plan_enter", "plan_exit", "invalid"]),
];

pub(super) const OPENCLAW: Tools = &[
    tool(&["exec", "bash"], &["shell"]),
    opaque(&["process"]),
    tool(&["write"], &["write"]),
    tool(&["edit"], &["edit"]),
    patch(&["apply_patch"]),
    tool(&["read"], &["read"]),
    tool(&["ls"], &["list"]),
    tool(&["find"], &["glob"]),
    tool(&["grep"], &["grep"]),
    tool(&["web_fetch"], &["fetch"]),
    tool(&["web_search"], &["search"]),
    tool(&["sessions_spawn"], &["subagent"]),
    harmless(&["sessions_list", "session_status", "update_plan"]),
    // It wraps a call of an MCP tool, which then comes under its own name, `server__tool`, as well.
    harmless(&["tool_call"]),
];

pub(super) const PI: Tools = &[
    tool(&["bash"], &["shell"]),
    opaque(&["powershell"]),
    tool(&["write"], &["write"]),
    tool(&["edit"], &["edit"]),
    tool(&["read"], &["read"]),
    tool(&["ls"], &["list"]),
    tool(&["find"], &["glob"]),
    tool(&["grep"], &["grep"]),
];

pub(super) const KIMI: Tools = &[
    tool(&["Bash"], &["shell"]),
    tool(&["Write"], &["write"]),
    tool(&["Edit"], &["edit"]),
    tool(&["Read", "ReadMediaFile"], &["read"]),
    tool(&["Glob"], &["glob"]),
    tool(&["Grep"], &["grep"]),
    tool(&["FetchURL"], &["fetch"]),
    tool(&["WebSearch"], &["search"]),
    tool(&["Agent", "AgentSwarm"], &["subagent"]),
    harmless(&["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "Skill"]),
    harmless(&["TaskList", "TaskOutput", "TaskStop"]),
];

pub(super) const VIBE: Tools = &[
    tool(&["file_system.bash", "process.start"], &["shell"]),
    opaque(&["process.write"]),
    tool(&["file_system.write_file"], &["write"]),
    tool(&["file_system.edit"], &["edit"]),
    patch(&["file_system.search_replace"]),
    tool(&["file_system.read_file"], &["read"]),
    tool(&["agents.spawn"], &["subagent"]),
    // A program that calls other tools, each of which comes under its own name as well.
    harmless(&["run_typescript", "search_tool_functions"]),
    harmless(&["self.wait", "self.sleep", "skill.read", "vibe.todo"]),
    harmless(&["process.output", "process.list", "process.stop"]),
    harmless(&["agents.list_configs", "agents.list", "agents.send_message", "agents.interrupt"]),
];

/// Tools of programs that have no adapter: VS Code and what builds on it, and hosts that call
/// hookexec themselves.
const ELSEWHERE: Tools = &[
    tool(&["run_in_terminal", "exec", "execute_command", "terminal"], &["shell"]),
    tool(&["run_terminal_cmd", "sh", "zsh"], &["shell"]),
    tool(&["create_file", "append_file", "writefile"], &["write"]),
    tool(&["insert_edit_into_file", "replace_string_in_file", "edit_file"], &["edit"]),
    tool(&["multi_replace_string_in_file"], &["edit"]),
    tool(&["read_multiple_files", "readfile", "view_file", "notebookread"], &["read"]),
    tool(&["list_dir", "directory_tree", "ls"], &["list"]),
    tool(&["file_search"], &["glob"]),
    tool(&["search_files", "search_files_content"], &["grep"]),
    tool(&["fetch_webpage", "fetch"], &["fetch"]),
];

/// Old and new names of one tool. Those of Claude Code 2.1.329, whose matchers fit each of them; then
/// those of Gemini CLI and Qwen Code.
pub(super) const RENAMED: [&[&str]; 11] = [
    &["Agent", "Task"],
    &["TaskStop", "KillShell", "KillBash"],
    &["ListAgents", "ListPeers"],
    &["SendUserMessage", "Brief"],
    &["ListMcpResourcesTool", "ListMcpResources"],
    &["ReadMcpResourceTool", "ReadMcpResource"],
    &["ReadMcpResourceDirTool", "ReadMcpResourceDir"],
    &["SetGoal", "ProposeGoal"],
    &["REPL", "Eval"],
    &["grep_search", "search_file_content"],
    &["agent", "task"],
];

/// The tools of each agent, and how it names those of MCP servers.
pub(super) static AGENTS: [Toolset; 15] = [
    Toolset { agent: "claude-code", tools: CLAUDE_CODE, mcp: Mcp::Plain },
    Toolset { agent: "codex", tools: CODEX, mcp: Mcp::Plain },
    Toolset { agent: "gemini", tools: GEMINI, mcp: Mcp::Underscore },
    Toolset { agent: "qwen", tools: GEMINI, mcp: Mcp::Underscore },
    Toolset { agent: "copilot", tools: COPILOT, mcp: Mcp::SlashOrDash },
    Toolset { agent: "cursor", tools: CURSOR, mcp: Mcp::Colon },
    // `my-kit___do-it`, measured with Droid 0.225.2.
    Toolset { agent: "droid", tools: DROID, mcp: Mcp::Joined("___") },
    Toolset { agent: "windsurf", tools: WINDSURF, mcp: Mcp::Plain },
    Toolset { agent: "kiro", tools: KIRO, mcp: Mcp::Slash },
    Toolset { agent: "opencode", tools: OPENCODE, mcp: Mcp::Joined("_") },
    Toolset { agent: "openclaw", tools: OPENCLAW, mcp: Mcp::Joined("__") },
    Toolset { agent: "kimi", tools: KIMI, mcp: Mcp::Plain },
    Toolset { agent: "vibe", tools: VIBE, mcp: Mcp::Dotted },
    Toolset { agent: "kilo", tools: OPENCODE, mcp: Mcp::Joined("_") },
    Toolset { agent: "pi", tools: PI, mcp: Mcp::Plain },
];

/// An agent that has no row.
pub(super) static UNKNOWN: Toolset = Toolset { agent: "", tools: &[], mcp: Mcp::Plain };

/// Every tool that is known.
pub(super) fn all() -> impl Iterator<Item = Tools> + Clone {
    AGENTS.iter().map(|agent| agent.tools).chain([ELSEWHERE])
}
