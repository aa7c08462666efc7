//! The commits of a run without the engine: its stored batches are stored again under other ids.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deft_model::{Outcome, Overlap, RunId};
use deft_store::{
    Admission, AdmissionClaim, AdmissionResult, Batch, Finish, NewEvent, RunFilter, RunState,
    Store, StoredEvent,
};
use jiff::Timestamp;
use tokio::runtime::Runtime;

/// Number of events in the first batch, which is stored with the run, and in all others except the last.
const EACH: usize = 2;

/// Measures the commits of the newest run of a skill, one after another.
pub(crate) fn commits(
    runtime: &Runtime,
    store: &Arc<dyn Store>,
    skill: &str,
    rounds: usize,
) -> Vec<Duration> {
    runtime.block_on(async {
        let filter = RunFilter {
            skill: Some(skill.to_owned()),
            limit: Some(1),
            ..RunFilter::default()
        };
        let run = store.runs(filter).await.unwrap().remove(0);
        let events = store.events(Some(&run.id), 0, u32::MAX).await.unwrap();
        let mut times = Vec::with_capacity(rounds);
        for round in 0..rounds {
            let id = format!("run_again{}-{round}", Timestamp::now().as_nanosecond());
            let mut batches = batches(&events, run.outputs.clone());
            let first = batches.remove(0);
            let begun = Instant::now();
            let admission = Admission {
                run: RunId::new(id),
                skill: run.skill.clone(),
                revision: run.revision.clone(),
                tier: run.tier,
                agent_id: run.agent_id.clone(),
                cause: run.cause.clone(),
                slot: None,
                step: None,
                key: None,
                parent: None,
                inputs: run.inputs.clone(),
                at: Timestamp::now(),
                overlap: Overlap::Allow,
                skill_limit: None,
                claim: Some(AdmissionClaim {
                    owner: "bench".to_owned(),
                    until: Timestamp::MAX,
                    global_limit: None,
                    batch: first,
                }),
                aside: Vec::new(),
                writes: Vec::new(),
                closing: Vec::new(),
            };
            let AdmissionResult::New { lease, .. } = store.admit(admission).await.unwrap() else {
                panic!("the run is not new");
            };
            let lease = lease.unwrap();
            for batch in batches {
                store.append(&lease, batch).await.unwrap();
            }
            times.push(begun.elapsed());
        }
        times
    })
}

/// Returns the batches as the engine made them: each stores the end of a step and the start of the next, the
/// last one the end of the run.
fn batches(events: &[StoredEvent], outputs: Option<String>) -> Vec<Batch> {
    let new = |event: &StoredEvent| NewEvent {
        at: event.at,
        kind: event.kind.clone(),
        body: event.body.clone(),
    };
    let mut batches: Vec<Batch> = events
        .chunks(EACH)
        .map(|events| Batch {
            events: events.iter().map(new).collect(),
            ..Batch::default()
        })
        .collect();
    let last = batches.last_mut().unwrap();
    last.then = RunState::Finish(Finish {
        outcome: Outcome::Success,
        outputs,
        error: None,
        aftermath: None,
        at: Timestamp::now(),
    });
    batches
}
