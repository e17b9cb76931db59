//! An agent of rig.

use std::sync::Arc;

use hookexec::lifecycle::{Session, SessionSource, Turn};
use hookexec_embedding::rig::{Hooked, prompt};
use rig_agent::AgentBuilder;
use rig_agent::tool::server::ToolServer;
use rig_agent::tool::{RegisteredTool, Tool, ToolContext};
use rig_core::providers::openai::OpenAIConfig;
use rig_core::serve::adapters::{ModelAdapter, ToolAdapter};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{HOOKS, approve, check, executor, script, scripted_model};

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

#[tokio::test]
async fn an_agent_of_rig_works_under_its_hooks() {
    let (url, serving) = scripted_model(script()).await;
    let session = Session::builder("s-1").model("scripted");
    let session = session.start(executor(HOOKS).unwrap(), SessionSource::Startup).await;
    let model = OpenAIConfig::new("no key").with_base_url(url).client().chat("scripted");
    let outcome = prompt(&session, "Go.", |turn| {
        let echo = RegisteredTool::from_handler(hooked(ToolAdapter::new(Echo), turn))?;
        let pay = RegisteredTool::from_handler(hooked(ToolAdapter::new(Pay), turn))?;
        let tools = ToolServer::new().registered_tool(echo).registered_tool(pay);
        let behind = hooked(ModelAdapter::new("behind", model.clone()), turn);
        let agent = AgentBuilder::new(model).model_route_handler("behind", behind);
        let agent = agent.preamble(session.opening().additional_context().unwrap());
        let agent = agent.default_max_turns(8).tool_server_handle(tools.run()).build();
        Ok(agent.with_model_label("behind"))
    });
    assert_eq!(outcome.await.end.unwrap(), "The *** is done, again.");
    session.end("exit").await;
    check(&serving.await.unwrap());
}
