//! The engine as a server: the protocol through the library, everything else through the command.

mod agents;
mod connect;
mod hosts;
mod install;
mod load;
mod partner;
mod process;
mod protocol;
mod reload;
