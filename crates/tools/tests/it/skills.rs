//! Skills that servers offer: listed, opened, verified.

use deft_model::FailureClass;
use deft_testkit::{RemoteSkills, Script, skill_md};
use deft_tools::{RemoteSkill, Router};
use serde_json::json;

use crate::support::{World, call, until, value};

const FORMS: &str = "Fields and their names.\n";
const URI: &str = "skill://pdf/SKILL.md";
const FORMS_URI: &str = "skill://pdf/references/FORMS.md";

/// One skill with two files.
fn skills(world: &World, server: &str) -> RemoteSkills {
    let (text, frontmatter) = skill_md("pdf", "Fills forms", "Read references/FORMS.md.");
    let files = [("SKILL.md", text.as_str()), ("references/FORMS.md", FORMS)];
    RemoteSkills::new(world.path(), server).skill("pdf", frontmatter, &files)
}

fn script(skills: &RemoteSkills) -> Script {
    skills.write();
    Script::new()
        .with("skills", skills.path())
        .tool("touch", json!({"announce": "resources", "text": "ok"}))
}

fn world(change: impl FnOnce(RemoteSkills) -> RemoteSkills) -> (World, RemoteSkills) {
    let mut world = World::new();
    let skills = change(skills(&world, "docs"));
    world.add("docs", &script(&skills));
    (world, skills)
}

/// Returns the requests about skills that a server received, in order.
fn asked(world: &World, server: &str) -> Vec<String> {
    let events = world.witness(server).into_iter();
    let about = events.filter(|event| event.tool.contains('/'));
    about
        .map(|event| match event.arguments["uri"].as_str() {
            Some(uri) => format!("{} {uri}", event.tool),
            None => event.tool,
        })
        .collect()
}

async fn entry(router: &Router) -> RemoteSkill {
    let mut listing = router.skills("docs").await.unwrap();
    listing.skills.remove(0)
}

#[tokio::test]
async fn only_the_list_is_read_until_a_skill_is_opened_in_both_eras() {
    for era in ["legacy", "modern"] {
        let mut world = World::new();
        let skills = skills(&world, "docs").with("ttl_ms", json!(60_000));
        world.add("docs", &script(&skills).with("era", json!(era)));
        let router = world.router();
        assert!(router.list_servers().await.is_empty());
        assert_eq!(asked(&world, "docs"), ["skills/list"], "{era}");
        let skill = entry(&router).await;
        assert_eq!(skill.id(), "docs/pdf");
        assert_eq!(skill.description(), "Fills forms");
        // A fresh list is not requested again.
        assert_eq!(router.skill("docs/pdf").await.unwrap(), skill);
        assert_eq!(asked(&world, "docs"), ["skills/list"], "{era}");
        let text = router.read_skill_file(&skill, "SKILL.md").await.unwrap();
        assert!(String::from_utf8(text).unwrap().contains("Read references"));
        let forms = router.read_skill_file(&skill, "references/FORMS.md").await;
        assert_eq!(forms.unwrap(), FORMS.as_bytes());
        let reads = [
            format!("resources/read {URI}"),
            format!("resources/read {FORMS_URI}"),
        ];
        assert_eq!(asked(&world, "docs")[1..], reads, "{era}");
        router.shutdown().await;
    }
}

#[tokio::test]
async fn the_list_comes_in_pages_and_is_stored_with_the_tools() {
    let (world, _) = world(|mut skills| {
        for name in ["alpha", "beta", "gamma"] {
            let (text, frontmatter) = skill_md(name, "A skill", "Text.");
            skills = skills.skill(&format!("team/{name}"), frontmatter, &[("SKILL.md", &text)]);
        }
        skills.with("page", json!(2))
    });
    let router = world.router();
    router.list_servers().await;
    let ids = |router: &Router| -> Vec<String> {
        let all = router.known_skills().into_iter();
        all.flat_map(|(_, listing)| listing.skills)
            .map(|skill| skill.id())
            .collect()
    };
    let all = [
        "docs/pdf",
        "docs/team/alpha",
        "docs/team/beta",
        "docs/team/gamma",
    ];
    assert_eq!(ids(&router), all);
    assert_eq!(asked(&world, "docs").len(), 2);
    router.shutdown().await;
    let stored = world.catalogs.lock().unwrap().last().unwrap().clone();
    let text = serde_json::to_string(&stored).unwrap();
    let again = world.router();
    again.restore([serde_json::from_str(&text).unwrap()]);
    assert_eq!(ids(&again), all);
}

