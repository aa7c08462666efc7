//! Servers of models that fail and recover (S0.68).

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deft_engine::{Channel, Clock, Delivery, DeliveryResult, Notice};
use deft_llm::Models;
use deft_scheduler::{Pool, Scheduler};
use deft_store::{NewConversation, NoticeFilter, Store};
use deft_store_testkit::Memory;
use deft_testkit::{Dialect, ModelServer};
use jiff::SignedDuration;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::agent_case::model;
use crate::time_world::new_record;
use crate::world::{Folder, World, load};

const GREETS: (&str, &str) = (
    "greets/SKILL.md",
    "---\nname: greets\ndescription: d\n---\nSay hello.\n",
);

/// Returns a process with this model; several of them may share a store.
fn world(store: &Arc<dyn Store>, server: &ModelServer, skills: &[(&str, &str)]) -> World {
    let home = tempfile::tempdir().unwrap();
    let folder = Folder(Arc::new(Mutex::new(load(&home, skills))));
    let models = Models::new(vec![model("local", &server.url)]);
    let parts = (deft_tools::Options::default(), models);
    World::from_parts(home, folder, Arc::clone(store), parts, |_| {})
}

fn memory() -> Arc<dyn Store> {
    Arc::new(Memory::new())
}

/// Returns the titles of all notices, oldest first.
async fn notice_titles(world: &World) -> Vec<String> {
    let rows = world.store.notices(NoticeFilter::default()).await.unwrap();
    let notices = rows.iter().rev().map(|row| {
        let notice: Notice = serde_json::from_str(&row.body).unwrap();
        format!("{}: {}", notice.kind.word(), notice.title)
    });
    notices.collect()
}

/// S0.68.
#[tokio::test]
async fn an_outage_and_a_recovery_are_reported_once_despite_a_restart() {
    let (store, server) = (memory(), ModelServer::start(Dialect::OpenAi, []));
    let world_1 = world(&store, &server, &[GREETS]);
    let lost = "health: no answer from model `local`";
    let back = "health: model `local`: answering again";
    let check = async |world: &World, expected: &[&str]| {
        Scheduler::new(&world.engine).check_models().await.unwrap();
        let later = world.clock.now() + SignedDuration::from_mins(1);
        world.clock.set(later);
        assert_eq!(notice_titles(world).await, expected);
    };
    check(&world_1, &[]).await;
    server.set_down(true);
    check(&world_1, &[]).await;
    check(&world_1, &[lost]).await;
    check(&world_1, &[lost]).await;
    let world_2 = world(&store, &server, &[GREETS]);
    world_2.clock.set(world_1.clock.now());
    check(&world_2, &[lost]).await;
    check(&world_2, &[lost]).await;
    server.set_down(false);
    check(&world_2, &[lost, back]).await;
    check(&world_2, &[lost, back]).await;
    server.set_down(true);
    check(&world_2, &[lost, back]).await;
    check(&world_2, &[lost, back, lost]).await;
}

#[tokio::test]
async fn a_restarted_server_is_not_reported_as_lost() {
    let (store, server) = (memory(), ModelServer::start(Dialect::OpenAi, []));
    let world = world(&store, &server, &[GREETS]);
    for _ in 0..3 {
        for down in [true, false] {
            server.set_down(down);
            Scheduler::new(&world.engine).check_models().await.unwrap();
            let later = world.clock.now() + SignedDuration::from_mins(1);
            world.clock.set(later);
        }
    }
    assert_eq!(server.http_requests().len(), 6);
    assert!(notice_titles(&world).await.is_empty());
}

#[tokio::test]
async fn an_unused_model_is_not_pinged() {
    let (store, server) = (memory(), ModelServer::start(Dialect::OpenAi, []));
    let steps = "name: steps\ndescription: d\nsteps:\n  - {id: a, tool: echo}\n";
    let world = world(&store, &server, &[("steps.yaml", steps)]);
    Scheduler::new(&world.engine).check_models().await.unwrap();
    assert_eq!(server.http_requests().len(), 0);
    let chat = NewConversation {
        id: "conv_1".to_owned(),
        agent: "thinker".to_owned(),
        channel: "cli".to_owned(),
        title: "hello".to_owned(),
        run: None,
        at: world.clock.now(),
    };
    store.open_conversation(chat).await.unwrap();
    Scheduler::new(&world.engine).check_models().await.unwrap();
    assert_eq!(server.http_requests().len(), 1, "a chat is open");
    world
        .clock
        .set(world.clock.now() + SignedDuration::from_hours(2));
    Scheduler::new(&world.engine).check_models().await.unwrap();
    assert_eq!(
        server.http_requests().len(),
        1,
        "nobody says anything any more"
    );
}

