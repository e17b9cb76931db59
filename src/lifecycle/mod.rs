//! The drivers: the order of events around a session, a turn, a model call and a tool call.
//!
//! A hook that is configured and never called is the most frequent bug of agents with hooks. A host
//! that uses these drivers can't forget a stage: it passes closures (run the tool, ask the user,
//! call the model) and gets a typed outcome. The tool's closure receives an [`AuthorizedCall`],
//! which only the driver can make: the name and the arguments that the guards saw last. Only
//! [`Turn::finish`] makes a [`Finished`] turn, because it asks the `stop` hooks.
//!
//! A host whose framework runs the tool or calls the model itself splits a driver: `begin` comes
//! before, and `finish` of a [`PendingTool`] or [`PendingModel`] after.
//!
//! After a denial of `post_tool_use` the model reads the tool's response and the reason, and the
//! run goes on. `continue: false` ends it, and `tool_response_transform` withholds a response.
//!
//! ```
//! use hookexec::lifecycle::{Session, SessionSource, ToolCall, ToolEnd, TurnEnd};
//! use hookexec::{Config, Executor};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let executor = Executor::builder(Config::default()).build()?;
//! let session = Session::builder("s-1").start(executor, SessionSource::Startup).await;
//! let outcome = session
//!     .run_turn("What is here?", async |turn| {
//!         let call = ToolCall::new("echo", Default::default()).arg("text", "hello");
//!         let outcome = turn
//!             .tool_call(call)
//!             .approve_with(async |request| request.refuse("the user is away"))
//!             .run(async |call| Ok(call.text("text")?.into()))
//!             .await;
//!         assert!(matches!(outcome.end, ToolEnd::Ran { .. }));
//!         // If a hook ended the turn, it ends here.
//!         outcome.go_on()?;
//!         // The `stop` hooks let the model stop, or want it to go on.
//!         turn.finish(outcome.for_model()).await.map_err(TurnEnd::Other)
//!     })
//!     .await;
//! assert_eq!(outcome.end?, "hello");
//! session.end("exit").await;
//! # Ok(())
//! # }
//! ```

mod cancel;
mod decide;
mod declared;
mod model_call;
mod outcome;
mod owed;
mod scope;
mod session;
mod tool_call;
mod tool_run;
mod turn;

pub use decide::{Approval, ApprovalRequest, ToolRun};
pub use declared::DeclaredEvents;
pub use model_call::{Compaction, CompactionSource, ModelCall, ModelRequest, PendingModel};
pub use outcome::{DeniedBy, Outcome, Refused, ToolEnd, ToolOutcome, Trail};
pub use scope::{CallerDeadline, Scope};
pub use session::{Session, SessionBuilder, SessionSource};
pub use tool_call::{AuthorizedCall, ToolCall, ToolError, ToolFacts};
pub use tool_run::{Batch, PendingTool};
pub use turn::{Finished, Turn, TurnEnd, TurnState};

/// The guide's programs compile.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
struct Guide;
