//! An agent of rig.

use std::sync::Arc;

use hookexec::Config;
use hookexec::lifecycle::{Session, SessionSource, Turn};
use hookexec_embedding::rig::{Hooked, prompt};
use rig_agent::tool::server::ToolServer;
use rig_agent::tool::{RegisteredTool, Tool, ToolContext};
use rig_agent::{Agent, AgentBuilder};
use rig_core::error::ErrorReport;
use rig_core::providers::openai::OpenAIConfig;
use rig_core::serve::adapters::{ModelAdapter, ToolAdapter};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{HOOKS, approve, check, executor, says, script, scripted_model};

#[derive(Deserialize)]
struct Text {
    text: String,
}

struct Echo;
struct Pay;

fn parameters() -> Value {
    json!({ "type": "object", "properties": { "text": { "type": "string" } } })
}

impl Tool for Echo {
    const NAME: &'static str = "echo";
    type Error = std::io::Error;
    type Args = Text;
    type Output = String;

    fn description(&self) -> String {
        "Repeats a text.".to_owned()
    }

    fn parameters(&self) -> Value {
        parameters()
    }

    async fn call(&self, _: &mut ToolContext, arguments: Text) -> Result<String, Self::Error> {
        Ok(arguments.text)
    }
}

impl Tool for Pay {
    const NAME: &'static str = "pay";
    type Error = std::io::Error;
    type Args = Text;
    type Output = String;

    fn description(&self) -> String {
        "Pays.".to_owned()
    }

    fn parameters(&self) -> Value {
        parameters()
    }

    async fn call(&self, _: &mut ToolContext, arguments: Text) -> Result<String, Self::Error> {
        Ok(format!("paid {}", arguments.text))
    }
}

fn hooked<S>(inner: S, turn: &Arc<Turn>) -> Hooked<S> {
    Hooked { inner, turn: Arc::clone(turn), approver: |request| Box::pin(approve(request)) }
}

fn agent(url: &str, preamble: &str, turn: &Arc<Turn>) -> Result<Agent, ErrorReport> {
    let model = OpenAIConfig::new("no key").with_base_url(url).client().chat("scripted");
    let echo = RegisteredTool::from_handler(hooked(ToolAdapter::new(Echo), turn))?;
    let pay = RegisteredTool::from_handler(hooked(ToolAdapter::new(Pay), turn))?;
    let tools = ToolServer::new().registered_tool(echo).registered_tool(pay);
    let behind = hooked(ModelAdapter::new("behind", model.clone()), turn);
    let agent = AgentBuilder::new(model).model_route_handler("behind", behind).preamble(preamble);
    let agent = agent.default_max_turns(8).tool_server_handle(tools.run()).build();
    Ok(agent.with_model_label("behind"))
}

#[tokio::test]
async fn an_agent_of_rig_works_under_its_hooks() {
    let (url, serving) = scripted_model(script()).await;
    let session = Session::builder("s-1").model("scripted");
    let session = session.start(executor(HOOKS).unwrap(), SessionSource::Startup).await;
    let context = session.opening().additional_context().unwrap();
    let outcome = prompt(&session, "Go.", |turn| agent(&url, &context, turn)).await;
    assert_eq!(outcome.end.unwrap(), "The *** is done, again.");
    session.end("exit").await;
    check(&serving.await.unwrap());
}

#[tokio::test]
async fn a_running_agent_of_rig_goes_on_with_other_hooks() {
    let (url, serving) = scripted_model(vec![says("Done.")]).await;
    let first = Arc::new(executor("hooks: {}").unwrap());
    let session = Session::builder("s-1").start(Arc::clone(&first), SessionSource::Startup).await;
    let outcome = prompt(&session, "Go.", |turn| agent(&url, "", turn)).await;
    assert_eq!(outcome.end.unwrap(), "Done.");
    serving.await.unwrap();

    let closes = "user_prompt_submit: { type: builtin, command: close }";
    let next = Config::from_yaml(closes, "hooks.yaml").unwrap();
    session.replace_executor(first.successor(next).unwrap());
    let outcome = prompt(&session, "Go.", |turn| agent(&url, "", turn)).await;
    let end = outcome.end.unwrap_err().to_string();
    assert_eq!(end, "refused by a `user_prompt_submit` hook: closed");
    assert!(session.stopped().is_some());
    session.end("exit").await;
}
