//! Plain data that crosses a boundary, and its JSON.

/// Declares a type of which each field after `..` is left out of the JSON while it is empty.
macro_rules! sparse {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$own_meta:meta])* $vis:vis $own:ident: $own_type:ty,)*
        ..
        $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)*
    }) => {
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$meta])*
        #[non_exhaustive]
        pub struct $name {
            $($(#[$own_meta])* $vis $own: $own_type,)*
            $($(#[$field_meta])*
            #[serde(default, skip_serializing_if = "super::is_empty")]
            pub $field: $type,)*
        }
    };
}

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
pub(crate) use verdict::{Verdict, add_new, join, join_new_lines, metadata_of, widest};

/// Returns whether a field of a JSON object may be left out.
pub(crate) fn is_empty<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

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
