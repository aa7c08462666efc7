//! Random sequences of requests get the same answers from the file store as from the in-memory store.
//!
//! `Memory` is simple enough to be the model. Time only moves forward, as in production.

mod mind;

use std::fmt::Debug;

use deft_model::{Cause, Outcome, Overlap, RunId, RunStatus, WaitKind};
use deft_store::WaitReason;
use deft_store::{
    Admission, AdmissionClaim, AdmissionResult, Batch, Claim, Decision, Error, Finish, Grant,
    Lease, NewApproval, NewEvent, Prune, RunFilter, RunState, Sqlite, SqliteOptions, Store, Write,
};
use deft_store_testkit::Memory;
use jiff::Timestamp;
use proptest::prelude::*;

use crate::support::at;
use mind::{Ask, SideWrite};

/// One request. Numbers choose among a few names, so that requests refer to the same rows.
#[derive(Clone, Debug)]
enum Op {
    Admit {
        skill: u8,
        overlap: u8,
        key: Option<u8>,
        slot: Option<u8>,
        limit: Option<u32>,
        claim: Option<u8>,
    },
    Claim {
        owner: u8,
        global: Option<u32>,
        only: Option<u8>,
    },
    Append {
        lease: u8,
        then: u8,
        ask: Option<u8>,
        events: u8,
        beside: Vec<SideWrite>,
    },
    Mind(Ask),
    Cancel {
        run: u8,
    },
    Reopen {
        run: u8,
    },
    Decide {
        approval: u8,
    },
    Renew {
        owner: u8,
    },
    Release {
        dead: Option<u8>,
        late: bool,
    },
    Cached {
        key: u8,
    },
    Grant {
        id: u8,
    },
    Revoke {
        id: u8,
    },
    Prune {
        age: u8,
    },
}

fn op() -> impl Strategy<Value = Op> {
    let few = |n: u8| 0..n;
    let some = |n: u8| prop::option::weighted(0.3, 0..n);
    let limit = || prop::option::weighted(0.3, 1..3_u32);
    prop_oneof![
        6 => (few(3), few(4), some(4), some(4), limit(), some(9)).prop_map(
            |(skill, overlap, key, slot, limit, claim)| Op::Admit { skill, overlap, key, slot, limit, claim }
        ),
        5 => (few(3), limit(), some(12)).prop_map(|(owner, global, only)| Op::Claim { owner, global, only }),
        8 => (few(12), few(9), some(8), few(3), prop::collection::vec(mind::side_write(), 0..3)).prop_map(
            |(lease, then, ask, events, beside)| Op::Append { lease, then, ask, events, beside }
        ),
        8 => mind::ask().prop_map(Op::Mind),
        1 => few(12).prop_map(|run| Op::Cancel { run }),
        1 => few(12).prop_map(|run| Op::Reopen { run }),
        2 => few(8).prop_map(|approval| Op::Decide { approval }),
        1 => few(3).prop_map(|owner| Op::Renew { owner }),
        1 => (some(3), any::<bool>()).prop_map(|(dead, late)| Op::Release { dead, late }),
        1 => few(4).prop_map(|key| Op::Cached { key }),
        1 => few(4).prop_map(|id| Op::Grant { id }),
        1 => few(4).prop_map(|id| Op::Revoke { id }),
        1 => few(20).prop_map(|age| Op::Prune { age }),
    ]
}

/// Two stores that get the same requests, and values taken from their equal answers.
struct Pair {
    memory: Memory,
    sqlite: Sqlite,
    leases: Vec<Lease>,
    runs: usize,
    now: i64,
}

