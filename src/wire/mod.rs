//! Plain data that crosses a boundary, and its JSON.

mod approval;
pub(crate) mod claude_code;
pub(crate) mod field;
pub(crate) mod input;
pub(crate) mod output;
mod output_keys;
mod output_reader;
mod tool_result;
pub(crate) mod verdict;

pub(crate) use hookexec_files::json::same_json;
#[doc(inline)]
pub use hookexec_files::json::{JsonObject, StrictJsonError, deserialize_exact, parse_json};
#[doc(inline)]
pub use hookexec_files::surrogates::repair_lone_surrogates;

pub use approval::{ApprovalQuestion, ApprovalReason, ApprovalReport, call_digest};
pub(crate) use field::Present;
pub use field::{WireError, parse_strict};
pub(crate) use input::Input;
pub(crate) use output::{Decision, Output, UnknownKey};
pub use output::{InputChange, RequestChange, Stop, StopScope};
#[cfg(feature = "schema")]
pub(crate) use output_keys::OutputJson;
pub use tool_result::ToolResult;
pub use verdict::{HookReport, HookStatus, Mode, Usage};
pub(crate) use verdict::{Verdict, join, metadata_of, widest};

/// Returns `value` as JSON: strings, numbers, booleans and JSON values, which can't fail to serialise.
pub(crate) fn json_bytes(value: &impl serde::Serialize) -> Vec<u8> {
    // Growing from nothing would copy it several times.
    // The size of a usual input as JSON, in bytes.
    let mut bytes = Vec::with_capacity(4096);
    match serde_json::to_writer(&mut bytes, value) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}
