//! A home with a model that answers by a script.

use std::io::Write;
use std::process::{Output, Stdio};

use deft_testkit::{Dialect, ModelAnswer, ModelServer};
use serde_json::{Value, json};

use crate::daemon::used_home;
use crate::support::World;

/// A model that gives these answers, one after the other.
pub(crate) fn model(answers: impl IntoIterator<Item = ModelAnswer>) -> ModelServer {
    ModelServer::start(Dialect::OpenAi, answers)
}

/// The section of a model at an address, which is asked once and told a price.
pub(crate) fn section(url: &str) -> String {
    format!(
        "[llm.main]\nprovider = \"openai\"\nmodel = \"double\"\nbase_url = {}\nretries = 0\n\
         price_input = 1000.0\nprice_output = 2000.0\n\n",
        json!(url)
    )
}

/// A home without default skills, with this model and this further configuration.
pub(crate) fn home(server: &ModelServer, more: &str) -> World {
    let world = used_home();
    world.write("home/config.toml", section(&server.url) + more);
    world
}

/// What a command came to.
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

    /// The document on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|problem| panic!("{problem}: {self:?}"))
    }
}

/// Runs the binary with nothing to read.
pub(crate) fn deft(world: &World, args: &[&str]) -> CommandResult {
    piped(world, args, "")
}

/// Runs the binary with this piped in.
pub(crate) fn piped(world: &World, args: &[&str], stdin: &str) -> CommandResult {
    let mut command = world.command(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read its input closes it, which does not fail the test.
    drop(child.stdin.take().unwrap().write_all(stdin.as_bytes()));
    CommandResult::from_output(&child.wait_with_output().unwrap())
}

/// The messages of a question, each as its role and its text.
pub(crate) fn messages(request: &Value) -> Vec<(String, String)> {
    let all = request["messages"].as_array().unwrap();
    all.iter()
        .map(|message| {
            let text = |name: &str| message[name].as_str().unwrap_or_default().to_owned();
            (text("role"), text("content"))
        })
        .collect()
}

/// The names of the tools of a question.
pub(crate) fn tools(request: &Value) -> Vec<String> {
    let all = request["tools"].as_array().cloned().unwrap_or_default();
    all.iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect()
}