#[tokio::test]
async fn an_old_list_is_read_again() {
    let (world, skills) = world(|skills| skills.with("ttl_ms", json!(0)));
    let router = world.router();
    let before = entry(&router).await;
    let (text, frontmatter) = skill_md("pdf", "Fills forms", "Something else.");
    let changed = skills.skill("pdf", frontmatter, &[("SKILL.md", &text)]);
    changed.write();
    let after = router.skill("docs/pdf").await.unwrap();
    assert_ne!(before.fingerprint(), after.fingerprint());
    let last = asked(&world, "docs").pop().unwrap();
    assert_eq!(last, format!("skills/get {URI}"));
    // An old entry does not match the new content.
    let failure = router.read_skill_file(&before, "SKILL.md").await;
    assert!(
        failure
            .unwrap_err()
            .message
            .contains("differs from its listing")
    );
    assert!(router.read_skill_file(&after, "SKILL.md").await.is_ok());
}

#[tokio::test]
async fn content_that_differs_from_its_listing_is_refused() {
    let (text, _) = skill_md("pdf", "Fills forms", "Read references/FORMS.md.");
    let other = skill_md("pdf", "Sends forms out", "Read references/FORMS.md.").0;
    let blob = json!({"uri": URI, "blob": "not base64!"});
    let elsewhere = json!({"uri": FORMS_URI, "text": text});
    for (sent, reason) in [
        (json!(text.replace("Read", "Evil")), "digest"),
        (json!(format!("{text}more")), "bytes"),
        (json!(other), "bytes"),
        (blob, "no readable content"),
        (elsewhere, "another URI"),
    ] {
        let (world, _) = world(|skills| skills.sends(URI, sent.clone()));
        let router = world.router();
        let skill = entry(&router).await;
        let failure = router.read_skill_file(&skill, "SKILL.md").await;
        let failure = failure.unwrap_err();
        assert_eq!(failure.class, FailureClass::Invalid);
        assert!(failure.message.contains(reason), "{sent}: {failure}");
        router.shutdown().await;
    }
}

#[tokio::test]
async fn a_frontmatter_that_differs_from_its_listing_is_refused() {
    let (world, _) = world(|skills| {
        skills.lists(0, |entry| {
            entry["frontmatter"]["description"] = json!("Harmless");
        })
    });
    let router = world.router();
    let skill = entry(&router).await;
    let failure = router
        .read_skill_file(&skill, "SKILL.md")
        .await
        .unwrap_err();
    assert!(failure.message.contains("`description`"), "{failure}");
}

#[tokio::test]
async fn an_unlisted_file_is_not_requested() {
    let (world, _) = world(|skills| skills.sends("skill://pdf/extra.md", json!("Surprise")));
    let router = world.router();
    let skill = entry(&router).await;
    for path in ["extra.md", "../pdf/SKILL.md", "", URI] {
        let failure = router.read_skill_file(&skill, path).await.unwrap_err();
        assert!(failure.message.contains("no file"), "{path}: {failure}");
    }
    assert!(
        !asked(&world, "docs")
            .iter()
            .any(|it| it.starts_with("resources/read"))
    );
}

#[tokio::test]
async fn a_skill_is_read_on_its_own_server_only() {
    let mut world = World::new();
    let (one, other) = (skills(&world, "docs"), skills(&world, "other"));
    world.add("docs", &script(&one));
    world.add("other", &script(&other));
    let router = world.router();
    router.list_servers().await;
    let skill = entry(&router).await;
    router.read_skill_file(&skill, "SKILL.md").await.unwrap();
    assert_eq!(asked(&world, "other"), ["skills/list"]);
    // The same URI on another server is a different skill.
    let namesake = router.skills("other").await.unwrap().skills.remove(0);
    assert_eq!(namesake.uri, skill.uri);
    assert_ne!(namesake.id(), skill.id());
    assert_ne!(namesake.fingerprint(), skill.fingerprint());
    let failure = router.skill("nowhere/pdf").await.unwrap_err();
    assert_eq!(failure.class, FailureClass::NotFound);
}

