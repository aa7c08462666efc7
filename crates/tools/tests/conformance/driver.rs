//! The program that the suite starts for each scenario, with the URL of a server as its last argument.
//!
//! It does what a person would do with deft: list the tools, call them, and sign in when a call
//! requires it.

use std::sync::Arc;

use deft_model::{Failure, FailureClass, Object};
use deft_tools::{
    Call, Environment, Grant, OAuthOptions, Options, Reexport, Reference, Router, Secret,
    SecretSource, ServerOptions, ToolInfo,
};
use serde_json::{Value, json};

use crate::relayed;

/// The name of the server.
pub(crate) const SERVER: &str = "suite";
/// The URL to which the browser would return.
const REDIRECT: &str = "http://127.0.0.1:7777/callback";
/// A client metadata document that some scenarios know.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// The prefix of scenarios about skills of servers, and the scenario that opens no skill.
pub(crate) const SKILLS: &str = "sep-2640-client-";
const NO_PREFETCH: &str = "sep-2640-client-no-prefetch";
/// How often a person signs in again before giving up.
const MAX_SIGN_INS: usize = 3;

/// Scenarios in which the server asks a person, so deft relays the call for a client.
const ASKING: [&str; 2] = [
    "elicitation-sep1034-client-defaults",
    "sep-2322-client-request-state",
];

/// The context with secrets that the suite passes.
struct Context(Value);

impl Context {
    fn read() -> Self {
        let text = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
        Self(serde_json::from_str(&text).unwrap_or_default())
    }

    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_str().map(str::to_owned)
    }

    /// Returns the calls that the scenario prescribes; empty if it leaves them to the client.
    fn calls(&self) -> Vec<(String, Object)> {
        let calls = self.0.get("toolCalls").and_then(Value::as_array);
        let call = |call: &Value| {
            let arguments = call.get("arguments").and_then(Value::as_object);
            let name = call.get("name")?.as_str()?.to_owned();
            Some((name, arguments.cloned().unwrap_or_default()))
        };
        calls.into_iter().flatten().filter_map(call).collect()
    }
}

impl SecretSource for Context {
    fn secret(&self, reference: &str) -> Result<Secret, String> {
        let found = reference
            .strip_prefix("env:")
            .and_then(|name| self.text(name));
        found.map(Secret::new).ok_or_else(|| "not given".to_owned())
    }
}

/// Does nothing unless the suite started it.
#[tokio::test]
async fn driver() {
    let Ok(scenario) = std::env::var("MCP_CONFORMANCE_SCENARIO") else {
        return;
    };
    let url = std::env::args().next_back().unwrap();
    drive(&scenario, &url).await.unwrap();
}

async fn drive(scenario: &str, url: &str) -> Result<(), Failure> {
    let context = Arc::new(Context::read());
    let mut options = Options::default();
    let server = ServerOptions {
        oauth: oauth(scenario, &context),
        reexport: Reexport::Plain,
        ..ServerOptions::url(url)
    };
    options.servers.insert(SERVER.to_owned(), server);
    let environment = Environment {
        secrets: context.clone(),
        ..Environment::default()
    };
    let router = Router::new(options, environment);
    let mut sign_ins = 0;
    while let Some((_, failure)) = router.list_servers().await.pop() {
        sign_in(&router, &failure, &mut sign_ins).await?;
    }
    if scenario.starts_with(SKILLS) {
        let opened = open_skills(&router, scenario != NO_PREFETCH).await;
        router.shutdown().await;
        return opened;
    }
    for (tool, arguments) in calls(&router, &context) {
        if ASKING.contains(&scenario) {
            relayed::call(&router, SERVER, &tool, &arguments).await;
            continue;
        }
        let name = format!("{SERVER}.{tool}");
        let call = || router.call(Call::new(&name, arguments.clone()));
        while let Err(failure) = call().await {
            if failure.class != FailureClass::Auth {
                eprintln!("{tool}: {failure}");
                break;
            }
            sign_in(&router, &failure, &mut sign_ins).await?;
        }
    }
    router.shutdown().await;
    Ok(())
}

/// Lists the skills of the server; if `open`, reads all files of each. Stops at the first file that
/// differs from its entry.
pub(crate) async fn open_skills(router: &Router, open: bool) -> Result<(), Failure> {
    let listing = router.skills(SERVER).await?;
    for skill in listing.skills.iter().filter(|_| open) {
        router.read_skill_file(skill, "SKILL.md").await?;
        let files = skill.listed_files().iter();
        for file in files.filter(|file| file.path != "SKILL.md") {
            router.read_skill_file(skill, &file.path).await?;
        }
    }
    Ok(())
}

fn oauth(scenario: &str, context: &Context) -> OAuthOptions {
    let secret = context.text("client_secret");
    OAuthOptions {
        client_id: context.text("client_id"),
        client_secret: secret.map(|_| Reference::new("env:client_secret")),
        client_metadata_url: Some(DOCUMENT.to_owned()),
        grant: if scenario.starts_with("auth/client-credentials") {
            Grant::ClientCredentials
        } else {
            Grant::AuthorizationCode
        },
        ..OAuthOptions::default()
    }
}

/// Signs in as a person would, up to [`MAX_SIGN_INS`] times.
async fn sign_in(router: &Router, failure: &Failure, count: &mut usize) -> Result<(), Failure> {
    eprintln!("{failure}");
    if failure.class != FailureClass::Auth || *count >= MAX_SIGN_INS {
        return Err(failure.clone());
    }
    *count += 1;
    let pending = router.sign_in(SERVER, REDIRECT, &[]).await?;
    let browser = deft_http_client();
    let page = browser.get(pending.url()).send().await.unwrap();
    let place = page.headers().get("location").unwrap();
    let place = place.to_str().unwrap().to_owned();
    pending.complete(&place).await.map(drop)
}

fn deft_http_client() -> reqwest::Client {
    let none = reqwest::redirect::Policy::none();
    reqwest::Client::builder().redirect(none).build().unwrap()
}

fn calls(router: &Router, context: &Context) -> Vec<(String, Object)> {
    let wanted = context.calls();
    if !wanted.is_empty() {
        return wanted;
    }
    let tools = router.list().into_iter();
    let tools: Vec<ToolInfo> = tools.filter(|tool| tool.server == SERVER).collect();
    let schema = tools
        .iter()
        .find(|tool| tool.name.starts_with("json_schema_2020"));
    let call = |tool: &ToolInfo| match (tool.name.as_str(), schema) {
        // The server compares the argument with the schema that it listed.
        ("json_schema_echo", Some(schema)) => {
            let schema = Value::clone(&schema.input_schema);
            Object::from_iter([("schema".to_owned(), schema)])
        }
        _ => arguments(tool),
    };
    let calls = tools.iter().map(|tool| (tool.name.clone(), call(tool)));
    calls.collect()
}

/// Returns a value for every argument that a tool requires.
fn arguments(tool: &ToolInfo) -> Object {
    let schema = &tool.input_schema;
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("number") => json!(1.5),
        Some("integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        Some(_) | None => json!("test"),
    };
    required
        .map(|name| (name.to_owned(), value(name)))
        .collect()
}
