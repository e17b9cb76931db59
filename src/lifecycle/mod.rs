//! The drivers: the order of events around a session, a turn, a model call and a tool call.
//!
//! A hook that is configured and never called is the most frequent bug of agents with hooks. A host
//! that uses these drivers can't forget a stage: it passes closures (run the tool, ask the user,
//! call the model) and gets a typed outcome. The tool's closure receives an [`AuthorizedCall`],
//! which only the driver can make: the name and the arguments that the guards saw last.
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
//! let turn = session.turn("What is here?").await?;
//!
//! let call = ToolCall::parse("echo", r#"{"text": "hello"}"#)?;
//! let outcome = turn
//!     .tool_call(call)
//!     .approve_with(async |request| request.refuse("the user is away"))
//!     .run(async |call| Ok(call.text("text")?.into()))
//!     .await;
//! assert_eq!(outcome.for_model(), "hello");
//! assert!(matches!(outcome.end, ToolEnd::Ran { .. }));
//!
//! turn.end(TurnEnd::finished("It says hello.")).await;
//! session.end("exit").await;
//! # Ok(())
//! # }
//! ```

mod approval;
mod batch;
mod cancel;
mod compaction;
mod decide;
mod declared;
mod model_call;
mod outcome;
mod scope;
mod session;
mod tool_call;
mod tool_run;
mod trail;
mod turn;

pub use approval::{Approval, ApprovalRequest};
pub use batch::Batch;
pub use compaction::{Compaction, CompactionOutcome, CompactionSource};
pub use declared::DeclaredEvents;
pub use model_call::{ModelCall, ModelOutcome, ModelRequest};
pub use outcome::{DeniedBy, Stage, ToolEnd, ToolOutcome};
#[doc(hidden)]
pub use scope::CallerDeadline;
pub use session::{Session, SessionBuilder, SessionSource};
pub use tool_call::{AuthorizedCall, Panic, ToolCall, ToolError, ToolFacts};
pub use tool_run::ToolRun;
pub use trail::{Refused, Trail};
pub use turn::{Turn, TurnEnd, TurnState};

/// The guide's programs compile.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
struct Guide;
