//! `deft mcp serve`: skills as prompts, resources and folders of files, and notifications of changes.

use std::process::Command;

use serde_json::{Value, json};

use crate::api::client::Api;
use crate::conformance::judge;
use crate::daemon::{Daemon, used_home};
use crate::mcp_client::{LEGACY, McpClient};
use crate::support::{PAGE, World};

const REVIEW: &str = "---\nname: review\ndescription: Reviews code\nlicense: MIT\nmetadata:\n  level: 3\n---\n\n# Review\n\nRead the diff.\n";
const REPORT: &str = "name: report\ndescription: Reports\ninputs:\n  - {name: day, required: true}\nsteps:\n  - {id: note, tool: log, args: {message: \"{{ day }}\"}}\n";

fn world() -> World {
    let world = used_home();
    world
        .write("home/skills/review/SKILL.md", REVIEW)
        .write("home/skills/review/references/Über uns.md", "# Us\n")
        .write("home/skills/review/logo.bin", [0_u8, 255, 7])
        .write("home/skills/email/send.md", PAGE)
        .write("home/skills/report.yaml", REPORT);
    world
}

/// Returns the hash of a file as `sha256sum` computes it.
fn sha256(world: &World, below: &str) -> String {
    let output = Command::new("sha256sum").arg(world.path(below)).output();
    let output = String::from_utf8(output.unwrap().stdout).unwrap();
    let hash = output.trim_start_matches('\\').split(' ').next();
    format!("sha256:{}", hash.unwrap())
}

