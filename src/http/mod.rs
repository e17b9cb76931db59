//! HTTP, for the builtin `http_post` and for hooks of type `http`.

mod address;
mod client;

pub(crate) use client::{Client, NoReply};