#[tokio::test]
async fn an_unlisted_skill_can_be_opened_by_its_address() {
    let (text, frontmatter) = skill_md("hidden", "Not in the list", "Text.");
    let (world, _) =
        world(|skills| skills.unlisted_skill("deep/hidden", frontmatter, &[("SKILL.md", &text)]));
    let router = world.router();
    let skill = router.skill("docs/deep/hidden").await.unwrap();
    assert_eq!(skill.uri, "skill://deep/hidden/SKILL.md");
    assert!(router.read_skill_file(&skill, "SKILL.md").await.is_ok());
    let failure = router.skill("docs/missing").await.unwrap_err();
    assert_eq!(failure.class, FailureClass::NotFound, "{failure}");
}

#[tokio::test]
async fn a_skill_without_digests_has_only_its_main_file() {
    let (world, _) = world(|skills| skills.lists(0, |entry| entry["resources"] = json!("dynamic")));
    let router = world.router();
    let skill = entry(&router).await;
    assert_eq!(skill.fingerprint(), None);
    assert!(router.read_skill_file(&skill, "SKILL.md").await.is_ok());
    assert!(
        router
            .read_skill_file(&skill, "references/FORMS.md")
            .await
            .is_err()
    );
}

#[tokio::test]
async fn changed_lists_and_lists_of_restarted_servers_are_read_again() {
    for era in ["legacy", "modern"] {
        let mut world = World::new();
        let skills = skills(&world, "docs").with("ttl_ms", json!(3_600_000));
        let script = script(&skills)
            .with("era", json!(era))
            .tool("die", json!({"die": "before"}));
        world.add("docs", &script);
        let router = world.router();
        let before = entry(&router).await;
        let change = |body: &str| {
            let (text, frontmatter) = skill_md("pdf", "Fills forms", body);
            skills
                .clone()
                .skill("pdf", frontmatter, &[("SKILL.md", &text)])
                .write();
        };
        let known = || {
            let all = router.known_skills();
            all.first()
                .and_then(|(_, listing)| listing.skills.first()?.fingerprint())
        };
        change("Announced.");
        value(&router, "docs.touch", json!({})).await;
        until("the change is noticed", || known() != before.fingerprint()).await;
        let announced = known();
        change("After a restart.");
        call(&router, "docs.die", json!({})).await.unwrap_err();
        value(&router, "docs.touch", json!({})).await;
        assert_ne!(known(), announced, "{era}");
        router.shutdown().await;
    }
}

#[tokio::test]
async fn a_reply_with_metadata_is_a_list_and_bad_entries_are_named() {
    let (world, _) = world(|skills| {
        let (text, frontmatter) = skill_md("odd", "Its folder has another name", "Text.");
        let meta = json!({"io.modelcontextprotocol/serverInfo": {"name": "docs", "version": "1"}});
        skills
            .with("meta", meta)
            .skill("even", frontmatter, &[("SKILL.md", &text)])
    });
    let router = world.router();
    let listing = router.skills("docs").await.unwrap();
    assert_eq!(listing.skills.len(), 1);
    assert_eq!(listing.refused.len(), 1);
    assert!(listing.refused[0].reason.contains("folder"), "{listing:?}");
    let skill = &listing.skills[0];
    assert!(router.read_skill_file(skill, "SKILL.md").await.is_ok());
    assert_eq!(router.skill("docs/pdf").await.unwrap(), *skill);
}

#[tokio::test]
async fn an_id_followed_by_a_path_refers_to_a_file() {
    let (text, frontmatter) = skill_md("inner", "A skill inside another", "Text.");
    let (world, _) = world(|skills| skills.skill("pdf/inner", frontmatter, &[("SKILL.md", &text)]));
    let router = world.router();
    router.list_servers().await;
    for (id, skill, path) in [
        ("docs/pdf", "docs/pdf", "SKILL.md"),
        (
            "docs/pdf/references/FORMS.md",
            "docs/pdf",
            "references/FORMS.md",
        ),
        ("docs/pdf/inner", "docs/pdf/inner", "SKILL.md"),
        ("docs/pdf/inner/a/b", "docs/pdf/inner", "a/b"),
        ("docs/none", "docs/none", "SKILL.md"),
    ] {
        let split = router.split_skill_file(id);
        assert_eq!(split, (skill.to_owned(), path.to_owned()), "{id}");
    }
}
