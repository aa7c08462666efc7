//! Skills of MCP servers over the API.

use deft_testkit::{RemoteSkills, Script, skill_md};
use serde_json::{Value, json};

use super::client::Api;
use crate::daemon::{Daemon, used_home, wait_for};
use crate::support::server;

#[test]
fn skills_of_servers_are_read_approved_and_revoked() {
    let world = used_home();
    world.write("server/x", "");
    let (text, frontmatter) = skill_md("pdf", "Fills forms", "Fill the form.");
    let skills = RemoteSkills::new(&world.path("server"), "demo");
    let skills = skills.skill("pdf", frontmatter, &[("SKILL.md", &text)]);
    skills.write();
    let script = Script::new().with("skills", skills.path());
    world.write("home/config.toml", server(&world, &script));
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);

    let body = json!({"skill": "demo/pdf"});
    let read = api.post("/api/v1/remote-skills/read", &body).json();
    assert_eq!(read["text"], text, "{read:#}");
    assert_eq!(read["skill"]["approval"], "needed", "{read:#}");
    let unknown = api.post("/api/v1/remote-skills/read", &json!({"skill": "demo/none"}));
    assert_eq!(unknown.json()["code"], "unknown_skill");
    let server = api.post("/api/v1/remote-skills/read", &json!({"skill": "none/pdf"}));
    assert_eq!(server.json()["code"], "no_such_server");

    let wrong = json!({"skill": "demo/pdf", "revision": "0"});
    let wrong = api.post("/api/v1/remote-skills/approve", &wrong);
    assert_eq!(wrong.json()["code"], "skill_changed");
    let seen = json!({"skill": "demo/pdf", "revision": read["skill"]["revision"]});
    let approved = api.post("/api/v1/remote-skills/approve", &seen).json();
    assert_eq!(approved["skill"]["approval"], "approved", "{approved:#}");
    let by = approved["skill"]["approved_by"].as_str().unwrap();
    assert!(!by.is_empty(), "{approved:#}");
    let listed = || {
        let list = api.read("/api/v1/skills");
        let skill = list["remote"].as_array()?.first()?.clone();
        Some(skill).filter(|skill: &Value| skill["approval"] == "approved")
    };
    assert_eq!(
        wait_for("the daemon knows the skill", listed)["id"],
        "demo/pdf"
    );

    let revoked = api.post("/api/v1/remote-skills/revoke", &body).json();
    assert_eq!(revoked, json!({"revoked": "demo/pdf"}));
    let again = api.post("/api/v1/remote-skills/revoke", &body);
    assert_eq!(again.json()["code"], "not_approved");
    daemon.stop();
}
