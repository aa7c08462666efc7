//! `deft doctor` and `deft init`.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::daemon::{Daemon, used_home};
use crate::support::{WORKFLOW, World};

/// Runs `deft doctor` and returns the exit code and the status of each check. A check may occur more than
/// once.
fn checks(world: &World, args: &[&str]) -> (i32, Vec<(String, String)>) {
    let output = world.output(&[&["doctor", "--json"], args].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let checks = document["checks"].as_array().unwrap();
    for check in checks {
        let good = check["status"] == "ok";
        assert_eq!(
            check["hint"].is_null(),
            good,
            "a remedy for all that is not well: {check}"
        );
    }
    let mut known = Vec::new();
    for check in checks {
        let key = (check["id"].clone(), check["subject"].clone());
        assert!(!known.contains(&key), "once for each subject: {check}");
        known.push(key);
    }
    let bad = checks.iter().any(|check| check["status"] == "bad");
    assert_eq!(document["ok"], !bad);
    let checks = checks
        .iter()
        .map(|check| (text(&check["id"]), text(&check["status"])));
    (output.status.code().unwrap(), checks.collect())
}

fn expected(checks: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(id, status): &(&str, &str)| ((*id).to_owned(), (*status).to_owned());
    checks.iter().map(own).collect()
}

/// `deft doctor` reports a missing home and does not create it.
#[test]
fn a_missing_home_is_reported_and_not_created() {
    let world = World::new();
    let (code, found) = checks(&world, &[]);
    assert_eq!(code, 1);
    assert_eq!(
        found,
        expected(&[
            ("home.exists", "bad"),
            ("config.valid", "ok"),
            ("skills.valid", "ok"),
            ("notify.channel", "note"),
            ("models.ready", "note"),
            ("daemon.up", "note"),
            ("store.open", "note"),
            ("compute.works", "ok"),
        ])
    );
    assert!(!world.path("home").exists());
    let (code, found) = checks(&world, &["--fix"]);
    assert_eq!((code, found[0].1.as_str()), (0, "ok"));
    let mode = world.path("home").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn init_creates_a_healthy_home() {
    let world = World::new();
    let made = world.json(&["init", "--json"]);
    assert_eq!(
        (&made["config_written"], &made["skills_written"]),
        (&json!(true), &json!(26))
    );
    let again = world.json(&["init", "--yes", "--json"]);
    assert_eq!(
        (&again["config_written"], &again["skills_written"]),
        (&json!(false), &json!(0))
    );
    assert_eq!(world.code(&["config", "validate"]), 0);
    let (code, found) = checks(&world, &[]);
    assert_eq!(code, 0, "{found:?}");
    // The first start sends no greeting, and the default skills wait for their tools.
    let daemon = Daemon::start(&world);
    let (_, found) = checks(&world, &[]);
    let status = |id: &str| {
        found
            .iter()
            .find(|check| check.0 == id)
            .map(|check| check.1.as_str())
    };
    assert_eq!(status("daemon.up"), Some("ok"));
    assert_eq!(status("store.open"), Some("ok"));
    assert_eq!(status("skills.waiting"), Some("note"));
    let output = daemon.stop();
    assert!(!output.contains("this home is new"), "{output}");
}

#[test]
fn every_problem_has_a_hint() {
    let world = used_home();
    world
        .write(
            "home/skills/torn.yaml",
            "name: torn\ndescription: d\nsteps: []\n",
        )
        .write("home/skills/report.yaml", WORKFLOW)
        .write(
            "home/config.toml",
            "[notify]\nchannel = \"webhook\"\n\n[llm.a]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"env:NO_SUCH_KEY\"\n\n[llm.b]\nmodel = \"m\"\n\n[mcp_servers.gone]\ncommand = \"/nowhere/at-all\"\n[mcp_servers.lost]\ncommand = \"/nowhere/either\"\n",
        );
    std::fs::set_permissions(world.path("home"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, found) = checks(&world, &[]);
    assert_eq!(code, 1);
    for id in [
        "home.private",
        "skills.valid",
        "notify.channel",
        "models.ready",
        "models.chosen",
        "servers.answer",
    ] {
        let check = found.iter().find(|check| check.0 == id).unwrap();
        assert_eq!(check.1, "bad", "{id}");
    }
    let (_, found) = checks(&world, &["--fix"]);
    assert!(
        found.contains(&("home.private".to_owned(), "ok".to_owned())),
        "{found:?}"
    );
    let text = world.run(&["doctor"]);
    assert!(text.starts_with("exit 1\n"), "{text}");
    assert!(
        text.contains("hint: `deft skills doctor` lists them with the reasons"),
        "{text}"
    );
    assert!(text.contains("7 problems to fix"), "{text}");
    world.write("home/config.toml", "[notfy]\n");
    let (code, found) = checks(&world, &[]);
    assert_eq!(
        (code, found.last().unwrap().clone()),
        (1, ("config.valid".to_owned(), "bad".to_owned()))
    );
}

#[test]
fn an_unreachable_local_model_is_reported() {
    let world = used_home();
    let local =
        "[llm.near]\nprovider = \"ollama\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9\"\n";
    world.write("home/config.toml", local);
    let (code, found) = checks(&world, &[]);
    assert_eq!(code, 1);
    let of = |id: &str| {
        found
            .iter()
            .find(|check| check.0 == id)
            .map(|it| it.1.clone())
    };
    let expected = [Some("ok".to_owned()), Some("bad".to_owned())];
    assert_eq!([of("models.ready"), of("models.answer")], expected);
}

/// The configuration of a new home is readable only by its owner. Otherwise doctor reports and fixes it.
#[test]
fn a_readable_configuration_is_reported_and_fixed() {
    let world = World::new();
    assert_eq!(world.code(&["init"]), 0);
    let config = world.path("home/config.toml");
    let mode = || config.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    let private = |args: &[&str]| {
        let found = checks(&world, args).1;
        let found = found.into_iter().find(|check| check.0 == "config.private");
        found.map(|check| check.1)
    };
    assert_eq!(private(&[]), None);
    std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(private(&[]).as_deref(), Some("note"));
    assert_eq!(private(&["--fix"]).as_deref(), Some("ok"));
    assert_eq!(mode(), 0o600);
}

/// A money limit has no effect while the price of a model is unknown, and doctor reports this.
#[test]
fn a_money_budget_without_prices_is_reported() {
    let model =
        "[llm.near]\nprovider = \"ollama\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9\"\n";
    let limit = "[budget]\nusd_per_day = 0.5\n";
    let skill = "name: thinks\ndescription: d\nbudget: {cost_usd: 1}\nsteps:\n  - id: a\n    agent: Think.\n";
    for (skill, config, bad) in [
        (None, format!("{model}{limit}"), true),
        (Some(skill), model.to_owned(), true),
        (None, format!("{model}price_input = 0\n{limit}"), false),
        (None, model.to_owned(), false),
    ] {
        let world = used_home();
        world.write("home/config.toml", &config);
        if let Some(skill) = skill {
            world.write("home/skills/thinks.yaml", skill);
        }
        let (_, found) = checks(&world, &[]);
        let told = ("budget.priced".to_owned(), "bad".to_owned());
        assert_eq!(found.contains(&told), bad, "{config}\n{found:?}");
    }
    let world = used_home();
    world.write("home/config.toml", model);
    let output = world.run(&["budget", "set", "--usd-per-day", "0.5"]);
    assert!(
        output.contains("calls of models without a price count as free: `near`"),
        "{output}"
    );
}

/// After a tick with a future time skills wait for that time, and doctor reports this.
#[test]
fn skills_with_a_distant_slot_are_reported() {
    let world = World::new();
    let hourly = WORKFLOW.replace("0 8 * * 1-5", "0 * * * *");
    world.write("home/skills/report.yaml", hourly);
    assert_eq!(world.code(&["tick"]), 0);
    let clock = |world: &World| {
        let (_, found) = checks(world, &[]);
        let found = found.into_iter().find(|check| check.0 == "clock.agrees");
        found.map(|check| check.1)
    };
    assert_eq!(clock(&world), None);
    world.run(&["tick", "--now", "2090-01-01T00:00:00Z"]);
    assert_eq!(clock(&world).as_deref(), Some("bad"));
    assert_eq!(world.code(&["skills", "disable", "report"]), 0);
    assert_eq!(world.code(&["skills", "enable", "report"]), 0);
    assert_eq!(clock(&world), None);
}

/// The document lists exactly the ids of doctor's checks.
#[test]
fn the_ids_are_documented() {
    let source = concat!(
        include_str!("../../../service/src/doctor/skills.rs"),
        include_str!("../../../service/src/doctor/home.rs"),
        include_str!("../../../service/src/doctor/hooks.rs"),
        include_str!("../../../service/src/doctor/mod.rs"),
        include_str!("../../../service/src/doctor/models.rs"),
        include_str!("../../../service/src/doctor/server.rs"),
        include_str!("../../../service/src/doctor/store.rs"),
        include_str!("../../../service/src/doctor/telemetry.rs"),
        include_str!("../../../service/src/doctor/tools.rs"),
    );
    let mut ids: Vec<&str> = source
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|text| {
            let parts: Vec<&str> = text.split('.').collect();
            let word =
                |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase());
            parts.len() == 2 && parts.iter().all(word)
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let document = include_str!("../../../../docs/daemon.md");
    let table = document
        .split("\n## ")
        .find(|part| part.starts_with("deft doctor"))
        .unwrap();
    let mut told: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    told.sort_unstable();
    assert_eq!(told, ids);
}
