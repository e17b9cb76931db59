//! The adapters, with agents, a server and a scripted model that they work for.

mod openai_loop;
mod rig;
mod rmcp;
mod support;
