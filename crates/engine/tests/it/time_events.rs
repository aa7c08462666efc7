//! Skills fired by events in deft (S0.83, X8).

use std::sync::Arc;

use deft_engine::Clock;
use deft_model::Cause;
use deft_scheduler::Scheduler;
use deft_store::{NewConversation, Store};
use deft_store_testkit::Memory;
use jiff::SignedDuration;

use crate::time_world::{Times, file};

const BACKFILL: (&str, &str) = (
    "backfill.yaml",
    "name: backfill\ndescription: d\ntrigger_config: {event: conversation_ended}\n\
     notify_on_completion: false\nsteps:\n  - {id: only, tool: act}\n",
);

impl Times {
    /// Adds a message to a conversation now.
    async fn say(&self, id: &str, channel: &str) {
        let chat = NewConversation {
            id: id.to_owned(),
            agent: "thinker".to_owned(),
            channel: channel.to_owned(),
            title: "hello".to_owned(),
            run: None,
            at: self.world.clock.now(),
        };
        self.world.store.open_conversation(chat).await.unwrap();
    }

    /// Advances the clock by `minutes`, and handles everything that is due. Returns the total number of runs.
    async fn after_minutes(&self, minutes: i64) -> usize {
        let now = self.world.clock.now() + SignedDuration::from_mins(minutes);
        self.world.clock.set(now);
        Scheduler::new(&self.world.engine)
            .fire_events(now)
            .await
            .unwrap();
        self.drain().await;
        self.world.called().len()
    }
}

fn stores(folder: &tempfile::TempDir) -> [Arc<dyn Store>; 2] {
    [Arc::new(Memory::new()), file(folder)]
}

#[tokio::test]
async fn the_end_of_a_conversation_runs_skills_once() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder) {
        let t = Times::with_store(store, &[BACKFILL]);
        t.world.engine.library().sync_files().await.unwrap();
        assert_eq!(t.after_minutes(0).await, 0, "nothing was ever said");
        t.say("conv_1", "cli").await;
        assert_eq!(t.after_minutes(14).await, 0, "an answer may come yet");
        t.say("conv_2", "telegram:1").await;
        assert_eq!(t.after_minutes(1).await, 1, "the first one has ended");
        assert_eq!(t.after_minutes(1).await, 1, "once is enough");
        assert_eq!(t.after_minutes(13).await, 2, "and so has the second one");
        assert_eq!(t.after_minutes(60).await, 2);
        let causes: Vec<Cause> = t
            .runs("backfill")
            .await
            .into_iter()
            .map(|run| run.cause)
            .collect();
        assert_eq!(causes, [Cause::Event, Cause::Event]);
        // The messages of a skill are not a conversation with a person.
        t.say("conv_3", "skill:backfill").await;
        assert_eq!(t.after_minutes(30).await, 2);
        // An archived conversation has ended.
        t.say("conv_4", "cli").await;
        let now = t.world.clock.now();
        t.world
            .store
            .archive_conversation("conv_4", Some(now))
            .await
            .unwrap();
        assert_eq!(t.after_minutes(1).await, 3);
    }
}

/// Every agent run opens a conversation of its own.
#[tokio::test]
async fn many_conversations_of_skills_do_not_hide_one_of_a_person() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(&folder) {
        let t = Times::with_store(store, &[BACKFILL]);
        t.world.engine.library().sync_files().await.unwrap();
        let agents_work = async |first: usize| {
            for nth in first..first + 150 {
                t.say(&format!("conv_{nth}"), "skill:monitor").await;
            }
        };
        agents_work(1000).await;
        assert_eq!(t.after_minutes(20).await, 0);
        t.say("conv_1", "cli").await;
        t.after_minutes(1).await;
        agents_work(2000).await;
        assert_eq!(t.after_minutes(20).await, 1);
        agents_work(3000).await;
        assert_eq!(t.after_minutes(20).await, 1);
        t.say("conv_2", "cli").await;
        assert_eq!(t.after_minutes(20).await, 2);
    }
}

#[tokio::test]
async fn a_disabled_skill_is_run_by_no_event() {
    let t = Times::with_store(Arc::new(Memory::new()), &[BACKFILL]);
    t.world.engine.library().sync_files().await.unwrap();
    t.world.engine.library().disable("backfill").await.unwrap();
    t.say("conv_1", "cli").await;
    assert_eq!(t.after_minutes(20).await, 0);
    // When the skill is enabled, it fires for conversations that ended earlier.
    t.world.engine.library().enable("backfill").await.unwrap();
    assert_eq!(t.after_minutes(1).await, 1);
}

/// A run fired by an event is as unattended as one of a slot: its failures are reported and back off.
#[tokio::test]
async fn failures_of_events_are_reported_and_back_off() {
    let failing = BACKFILL.1.replace("tool: act", "tool: refuse");
    let t = Times::with_store(Arc::new(Memory::new()), &[(BACKFILL.0, failing.as_str())]);
    t.world.engine.library().sync_files().await.unwrap();
    t.say("conv_1", "cli").await;
    assert_eq!(t.after_minutes(20).await, 1);
    assert_eq!(
        t.standing("backfill").await,
        "on, streak 1, backs off until 13:21"
    );
    assert_eq!(
        t.notices().await,
        ["failure: `backfill` failed: 401 unauthorized"]
    );
}
