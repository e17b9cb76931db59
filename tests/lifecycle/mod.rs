//! The drivers, seen from outside: which events fire, in which order, with what.

mod approval;
mod batch;
mod channels;
mod declared;
mod dropped;
mod examples;
mod openclaw_jobs;
mod order;
mod rewrites;
mod running;
mod session;
mod spans;
mod split;
mod support;