impl Pair {
    async fn same<T: PartialEq + Debug>(
        &self,
        ask: impl for<'a> Fn(&'a dyn Store) -> deft_store::Answer<'a, T>,
    ) -> Result<T, Error> {
        let wanted = ask(&self.memory).await;
        let got = ask(&self.sqlite).await;
        assert_eq!(got, wanted);
        got
    }

    fn now(&self) -> Timestamp {
        at(self.now)
    }

    fn run(&self, n: u8) -> RunId {
        let newest = self.runs.saturating_sub(1);
        RunId::new(format!("r{}", newest.saturating_sub(usize::from(n))))
    }

    async fn apply(&mut self, op: Op) {
        self.now += 1;
        match op {
            Op::Admit { .. } => self.admit(op).await,
            Op::Claim {
                owner,
                global,
                only,
            } => {
                let request = Claim {
                    owner: format!("owner{owner}"),
                    now: self.now(),
                    until: at(self.now + 20),
                    global_limit: global,
                    only: only.map(|n| self.run(n)),
                };
                let claimed = self
                    .same(|store| store.claim(request.clone()))
                    .await
                    .unwrap();
                self.leases.extend(claimed.map(|claimed| claimed.lease));
            }
            Op::Append {
                lease,
                then,
                ask,
                events,
                beside,
            } => {
                let back = usize::from(lease) + 1;
                let Some(place) = self.leases.len().checked_sub(back) else {
                    return;
                };
                let lease = self.leases[place].clone();
                let mut batch = self.batch(then, ask, events);
                let beside = beside.iter().map(|beside| self.side_write(beside));
                batch.writes.extend(beside);
                let _answer = self.same(|store| store.append(&lease, batch.clone())).await;
            }
            Op::Mind(ask) => self.ask(ask).await,
            Op::Cancel { run } => {
                let (run, now) = (self.run(run), self.now());
                let closing = vec![self.event()];
                let _answer = self
                    .same(|store| store.cancel_with(&run, "ann", now, closing.clone()))
                    .await;
            }
            Op::Reopen { run } => {
                let (run, event) = (self.run(run), self.event());
                let _answer = self.same(|store| store.reopen(&run, event.clone())).await;
            }
            Op::Decide { .. } | Op::Cached { .. } | Op::Grant { .. } => self.person(op).await,
            Op::Revoke { id } => {
                let id = format!("g{id}");
                let _answer = self.same(|store| store.revoke(&id)).await;
            }
            Op::Prune { age } => {
                let request = Prune {
                    before: at(self.now - i64::from(age)),
                    now: self.now(),
                    limit: u32::from(age % 4) + 1,
                    only_count: age % 5 == 0,
                };
                // The number of expired results is not compared: each store may delete them earlier.
                let pruned = self.same(|store| {
                    let pruned = store.prune(request.clone());
                    Box::pin(async { pruned.await.map(|pruned| (pruned.runs, pruned.events)) })
                });
                pruned.await.unwrap();
            }
            Op::Renew { owner } => {
                let (owner, until) = (format!("owner{owner}"), at(self.now + 30));
                let _answer = self.same(|store| store.renew(&owner, until)).await;
            }
            Op::Release { dead, late } => {
                let dead: Vec<String> = dead.map(|n| format!("owner{n}")).into_iter().collect();
                let now = at(self.now + if late { 15 } else { 0 });
                let _answer = self.same(|store| store.release(dead.clone(), now)).await;
            }
        }
    }

    async fn admit(&mut self, op: Op) {
        let Op::Admit {
            skill,
            overlap,
            key,
            slot,
            limit,
            claim,
        } = op
        else {
            return;
        };
        let overlaps = [
            Overlap::Skip,
            Overlap::Queue,
            Overlap::CancelOther,
            Overlap::Allow,
        ];
        let run = RunId::new(format!("r{}", self.runs));
        let claim = claim.map(|then| AdmissionClaim {
            owner: "owner0".to_owned(),
            until: at(self.now + 20),
            global_limit: limit,
            batch: self.batch(then, None, then % 3),
        });
        let admission = Admission {
            run,
            skill: format!("skill{skill}"),
            revision: "sha256:1".to_owned(),
            tier: deft_model::Tier::Workflow,
            agent_id: "main".to_owned(),
            cause: Cause::Cli,
            slot: slot.map(|n| at(i64::from(n))),
            step: None,
            key: key.map(|n| format!("k{n}{}", self.runs / 8)),
            parent: None,
            inputs: "{}".to_owned(),
            at: self.now(),
            overlap: overlaps[usize::from(overlap)],
            skill_limit: limit,
            claim,
            aside: vec![self.event()],
            writes: Vec::new(),
            closing: vec![self.event(), self.event()],
        };
        let admitted = self
            .same(|store| store.admit(admission.clone()))
            .await
            .unwrap();
        if let AdmissionResult::New { lease, .. } = admitted {
            self.runs += 1;
            self.leases.extend(lease);
        }
    }

    async fn person(&mut self, op: Op) {
        let now = self.now();
        match op {
            Op::Decide { approval } => {
                let decision = Decision {
                    answer: "approve".to_owned(),
                    by: format!("at {now}"),
                    at: now,
                };
                let id = format!("p{approval}");
                let _answer = self.same(|store| store.decide(&id, decision.clone())).await;
            }
            Op::Cached { key } => {
                let key = format!("k{key}");
                let _answer = self.same(|store| store.read_cached(&key, now)).await;
            }
            Op::Grant { id } => {
                let grant = Grant {
                    id: format!("g{id}"),
                    skill: "skill0".to_owned(),
                    revision: "sha256:1".to_owned(),
                    operation: "hash".to_owned(),
                    pattern: (id > 1).then(|| "{}".to_owned()),
                    describes: "send".to_owned(),
                    by: format!("at {now}"),
                    at: now,
                };
                let _answer = self.same(|store| store.grant(grant.clone())).await;
            }
            other => panic!("{other:?} is for somebody else"),
        }
    }

    fn event(&self) -> NewEvent {
        NewEvent {
            at: self.now(),
            kind: "x".to_owned(),
            body: format!("{}", self.now),
        }
    }

    fn batch(&self, then: u8, ask: Option<u8>, events: u8) -> Batch {
        let ask = ask.map(|n| {
            Write::Ask(NewApproval {
                id: format!("p{n}"),
                path: "steps[0]".to_owned(),
                message: "really?".to_owned(),
                options: "[]".to_owned(),
                operation: "{}".to_owned(),
                at: self.now(),
            })
        });
        let cache = then.is_multiple_of(4).then(|| Write::Cache {
            key: format!("k{}", then / 4),
            value: format!("{}", self.now),
            at: self.now(),
            expires_at: at(self.now + 8),
        });
        Batch {
            events: (0..events).map(|_| self.event()).collect(),
            writes: ask.into_iter().chain(cache).collect(),
            then: self.then(then),
        }
    }

    fn then(&self, then: u8) -> RunState {
        match then {
            0..4 => RunState::Continue,
            4..7 => RunState::Park {
                wake_at: (then > 4).then(|| at(self.now + i64::from(then) * 2)),
                waiting_for: WaitReason {
                    kind: WaitKind::Time,
                    text: "time".to_owned(),
                },
            },
            _ => RunState::Finish(Finish {
                outcome: Outcome::Error,
                outputs: None,
                error: Some("{}".to_owned()),
                aftermath: None,
                at: self.now(),
            }),
        }
    }

    /// Asserts that all reads return the same.
    async fn compare(&self) {
        for statuses in [vec![], vec![RunStatus::Waiting, RunStatus::Done]] {
            let filter = RunFilter {
                statuses,
                ..RunFilter::default()
            };
            let _answer = self.same(|store| store.runs(filter.clone())).await;
        }
        let run = self.run(0);
        let _answer = self.same(|store| store.events(None, 0, 1000)).await;
        let _answer = self.same(|store| store.events(Some(&run), 0, 1000)).await;
        let _answer = self.same(|store| store.approvals(true)).await;
        let _answer = self.same(|store| store.approvals(false)).await;
        let _answer = self.same(|store| store.grants("skill0")).await;
        let _answer = self.same(|store| store.all_grants()).await;
        let _answer = self.same(|store| store.owners()).await;
        self.compare_mind().await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sqlite_and_memory_give_equal_results(ops in prop::collection::vec(op(), 1..120)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deft.db");
        let mut pair = Pair {
            memory: Memory::new(),
            sqlite: Sqlite::open(&path, &SqliteOptions::default()).unwrap(),
            leases: Vec::new(),
            runs: 0,
            now: 100,
        };
        let rt = tokio::runtime::Builder::new_current_thread().build().unwrap();
        rt.block_on(async {
            for op in ops {
                pair.apply(op).await;
            }
            pair.compare().await;
        });
    }
}