/// A channel that takes every message and drops it.
pub(crate) struct Deaf;

impl Channel for Deaf {
    fn deliver<'a>(
        &'a self,
        _: &'a Delivery<'a>,
    ) -> Pin<Box<dyn Future<Output = DeliveryResult> + Send + 'a>> {
        Box::pin(async { Ok("heard".to_owned()) })
    }
}

#[tokio::test]
async fn a_daemon_pings_once_a_minute() {
    let (store, server) = (memory(), ModelServer::start(Dialect::OpenAi, []));
    let world = world(&store, &server, &[GREETS]);
    let (engine, stop) = (world.engine.clone(), CancellationToken::new());
    let until = stop.clone();
    let serving = tokio::spawn(async move {
        let pool = Pool::new(1);
        let grace = Duration::from_secs(1);
        Scheduler::new(&engine)
            .serve(&pool, Arc::new(Deaf), until, grace)
            .await
            .unwrap();
    });
    let asked = async |count: usize| {
        while server.http_requests().len() < count {
            tokio::task::yield_now().await;
        }
        assert_eq!(server.http_requests().len(), count);
    };
    asked(1).await;
    for minute in 0..3 {
        world
            .clock
            .set(world.clock.now() + SignedDuration::from_secs(59));
        // The absence of a request cannot be awaited; a few turns are enough to see one.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        asked(minute + 1).await;
        world
            .clock
            .set(world.clock.now() + SignedDuration::from_secs(1));
        asked(minute + 2).await;
    }
    stop.cancel();
    serving.await.unwrap();
}

/// S0.68: a record that a model runs needs its server as much as a file does.
#[tokio::test]
async fn a_model_needed_by_a_record_is_pinged() {
    let (store, server) = (memory(), ModelServer::start(Dialect::OpenAi, []));
    let world = world(&store, &server, &[]);
    Scheduler::new(&world.engine).check_models().await.unwrap();
    assert_eq!(server.http_requests().len(), 0, "nothing needs a model");
    let thinks = json!({
        "name": "Thinks",
        "trigger_type": "cron",
        "trigger_config": {"interval_minutes": 30},
        "instructions": "Think.",
    });
    let thinks = new_record(&thinks, world.clock.now());
    store.put_skills(vec![thinks]).await.unwrap();
    Scheduler::new(&world.engine).check_models().await.unwrap();
    assert_eq!(server.http_requests().len(), 1);
    // Within a minute no other process pings again.
    let beside = self::world(&store, &server, &[]);
    beside.clock.set(world.clock.now());
    Scheduler::new(&beside.engine).check_models().await.unwrap();
    assert_eq!(server.http_requests().len(), 1);
    // A disabled skill needs no server.
    world.engine.library().disable("thinks").await.unwrap();
    let later = world.clock.now() + SignedDuration::from_mins(5);
    world.clock.set(later);
    Scheduler::new(&world.engine).check_models().await.unwrap();
    assert_eq!(server.http_requests().len(), 1);
}

/// One incident, one message: models behind one address are one server.
#[tokio::test]
async fn models_of_one_server_are_one_alert() {
    let (store, server) = (memory(), ModelServer::start(Dialect::OpenAi, []));
    let world = world(&store, &server, &[GREETS]);
    let models = ["small", "large"].map(|name| model(name, &server.url));
    world
        .engine
        .agents()
        .set_models(Models::new(models.to_vec()));
    server.set_down(true);
    for _ in 0..4 {
        Scheduler::new(&world.engine).check_models().await.unwrap();
        let later = world.clock.now() + SignedDuration::from_mins(1);
        world.clock.set(later);
    }
    assert_eq!(
        notice_titles(&world).await,
        ["health: no answer from models `small` and `large`"]
    );
    server.set_down(false);
    Scheduler::new(&world.engine).check_models().await.unwrap();
    let rows = store.notices(NoticeFilter::default()).await.unwrap();
    let newest: Notice = serde_json::from_str(&rows[0].body).unwrap();
    assert_eq!(
        newest.text,
        "models `small` and `large`: answering again, after no answer since today at 13:01"
    );
}
