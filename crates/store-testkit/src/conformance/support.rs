//! Helpers for the rules.

use std::future::poll_fn;
use std::task::Poll;

use deft_model::{Cause, Outcome, Overlap, RunId, WaitKind};
use jiff::Timestamp;

use deft_store::WaitReason;
use deft_store::{
    Admission, AdmissionClaim, AdmissionResult, Answer, AppendResult, Batch, Claim, ClaimedRun,
    Decision, Error, Finish, Lease, NewApproval, NewEvent, RunRow, RunState, Store, Write,
};

/// Returns an instant `second` seconds after a fixed one.
pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

pub(super) fn id(run: &str) -> RunId {
    RunId::new(run)
}

/// Returns an admission of a run; the number in its id is the second of its request.
pub(super) fn admission(run: &str, skill: &str) -> Admission {
    let number = run.trim_start_matches(|c: char| !c.is_ascii_digit());
    Admission {
        run: id(run),
        skill: skill.to_owned(),
        revision: "sha256:1".to_owned(),
        tier: deft_model::Tier::Workflow,
        agent_id: "main".to_owned(),
        cause: Cause::Cli,
        slot: None,
        step: None,
        key: None,
        parent: None,
        inputs: r#"{"a":1}"#.to_owned(),
        at: at(number.parse().unwrap_or(0)),
        overlap: Overlap::Allow,
        skill_limit: None,
        claim: None,
        aside: Vec::new(),
        writes: Vec::new(),
        closing: Vec::new(),
    }
}

pub(super) fn overlapping_admission(run: &str, skill: &str, overlap: Overlap) -> Admission {
    Admission {
        overlap,
        ..admission(run, skill)
    }
}

pub(super) fn event(kind: &str) -> NewEvent {
    NewEvent {
        at: at(7),
        kind: kind.to_owned(),
        body: format!(r#"{{"of":"{kind}"}}"#),
    }
}

pub(super) fn events(kinds: &[&str]) -> Batch {
    Batch {
        events: kinds.iter().map(|kind| event(kind)).collect(),
        ..Batch::default()
    }
}

pub(super) fn park(wake_at: Option<Timestamp>) -> Batch {
    Batch {
        then: RunState::Park {
            wake_at,
            waiting_for: WaitReason {
                kind: WaitKind::Answer,
                text: "an answer".to_owned(),
            },
        },
        ..Batch::default()
    }
}

pub(super) fn success(second: i64) -> Batch {
    Batch {
        then: RunState::Finish(Finish {
            outcome: Outcome::Success,
            outputs: Some("2".to_owned()),
            error: None,
            aftermath: None,
            at: at(second),
        }),
        ..Batch::default()
    }
}

pub(super) fn question(approval: &str) -> NewApproval {
    NewApproval {
        id: approval.to_owned(),
        path: "steps[0]".to_owned(),
        message: "really?".to_owned(),
        options: r#"["approve","reject"]"#.to_owned(),
        operation: r#"{"tool":"t"}"#.to_owned(),
        at: at(8),
    }
}

/// Returns a batch that asks a question, and then parks or continues as `then` does.
pub(super) fn ask(approval: &str, then: Batch) -> Batch {
    Batch {
        writes: vec![Write::Ask(question(approval))],
        ..then
    }
}

pub(super) fn decision(by: &str, second: i64) -> Decision {
    Decision {
        answer: "approve".to_owned(),
        by: by.to_owned(),
        at: at(second),
    }
}

pub(super) fn first_claim(batch: Batch) -> AdmissionClaim {
    AdmissionClaim {
        owner: "me".to_owned(),
        until: at(1000),
        global_limit: None,
        batch,
    }
}

pub(super) fn claim_request(owner: &str, second: i64) -> Claim {
    Claim {
        owner: owner.to_owned(),
        now: at(second),
        until: at(second + 60),
        global_limit: None,
        only: None,
    }
}

/// Admits a run and asserts that it is new.
pub(super) async fn admit(store: &dyn Store, run: Admission) -> RunRow {
    match store.admit(run).await.unwrap() {
        AdmissionResult::New { run, .. } => run,
        AdmissionResult::Existing(run) => panic!("{} was there", run.id),
        AdmissionResult::Stale => panic!("its slot was handled before"),
    }
}

/// Admits a run and takes its lease.
pub(super) async fn start(store: &dyn Store, run: &str, skill: &str) -> Lease {
    let mut admission = admission(run, skill);
    admission.claim = Some(first_claim(Batch::default()));
    match store.admit(admission).await.unwrap() {
        AdmissionResult::New { lease, .. } => lease.unwrap(),
        AdmissionResult::Existing(run) => panic!("{} was there", run.id),
        AdmissionResult::Stale => panic!("its slot was handled before"),
    }
}

pub(super) async fn claim(store: &dyn Store, second: i64) -> Option<ClaimedRun> {
    store.claim(claim_request("me", second)).await.unwrap()
}

/// Claims the next due run and returns its id.
pub(super) async fn next(store: &dyn Store, second: i64) -> Option<String> {
    let claimed = claim(store, second).await?;
    Some(claimed.run.id.to_string())
}

pub(super) async fn append(store: &dyn Store, lease: &Lease, batch: Batch) -> AppendResult {
    store.append(lease, batch).await.unwrap()
}

pub(super) async fn row(store: &dyn Store, run: &str) -> RunRow {
    store.run(&id(run)).await.unwrap().unwrap()
}

/// Polls all futures together, so that the requests are in flight at the same time.
pub(super) async fn together<T>(mut waiting: Vec<Answer<'_, T>>) -> Vec<Result<T, Error>> {
    let mut done: Vec<_> = waiting.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (answer, done) in waiting.iter_mut().zip(&mut done) {
            if done.is_none()
                && let Poll::Ready(result) = answer.as_mut().poll(context)
            {
                *done = Some(result);
            }
        }
        if done.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}
