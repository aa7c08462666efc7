//! Bells that wake the loops of a daemon as soon as there is work for them.

use deft_engine::{Attention, Engine, Fire};
use deft_model::{Cause, Outcome, RunStatus};
use deft_store::NoticeFilter;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::world::{World, fire};

/// Whether `work` rings the bell for messages.
async fn rings(engine: &Engine, work: BoxFuture<'_, ()>) -> bool {
    let bell = engine.base().bells().messages.notified();
    work.await;
    bell.now_or_never().is_some()
}

async fn notices(world: &World) -> usize {
    let notices = world.store.notices(NoticeFilter::default()).await;
    notices.unwrap().len()
}

#[tokio::test]
async fn a_detached_run_that_fails_rings_for_its_notice() {
    let fails = "name: fails\ndescription: d\nsteps:\n  - {id: one, tool: refuse}\n";
    let world = World::new(&[("fails.yaml", fails)]);
    let detached = Fire {
        cause: Cause::Detached,
        ..fire("fails", &json!({}))
    };
    let run = async {
        let admitted = world.engine.run(detached, Attention::default()).await;
        let outcome = admitted.unwrap().run().outcome;
        assert_eq!(outcome, Some(Outcome::Error));
    };
    assert!(rings(&world.engine, run.boxed()).await);
    assert_eq!(notices(&world).await, 1);
}

#[tokio::test]
async fn a_run_that_parks_with_a_question_rings_for_its_notice() {
    let asks = "name: asks\ndescription: d\nsteps:\n  - {id: danger, tool: act}\nconfirmations:\n  - {step: danger, message: Really?}\n";
    let world = World::new(&[("asks.yaml", asks)]);
    let parks = Attention {
        parks: true,
        ..Attention::default()
    };
    let run = async {
        let row = world.run_with("asks", json!({}), parks).await;
        assert_eq!(row.status, RunStatus::Waiting);
    };
    assert!(rings(&world.engine, run.boxed()).await);
    assert_eq!(notices(&world).await, 1);
}

#[tokio::test]
async fn a_run_without_a_notice_rings_for_none() {
    let works = "name: works\ndescription: d\nsteps:\n  - {id: one, tool: act}\n";
    let world = World::new(&[("works.yaml", works)]);
    let run = async {
        let row = world.run("works", json!({})).await;
        assert_eq!(row.outcome, Some(Outcome::Success));
    };
    assert!(!rings(&world.engine, run.boxed()).await);
    assert_eq!(notices(&world).await, 0);
}
