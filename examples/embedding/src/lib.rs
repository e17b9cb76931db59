//! Adapters between hookexec and frameworks. Copy the one that you need.
//!
//! The tests run each scenario where the framework has it:
//!
//! | scenario | own loop | rig | rmcp |
//! |---|---|---|---|
//! | deny, rewrite, ask | yes | yes | yes; an ask is a denial |
//! | redaction of tool results, parallel calls, a hook type of one's own | yes | yes | yes |
//! | redaction of the model's text, context of the session and the turn, `stop`, a builtin with state | yes | yes | it sees tool calls only |
//! | what a hook rewrites of a request to the model | all of it | its messages | it sees tool calls only |
//! | a tool that a hook offers and answers | yes | refuses calls of tools that it does not know | its list of tools is its own |
//! | other hooks while it runs; a file with mistakes is refused | yes | yes | yes |
//! | a stop of the session | yes | yes | - |
//! | cancelling a hook or a tool while it runs, 100 sessions | yes | yes | yes |
//! | subagents | yes | yes | it sees tool calls only |
//!
//! Streaming (`holds_text_back`) and tests of builtins by `dispatch` are in `tests/lifecycle` of the engine.

pub mod openai_loop;
pub mod rig;
pub mod rmcp;
