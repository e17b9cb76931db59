//! An agent of rig.

use std::sync::Arc;

use hookexec::lifecycle::{Outcome, Session, SessionSource, Turn, TurnEnd};
use hookexec_embedding::rig::{Hooked, prompt};
use rig_agent::tool::server::ToolServer;
use rig_agent::tool::{RegisteredTool, Tool, ToolContext};
use rig_agent::{Agent, AgentBuilder};
use rig_core::error::ErrorReport;
use rig_core::providers::openai::OpenAIConfig;
use rig_core::serve::adapters::{ModelAdapter, ToolAdapter};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::support::{
    HOOKS, Hanging, MISTAKES, a_hundred_subagents, approve, check, check_mistakes, executor,
    replace_hooks, says, script, scripted_model, wants,
};

#[derive(Deserialize)]
struct Text {
    text: String,
}

const TOOLS: [&str; 3] = ["echo", "pay", "wait"];

/// The tool at `PLACE` of [`TOOLS`].
struct TestTool<const PLACE: usize>(Hanging);

impl<const PLACE: usize> Tool for TestTool<PLACE> {
    const NAME: &'static str = TOOLS[PLACE];
    type Error = std::io::Error;
    type Args = Text;
    type Output = String;

    fn description(&self) -> String {
        format!("It can {}.", Self::NAME)
    }

    fn parameters(&self) -> Value {
        json!({ "type": "object", "properties": { "text": { "type": "string" } } })
    }

    async fn call(&self, _: &mut ToolContext, arguments: Text) -> Result<String, Self::Error> {
        match Self::NAME {
            "echo" => Ok(arguments.text),
            "pay" => Ok(format!("paid {}", arguments.text)),
            _ => self.0.clone().run().await,
        }
    }
}

fn agent(
    url: &str,
    preamble: &str,
    turn: &Arc<Turn>,
    hanging: &Hanging,
) -> Result<Agent, Box<ErrorReport>> {
    fn hooked<S>(inner: S, turn: &Arc<Turn>, cancel: &CancellationToken) -> Hooked<S> {
        let (turn, cancel) = (Arc::clone(turn), cancel.clone());
        Hooked { inner, turn, approver: |request| Box::pin(approve(request)), cancel }
    }
    fn tool<const PLACE: usize>(
        turn: &Arc<Turn>,
        hanging: &Hanging,
    ) -> Result<RegisteredTool, Box<ErrorReport>> {
        let tool = ToolAdapter::new(TestTool::<PLACE>(hanging.clone()));
        Ok(RegisteredTool::from_handler(hooked(tool, turn, &hanging.cancel))?)
    }
    let model = OpenAIConfig::new("no key").with_base_url(url).client().chat("scripted");
    let tools = ToolServer::new().registered_tool(tool::<0>(turn, hanging)?);
    let tools = tools.registered_tool(tool::<1>(turn, hanging)?);
    let tools = tools.registered_tool(tool::<2>(turn, hanging)?);
    let behind = hooked(ModelAdapter::new("behind", model.clone()), turn, &hanging.cancel);
    let agent = AgentBuilder::new(model).model_route_handler("behind", behind).preamble(preamble);
    let agent = agent.default_max_turns(8).tool_server_handle(tools.run()).build();
    Ok(agent.with_model_label("behind"))
}

/// Prompts an agent of rig, whose tool `wait` is `hanging`.
async fn ask(session: &Session, url: &str, preamble: &str, hanging: &Hanging) -> Outcome<String> {
    let build = |turn: &Arc<Turn>| agent(url, preamble, turn, hanging);
    prompt(session, "Go.", build, &hanging.cancel).await
}

#[tokio::test]
async fn an_agent_of_rig_works_under_its_hooks() {
    let (url, serving) = scripted_model(script()).await;
    let session = Session::builder("s-1").model("scripted");
    let session = session.start(executor(HOOKS).unwrap(), SessionSource::Startup).await;
    let context = session.opening().additional_context().unwrap();
    let outcome = ask(&session, &url, &context, &Hanging::default()).await;
    assert_eq!(outcome.end.unwrap(), "The *** is done, again.");
    session.end("exit").await;
    check(&serving.await.unwrap());
}

#[tokio::test]
async fn a_running_agent_of_rig_goes_on_with_other_hooks_but_not_with_mistakes() {
    let (url, serving) = scripted_model(vec![says("Done."), says("Done.")]).await;
    let first = Arc::new(executor("hooks: {}").unwrap());
    let session = Session::builder("s-1").start(Arc::clone(&first), SessionSource::Startup).await;
    for _ in 0..2 {
        let outcome = ask(&session, &url, "", &Hanging::default()).await;
        assert_eq!(outcome.end.unwrap(), "Done.");
        check_mistakes(replace_hooks(&session, &first, MISTAKES));
    }
    serving.await.unwrap();

    let closes = "user_prompt_submit: { type: builtin, command: close }";
    replace_hooks(&session, &first, closes).unwrap();
    let outcome = ask(&session, &url, "", &Hanging::default()).await;
    let end = outcome.end.unwrap_err().to_string();
    assert_eq!(end, "refused by a `user_prompt_submit` hook: closed");
    assert!(session.stopped().is_some());
    session.end("exit").await;
}

#[tokio::test]
async fn a_hook_and_a_tool_of_an_agent_of_rig_are_cancelled() {
    for name in ["echo", "wait"] {
        let (url, serving) = scripted_model(vec![wants(&[("1", name, "x")])]).await;
        let hanging = Hanging::default();
        let session = Session::builder("s-1");
        let session = session.start(hanging.executor(), SessionSource::Startup).await;
        let ended = ask(&session, &url, "", &hanging).await.end.unwrap_err();
        assert!(matches!(ended, TurnEnd::Cancelled), "{ended}");
        assert!(hanging.dropped.is_cancelled());
        session.end("exit").await;
        serving.await.unwrap();
    }
}

#[tokio::test]
async fn a_model_call_of_an_agent_of_rig_is_cancelled() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let hanging = Hanging::default();
    let cancel = hanging.cancel.clone();
    // The model accepts the connection and never answers.
    let silent = tokio::spawn(async move {
        let connection = listener.accept().await.unwrap();
        cancel.cancel();
        connection
    });
    let session = Session::builder("s-1");
    let session = session.start(executor("hooks: {}").unwrap(), SessionSource::Startup).await;
    let ended = ask(&session, &url, "", &hanging).await.end.unwrap_err();
    assert!(matches!(ended, TurnEnd::Cancelled), "{ended}");
    session.end("exit").await;
    silent.await.unwrap();
}

#[tokio::test]
async fn a_hundred_sessions_with_subagents_of_rig_share_one_executor() {
    let (url, serving) = scripted_model(vec![says("Done."); 100]).await;
    let run = move |session: Arc<Session>, context: String| {
        let url = url.clone();
        async move { ask(&session, &url, &context, &Hanging::default()).await.end.unwrap() }
    };
    a_hundred_subagents(run).await;
    for request in serving.await.unwrap() {
        let read = request.to_string();
        assert!(read.contains("Be kind.") && read.contains("It is Monday."), "{read}");
    }
}
