//! The age of listings (S0.58): servers that announce no changes are listed again when they are used
//! after ten minutes, and at once when a person asks.

use std::sync::{Arc, Mutex};

use deft_testkit::Script;
use deft_tools::{Router, ToolLookup};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::support::{World, call, until, value};

/// A router's wall clock, advanced by hand.
#[derive(Clone)]
struct Hand(Arc<Mutex<Timestamp>>);

impl Hand {
    fn pass(&self, seconds: i64) {
        let mut now = self.0.lock().unwrap();
        *now += SignedDuration::from_secs(seconds);
    }
}

/// A server that may not announce its hidden tools when they appear, and the clock of its router.
fn silent(era: &str, announces: bool) -> (World, Hand) {
    let script = Script::new()
        .tool("unlock", json!({"reveal": ["secret"]}))
        .tool("unlock_more", json!({"reveal": ["further"]}))
        .tool("secret", json!({"hidden": true, "text": "found"}))
        .tool("further", json!({"hidden": true, "text": "found too"}))
        .with("era", json!(era))
        .with("announces", json!(announces));
    let mut world = World::with("demo", &script);
    let clock = Hand(Arc::new(Mutex::new(Timestamp::UNIX_EPOCH)));
    let now = clock.clone();
    world.environment.now = Arc::new(move || *now.0.lock().unwrap());
    (world, clock)
}

fn is_known(router: &Router, tool: &str) -> bool {
    matches!(router.find(tool), ToolLookup::Tool(_))
}

/// S0.58: an unknown name lists the tools again, at most every ten minutes.
#[tokio::test]
async fn a_silent_server_is_listed_again_for_an_unknown_name() {
    for era in ["legacy", "modern"] {
        let (world, clock) = silent(era, false);
        let router = world.router();
        assert_eq!(router.list_servers().await, []);
        value(&router, "unlock", json!({})).await;
        clock.pass(599);
        call(&router, "secret", json!({})).await.unwrap_err();
        assert!(matches!(router.find("secret"), ToolLookup::Missing { .. }));
        clock.pass(1);
        assert_eq!(
            router.find("secret"),
            ToolLookup::Unknown {
                servers: vec!["demo".to_owned()]
            }
        );
        assert_eq!(value(&router, "secret", json!({})).await, json!("found"));
        // The ten minutes start again.
        value(&router, "unlock_more", json!({})).await;
        clock.pass(599);
        assert_eq!(router.list_servers().await, []);
        router.refresh().await;
        assert!(!is_known(&router, "further"), "{era}");
        clock.pass(1);
        router.refresh().await;
        assert!(is_known(&router, "further"), "{era}");
    }
}

/// S0.58: a call of a known tool also lists the tools again, without waiting for the listing.
#[tokio::test]
async fn a_silent_server_is_listed_again_during_a_call() {
    let (world, clock) = silent("legacy", false);
    let router = world.router();
    value(&router, "unlock", json!({})).await;
    clock.pass(600);
    value(&router, "unlock", json!({})).await;
    until("the tool appears", || is_known(&router, "secret")).await;
}

/// S0.58: a server that does not respond is not asked over and over, and its tools are kept.
#[tokio::test]
async fn a_failed_listing_is_retried_after_ten_minutes() {
    let (mut world, clock) = silent("legacy", false);
    let options = world.options.servers.get_mut("demo").unwrap();
    options.startup_timeout = std::time::Duration::from_secs(20);
    let router = world.router();
    assert_eq!(router.list_servers().await, []);
    router.shutdown().await;
    clock.pass(600);
    let failed = router.list_servers().await;
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(is_known(&router, "unlock"));
    assert!(matches!(router.find("secret"), ToolLookup::Missing { .. }));
}

/// S0.58: a probe and a person's request list the tools at once.
#[tokio::test]
async fn a_person_can_refresh_tools_at_once() {
    let (world, _) = silent("legacy", false);
    let router = world.router();
    value(&router, "unlock", json!({})).await;
    assert!(!is_known(&router, "secret"));
    assert_eq!(router.relist().await, []);
    assert!(is_known(&router, "secret"));
    value(&router, "unlock_more", json!({})).await;
    let probe = router.probe("demo").await.unwrap();
    assert_eq!(probe.tools, ["unlock", "unlock_more", "secret", "further"]);
    assert!(is_known(&router, "further"));
}

/// A server that announces changes is not listed again because of its age.
#[tokio::test]
async fn a_server_that_announces_changes_is_not_listed_by_age() {
    for era in ["legacy", "modern"] {
        let (world, clock) = silent(era, true);
        let router = world.router();
        value(&router, "unlock", json!({})).await;
        until("the tool appears", || is_known(&router, "secret")).await;
        clock.pass(6000);
        assert!(
            matches!(router.find("nothing"), ToolLookup::Missing { .. }),
            "{era}"
        );
    }
}