#[test]
fn skills_are_prompts() {
    let world = world();
    for mut client in McpClient::both(&world) {
        let list = client.request("prompts/list", json!({}));
        let names: Vec<&str> = list["prompts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|prompt| prompt["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["email.send", "report", "review"]);
        assert_eq!(
            list["prompts"][0]["arguments"],
            json!([{"name": "to", "description": "Whom (required)", "required": true}])
        );
        let text = |prompt: &Value| {
            prompt["messages"][0]["content"]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let review = client.request("prompts/get", json!({"name": "review"}));
        assert_eq!(review["description"], "Reviews code");
        assert_eq!(text(&review), "# Review\n\nRead the diff.");
        let report = client.request(
            "prompts/get",
            json!({"name": "report", "arguments": {"day": "Monday"}}),
        );
        assert!(
            text(&report).contains(r#"`{"skill":"report","inputs":{"day":"Monday"}}`"#),
            "{report:#}"
        );
        for params in [json!({"name": "nothing"}), json!({"name": "report"})] {
            let error = client.refused("prompts/get", params);
            assert_eq!(error["code"], -32602, "{error:#}");
        }
    }
}

#[test]
fn skills_are_resources() {
    let world = world();
    for (mut client, unknown) in McpClient::both(&world).into_iter().zip([-32002, -32602]) {
        let list = client.request("resources/list", json!({}));
        let uris: Vec<&str> = list["resources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|resource| resource["uri"].as_str().unwrap())
            .collect();
        assert_eq!(
            uris,
            [
                "deft://skills/email.send",
                "deft://skills/report",
                "skill://review/SKILL.md"
            ]
        );
        let page = client.request("resources/read", json!({"uri": "deft://skills/email.send"}));
        assert!(
            page["contents"][0]["text"]
                .as_str()
                .unwrap()
                .contains("Whom"),
            "{page:#}"
        );
        for uri in [
            "skill://review/nothing",
            "skill://review/../report.yaml",
            "skill://nothing/SKILL.md",
            "deft://skills/x",
            "file:///etc/passwd",
        ] {
            let error = client.refused("resources/read", json!({ "uri": uri }));
            assert_eq!(error["code"], unknown, "{uri}: {error:#}");
        }
    }
}

#[test]
fn skills_are_folders_of_files_with_digests() {
    let world = world();
    for mut client in McpClient::both(&world) {
        let list = client.request("skills/list", json!({}));
        assert_eq!(list["resultType"], "complete");
        assert!(
            list["ttlMs"].is_u64() && list["cacheScope"] == "private",
            "{list:#}"
        );
        let entry = json!({
            "uri": "skill://review/SKILL.md",
            "frontmatter": {"name": "review", "description": "Reviews code", "license": "MIT", "metadata": {"level": 3}},
            "resources": [
                {"uri": "skill://review/SKILL.md", "digest": sha256(&world, "home/skills/review/SKILL.md"), "size": REVIEW.len()},
                {"uri": "skill://review/logo.bin", "digest": sha256(&world, "home/skills/review/logo.bin"), "size": 3},
                {"uri": "skill://review/references/%C3%9Cber%20uns.md", "digest": sha256(&world, "home/skills/review/references/Über uns.md"), "size": 5},
            ],
        });
        assert_eq!(list["skills"], json!([entry]));
        let one = client.request("skills/get", json!({"uri": "skill://review/SKILL.md"}));
        assert_eq!(one["skill"], entry);
        let file = client.request(
            "resources/read",
            json!({"uri": "skill://review/references/%C3%9Cber%20uns.md"}),
        );
        assert_eq!(file["contents"][0]["text"], "# Us\n");
        let binary = client.request("resources/read", json!({"uri": "skill://review/logo.bin"}));
        assert_eq!(binary["contents"][0]["blob"], "AP8H", "{binary:#}");
        for params in [
            json!({"uri": "skill://nothing/SKILL.md"}),
            json!({"uri": "skill://review/logo.bin"}),
            json!({}),
        ] {
            let error = client.refused("skills/get", params);
            assert_eq!(error["code"], -32602, "{error:#}");
        }
        assert_eq!(
            client.refused("skills/list", json!({"cursor": "x"}))["code"],
            -32602
        );
        let folder = client.request("resources/directory/read", json!({"uri": "skill://review"}));
        assert_eq!(
            folder["resources"],
            json!([
                {"uri": "skill://review/SKILL.md", "name": "SKILL.md", "mimeType": "text/markdown"},
                {"uri": "skill://review/logo.bin", "name": "logo.bin"},
                {"uri": "skill://review/references", "name": "references", "mimeType": "inode/directory"},
            ])
        );
        let inner = client.request(
            "resources/directory/read",
            json!({"uri": "skill://review/references"}),
        );
        assert_eq!(inner["resources"][0]["name"], "Über uns.md");
        for uri in [
            "skill://review/logo.bin",
            "skill://nothing",
            "skill://review/..",
            "file:///etc",
        ] {
            let error = client.refused("resources/directory/read", json!({"uri": uri}));
            assert_eq!(error["code"], -32602, "{uri}: {error:#}");
        }
        assert_eq!(client.refused("skills/nothing", json!({}))["code"], -32601);
    }
}

#[test]
fn skills_beyond_the_limits_are_not_published() {
    let world = world();
    world.write(
        "home/skills/huge/SKILL.md",
        REVIEW.replace("review", "huge"),
    );
    for number in 0..512 {
        world.write(&format!("home/skills/huge/part{number}.txt"), "x");
    }
    world.write(
        "home/skills/heavy/SKILL.md",
        REVIEW.replace("review", "heavy"),
    );
    world.write("home/skills/heavy/data.bin", vec![0; 16 * 1024 * 1024]);
    let mut client = McpClient::modern(&world, &json!({}));
    let list = client.request("skills/list", json!({}));
    let uris: Vec<&Value> = list["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["uri"])
        .collect();
    assert_eq!(uris, [&json!("skill://review/SKILL.md")]);
}

#[test]
fn changes_of_skills_are_announced_to_sessions() {
    let world = world();
    let mut client = McpClient::legacy(&world, LEGACY, &json!({}));
    client.request("prompts/list", json!({}));
    // After this response the server has loaded the current skills.
    world.write(
        "home/skills/second/SKILL.md",
        REVIEW.replace("review", "second"),
    );
    for kind in ["tools", "prompts", "resources"] {
        client.notification(&format!("notifications/{kind}/list_changed"));
    }
    let list = client.request("skills/list", json!({}));
    assert_eq!(list["skills"].as_array().unwrap().len(), 2, "{list:#}");
}

#[test]
fn changes_of_skills_are_announced_to_listeners() {
    let world = world();
    let mut client = McpClient::modern(&world, &json!({}));
    let filter = json!({"toolsListChanged": true, "resourcesListChanged": true});
    let id = client.send("subscriptions/listen", json!({ "notifications": filter }));
    let accepted = client.notification("notifications/subscriptions/acknowledged");
    assert_eq!(accepted["params"]["notifications"], filter, "{accepted:#}");
    client.value(
        "memory_store_skill",
        json!({"name": "Tea", "instructions": "Make tea."}),
    );
    for kind in ["tools", "resources"] {
        let news = client.notification(&format!("notifications/{kind}/list_changed"));
        let subscription = &news["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(subscription, &json!(id), "{news:#}");
    }
    client.notify("notifications/cancelled", json!({ "requestId": id }));
    assert_eq!(client.close(), 0);
}

#[test]
fn the_suite_accepts_skills_of_a_daemon() {
    let world = world();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    for (scenario, checks) in [
        ("sep-2640-skills-enumeration", 32),
        ("sep-2640-skills-manifest", 6),
        ("sep-2640-skills-directory", 6),
    ] {
        let verdicts = judge(&world, &api, scenario);
        assert!(verdicts.len() >= checks, "{scenario}: {verdicts:#?}");
        for (id, (status, why)) in &verdicts {
            assert_eq!(status, "SUCCESS", "{scenario}, {id}: {why}");
        }
    }
    daemon.stop();
}
