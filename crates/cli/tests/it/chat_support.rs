//! Homes with a scripted model.

use std::io::Write;
use std::process::{Output, Stdio};

use deft_testkit::{Dialect, ModelAnswer, ModelServer};
use serde_json::{Value, json};

use crate::daemon::used_home;
use crate::support::World;

/// Starts a model that gives these answers in order.
pub(crate) fn model(answers: impl IntoIterator<Item = ModelAnswer>) -> ModelServer {
    ModelServer::start(Dialect::OpenAi, answers)
}

/// Returns the configuration of a model at a URL, without retries and with prices.
pub(crate) fn section(url: &str) -> String {
    format!(
        "[llm.main]\nprovider = \"openai\"\nmodel = \"double\"\nbase_url = {}\nretries = 0\n\
         price_input = 1000.0\nprice_output = 2000.0\n\n",
        json!(url)
    )
}

/// Creates a home without default skills, with this model and additional configuration.
pub(crate) fn home(server: &ModelServer, more: &str) -> World {
    let world = used_home();
    world.write("home/config.toml", section(&server.url) + more);
    world
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct CommandResult {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandResult {
    fn from_output(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self {
            code: output.status.code().unwrap(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Parses stdout as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|problem| panic!("{problem}: {self:?}"))
    }
}

/// Runs the binary with empty stdin.
pub(crate) fn deft(world: &World, args: &[&str]) -> CommandResult {
    piped(world, args, "")
}

/// Runs the binary with `stdin` as its input.
pub(crate) fn piped(world: &World, args: &[&str], stdin: &str) -> CommandResult {
    let mut command = world.command(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Writing fails if the command does not read its input, which is fine.
    drop(child.stdin.take().unwrap().write_all(stdin.as_bytes()));
    CommandResult::from_output(&child.wait_with_output().unwrap())
}

/// Returns the messages of a model request as pairs of role and text.
pub(crate) fn messages(request: &Value) -> Vec<(String, String)> {
    let all = request["messages"].as_array().unwrap();
    all.iter()
        .map(|message| {
            let text = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
            (text("role"), text("content"))
        })
        .collect()
}

/// Returns the names of the tools in a model request.
pub(crate) fn tools(request: &Value) -> Vec<String> {
    let all = request["tools"].as_array().cloned().unwrap_or_default();
    all.iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect()
}
