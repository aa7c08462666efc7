//! `docs/tools.md` is correct: it has every tool and argument, and the examples return what the page
//! shows.

use std::collections::BTreeSet;
use std::sync::Arc;

use deft_model::Effects;
use deft_testkit::BotApi;
use deft_tools::{Reference, Router, Secret, SecretSource, ToolInfo};
use serde_json::{Value, json};

use crate::support::{World, value};

struct Token(String);

impl SecretSource for Token {
    fn secret(&self, _: &str) -> Result<Secret, String> {
        Ok(Secret::new(&self.0))
    }
}

/// A world in which every tool is enabled.
fn world(api: &BotApi) -> World {
    let mut world = World::new();
    std::fs::create_dir(world.path().join("notes")).unwrap();
    std::fs::write(world.path().join("notes/today.md"), "- water the plants\n").unwrap();
    world.options.file.folders = vec![world.path().to_owned()];
    world.options.file.write = true;
    world.options.shell.enabled = true;
    world.options.http.allow = vec!["api.example.com".to_owned()];
    world.options.telegram.token = Some(Reference::new("env:BOT"));
    world.options.telegram.base_url.clone_from(&api.url);
    world.options.telegram.chat = Some("77".to_owned());
    world.environment.secrets = Arc::new(Token(api.token.clone()));
    world.environment.now = Arc::new(|| "2026-03-29T01:30:00Z".parse().unwrap());
    world
}

/// The sections of the page, by tool name.
fn sections(page: &str) -> Vec<(&str, &str)> {
    let sections = page.split("\n## `").skip(1);
    sections
        .map(|section| section.split_once("`\n").unwrap())
        .collect()
}

/// The JSON fences of a section, each with the word after the language.
fn fences(section: &str) -> Vec<(&str, Value)> {
    let fences = section.split("```json ").skip(1);
    fences
        .map(|fence| {
            let (info, rest) = fence.split_once('\n').unwrap();
            let (text, _) = rest.split_once("\n```").unwrap();
            (info, serde_json::from_str(text).unwrap())
        })
        .collect()
}

fn names(value: &Value) -> BTreeSet<&str> {
    let fields = value.as_object().into_iter().flatten();
    fields.map(|(name, _)| name.as_str()).collect()
}

fn check_words(tool: &ToolInfo, section: &str) {
    for argument in names(&tool.input_schema["properties"]) {
        let said = section.contains(&format!("`{argument}`"));
        assert!(said, "{}: nothing about `{argument}`", tool.name);
    }
    let effects = match tool.effects().unwrap() {
        Effects::None => "`none`",
        Effects::Idempotent => "`idempotent`",
        Effects::Once => "`once`",
    };
    let (_, said) = section.split_once("Effects:").unwrap();
    let said = said.split(['.', ';']).take(2).collect::<String>();
    assert!(said.contains(effects), "{}: {said}", tool.name);
}

async fn check_example(router: &Router, tool: &ToolInfo, section: &str) {
    let fences = fences(section);
    let (info, arguments) = &fences[0];
    assert_eq!(*info, format!("call={}", tool.name));
    let known = names(&tool.input_schema["properties"]);
    assert!(names(arguments).is_subset(&known), "{}", tool.name);
    // No server answers at the example's address.
    if tool.name == "http.request" {
        return;
    }
    let given = value(router, &tool.name, arguments.clone()).await;
    if let Some((info, expected)) = fences.get(1) {
        assert_eq!(*info, "result");
        assert_eq!(&given, expected, "{}", tool.name);
    }
}

#[tokio::test]
async fn the_page_about_tools_matches_the_tools() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools.md");
    let page = std::fs::read_to_string(page).unwrap();
    let api = BotApi::start();
    let world = world(&api);
    let router = world.router();
    let tools = router.list();
    let sections = sections(&page);
    let told: BTreeSet<&str> = sections.iter().map(|(name, _)| *name).collect();
    let there: BTreeSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(told, there);
    // In the order of the page: an example reads what an earlier one wrote.
    for (name, section) in sections {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        check_words(tool, section);
        check_example(&router, tool, section).await;
    }
    let list = world.path().join("notes/list.md");
    assert!(!list.exists(), "the last example deletes it");
    let sent = &api.calls()[0].body;
    assert_eq!(sent["chat_id"], json!("77"));
}

/// Advice about `heal` skips tools that reach nothing outside; the workflow parser has a list of their
/// names.
#[tokio::test]
async fn the_list_of_local_tools_is_current() {
    let list = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../skillfile/src/workflow/local_tools.txt");
    let router = world(&BotApi::start()).router();
    let tools = router.list();
    let local = tools
        .iter()
        .filter(|tool| tool.annotations.open_world_hint == Some(false));
    let names: BTreeSet<String> = local.map(|tool| format!("{}\n", tool.name)).collect();
    let names: String = names.into_iter().collect();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&list, &names).unwrap();
    }
    let listed = std::fs::read_to_string(&list).unwrap();
    assert_eq!(
        listed, names,
        "run `UPDATE=1 cargo nextest run -p deft-tools`"
    );
}
