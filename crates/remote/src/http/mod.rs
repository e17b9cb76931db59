//! HTTP, for the builtin `http_post` and for hooks of the types `http` and `model`.

mod address;
mod client;
mod roots;

pub use client::{Ask, Client, Reply};
pub use roots::tls_for;
