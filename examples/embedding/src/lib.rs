//! Adapters between hookexec and frameworks, each run by a test. Copy the one that you need.

pub mod openai_loop;
pub mod rig;
pub mod rmcp;
