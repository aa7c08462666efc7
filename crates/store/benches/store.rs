//! The cost of a commit, the gain of shared commits, and the cost of a claim next to many old runs.
//!
//! A plain program that prints a table, because the figures are latencies and rates of a disk, which a
//! harness for pure functions does not measure. The first argument is the folder for the files; the default
//! is the system's folder for temporary files. On a RAM disk the figures are those of the processor alone.
//! Each figure is printed next to the floor measured in the same session: overwriting 4 KB and syncing.
//! Without `--bench`, which `cargo bench` passes, all loops are short, so that `make test` only checks that
//! the program works.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for people to run"
)]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use deft_model::{Cause, Outcome, Overlap, RunId};
use deft_store::prelude::*;
use deft_store::{
    Admission, AdmissionClaim, AdmissionResult, Batch, Claim, Finish, Lease, NewEvent, RunState,
    Sqlite, SqliteOptions, Store,
};
use deft_store_testkit::Memory;
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// The number of runs driven at once.
const PARALLEL_WRITERS: usize = 64;

/// The runtime, the folder for the files, and the divisor for repetitions.
struct Bench {
    rt: Runtime,
    folder: TempDir,
    share: usize,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let folder = args.iter().find(|arg| !arg.starts_with('-'));
    let folder = folder.map_or_else(std::env::temp_dir, PathBuf::from);
    let rt = Builder::new_multi_thread().worker_threads(2).build();
    let bench = Bench {
        rt: rt.unwrap(),
        folder: tempfile::tempdir_in(folder).unwrap(),
        share: if args.iter().any(|arg| arg == "--bench") {
            1
        } else {
            50
        },
    };
    println!("{:<52} {:>12}", "what", "figure");
    bench.floor();
    bench.alone();
    bench.run_alone();
    bench.together();
    bench.whole_runs();
    bench.measure_other_process();
    bench.claims();
    bench.claims_behind_held_runs(10_000, 200);
    bench.claims_behind_held_runs(100, 5_000);
    bench.memory();
}

fn say(what: &str, figure: &str) {
    println!("{what:<52} {figure:>12}");
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn admission(n: usize, claim: Option<AdmissionClaim>) -> Admission {
    Admission {
        run: RunId::new(format!("run_01890a5d-ac96-774b-bcce-{n:012}")),
        skill: format!("reports.daily{}", n % 10),
        revision: "sha256:0123456789abcdef0123456789abcdef".to_owned(),
        tier: deft_model::Tier::Workflow,
        agent_id: "main".to_owned(),
        cause: Cause::Cli,
        slot: None,
        step: None,
        key: None,
        parent: None,
        inputs: r#"{"issue":"ABC-1","limit":20}"#.to_owned(),
        at: at(i64::try_from(n).unwrap()),
        overlap: Overlap::Allow,
        skill_limit: None,
        claim,
        aside: Vec::new(),
        writes: Vec::new(),
        closing: Vec::new(),
    }
}

fn step() -> Batch {
    let event = |kind: &str, body: &str| NewEvent {
        at: at(1),
        kind: kind.to_owned(),
        body: body.to_owned(),
    };
    Batch {
        events: vec![
            event(
                "step_done",
                r#"{"path":"steps[3]","value":{"count":12,"ok":true}}"#,
            ),
            event(
                "step_started",
                r#"{"path":"steps[4]","tool":"http.get","try":1}"#,
            ),
        ],
        ..Batch::default()
    }
}

fn finish() -> Batch {
    Batch {
        then: RunState::Finish(Finish {
            outcome: Outcome::Success,
            outputs: Some(r#"{"count":12}"#.to_owned()),
            error: None,
            aftermath: None,
            at: at(2),
        }),
        ..step()
    }
}

fn first(batch: Batch) -> AdmissionClaim {
    AdmissionClaim {
        owner: "bench".to_owned(),
        until: at(1_000_000),
        global_limit: None,
        batch,
    }
}

async fn start(store: &dyn Store, n: usize) -> Lease {
    match store
        .admit(admission(n, Some(first(step()))))
        .await
        .unwrap()
    {
        AdmissionResult::New { lease, .. } => lease.unwrap(),
        AdmissionResult::Existing(_) | AdmissionResult::Stale => unreachable!(),
    }
}

fn percentile(what: &str, times: &mut [Duration], of_hundred: usize) {
    times.sort_unstable();
    let time = times[(times.len() - 1) * of_hundred / 100];
    say(what, &format!("{} µs", time.as_micros()));
}

fn rate(what: &str, count: usize, since: Instant) {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let rate = count as f64 / since.elapsed().as_secs_f64();
    say(what, &format!("{rate:.0}/s"));
}

/// Admits `all` runs, of which the first `over` are finished.
async fn fill(store: &dyn Store, all: usize, over: usize) {
    let mut waiting = Vec::new();
    for n in 0..all {
        let claim = (n < over).then(|| first(finish()));
        waiting.push(store.admit(admission(n, claim)));
    }
    for answer in waiting {
        answer.await.unwrap();
    }
}

impl Bench {
    fn open(&self, name: &str) -> Arc<Sqlite> {
        let path = self.folder.path().join(name);
        Arc::new(Sqlite::open(&path, &SqliteOptions::default()).unwrap())
    }

    /// Scales a number of repetitions down for a test without `--bench`.
    fn some(&self, many: usize) -> usize {
        many / self.share
    }

    /// Measures the smallest durable write of the disk.
    fn floor(&self) {
        let file = File::create(self.folder.path().join("floor")).unwrap();
        let page = [7; 4096];
        let mut times = Vec::new();
        for n in 0..self.some(2000) {
            let place = n as u64 % 1000 * 4096;
            let before = Instant::now();
            file.write_all_at(&page, place).unwrap();
            file.sync_data().unwrap();
            times.push(before.elapsed());
        }
        let times = &mut times[self.some(1000)..];
        percentile("disk: 4 KB overwritten and synced, p50", times, 50);
    }

    /// One run that appends batches one after the other.
    fn alone(&self) {
        let store = self.open("alone.db");
        self.rt.block_on(async {
            let lease = start(&*store, 0).await;
            let mut times = Vec::new();
            for _ in 0..self.some(3000) {
                let before = Instant::now();
                store.append(&lease, step()).await.unwrap();
                times.push(before.elapsed());
            }
            // The log has reached its full size by then.
            let times = &mut times[self.some(1500)..];
            percentile("sqlite: append of 2 events alone, p50", times, 50);
            percentile("sqlite: the same, p99", times, 99);
        });
    }

    /// The commits of a run of five steps, each measured separately.
    fn run_alone(&self) {
        let store = self.open("run.db");
        let [mut admitted, mut appended, mut finished] = [const { Vec::new() }; 3];
        self.rt.block_on(async {
            for n in 0..self.some(2000) {
                let before = Instant::now();
                let lease = start(&*store, n).await;
                admitted.push(before.elapsed());
                for _ in 0..4 {
                    let before = Instant::now();
                    store.append(&lease, step()).await.unwrap();
                    appended.push(before.elapsed());
                }
                let before = Instant::now();
                store.append(&lease, finish()).await.unwrap();
                finished.push(before.elapsed());
            }
        });
        percentile("sqlite: admission of a run alone, p50", &mut admitted, 50);
        percentile("sqlite: its appends, p50", &mut appended, 50);
        percentile("sqlite: its last append, p50", &mut finished, 50);
    }

    /// Many runs that each wait for their own commit.
    fn together(&self) {
        let store = self.open("together.db");
        for round in 0..3 {
            let each = self.some(500);
            let before = Instant::now();
            self.rt.block_on(async {
                let tasks: Vec<_> = (0..PARALLEL_WRITERS)
                    .map(|n| {
                        let store = Arc::clone(&store);
                        tokio::spawn(async move {
                            let lease = start(&*store, round * PARALLEL_WRITERS + n).await;
                            for _ in 0..each {
                                store.append(&lease, step()).await.unwrap();
                            }
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
            });
            rate(
                "sqlite: appends of 2 events, 64 runs at once",
                PARALLEL_WRITERS * each,
                before,
            );
        }
    }

    /// The latency for another process, such as `deft run` next to a daemon that is never idle.
    fn measure_other_process(&self) {
        let store = self.open("beside.db");
        let other = self.open("beside.db");
        let over = Arc::new(AtomicUsize::new(0));
        self.rt.block_on(async {
            for n in 0..PARALLEL_WRITERS {
                let (store, over) = (Arc::clone(&store), Arc::clone(&over));
                tokio::spawn(async move {
                    let lease = start(&*store, n).await;
                    while over.load(Ordering::Relaxed) == 0 {
                        store.append(&lease, step()).await.unwrap();
                    }
                });
            }
            let lease = start(&*other, PARALLEL_WRITERS).await;
            let mut times = Vec::new();
            for _ in 0..self.some(200) {
                let before = Instant::now();
                other.append(&lease, step()).await.unwrap();
                times.push(before.elapsed());
            }
            over.store(1, Ordering::Relaxed);
            let times = &mut times;
            percentile("sqlite: append beside another busy store, p50", times, 50);
            percentile("sqlite: the same, longest", times, 100);
        });
    }

    /// Whole runs of five steps: admission, four batches, finish.
    fn whole_runs(&self) {
        let store = self.open("runs.db");
        let each = self.some(100);
        let names = Arc::new(AtomicUsize::new(0));
        let before = Instant::now();
        self.rt.block_on(async {
            let tasks: Vec<_> = (0..PARALLEL_WRITERS)
                .map(|_| {
                    let (store, names) = (Arc::clone(&store), Arc::clone(&names));
                    tokio::spawn(async move {
                        for _ in 0..each {
                            let lease = start(&*store, names.fetch_add(1, Ordering::Relaxed)).await;
                            for _ in 0..3 {
                                store.append(&lease, step()).await.unwrap();
                            }
                            store.append(&lease, finish()).await.unwrap();
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        rate(
            "sqlite: whole runs of 5 commits, 64 at once",
            PARALLEL_WRITERS * each,
            before,
        );
    }

    fn claims(&self) {
        let store = self.open("claims.db");
        self.rt.block_on(async {
            fill(&*store, self.some(11_000), self.some(10_000)).await;
            let mut times = Vec::new();
            for _ in 0..self.some(1000) {
                let request = Claim {
                    owner: "bench".to_owned(),
                    now: at(20_000),
                    until: at(30_000),
                    global_limit: Some(5000),
                    only: None,
                };
                let before = Instant::now();
                store.claim(request).await.unwrap().unwrap();
                times.push(before.elapsed());
            }
            let what = "sqlite: claim, 10,000 finished + 1,000 queued, p50";
            percentile(what, &mut times, 50);
        });
    }

    /// Measures claims that have to pass older runs of a held skill. Behind them are runs of other skills, each of
    /// one of its own.
    fn claims_behind_held_runs(&self, held: usize, others: usize) {
        let store = self.open(&format!("held{held}.db"));
        self.rt.block_on(async {
            let (held, others) = (self.some(held), self.some(others));
            let new = |n| Admission {
                skill: if n < held {
                    "held".to_owned()
                } else {
                    format!("other{n}")
                },
                ..admission(n, None)
            };
            let answers: Vec<_> = (0..held + others).map(|n| store.admit(new(n))).collect();
            for answer in answers {
                answer.await.unwrap();
            }
            store.hold("held", true, at(0)).await.unwrap();
            let mut times = Vec::new();
            for _ in 0..others.min(self.some(200)) {
                let request = Claim {
                    owner: "bench".to_owned(),
                    now: at(20_000),
                    until: at(30_000),
                    global_limit: None,
                    only: None,
                };
                let before = Instant::now();
                store.claim(request).await.unwrap().unwrap();
                times.push(before.elapsed());
            }
            let what = format!("sqlite: claim, {held} held + {others} queued, p50");
            percentile(&what, &mut times, 50);
        });
    }

    fn memory(&self) {
        let store = Memory::new();
        self.rt.block_on(async {
            let lease = start(&store, 0).await;
            let count = self.some(200_000);
            let batches: Vec<Batch> = (0..count).map(|_| step()).collect();
            let before = Instant::now();
            for batch in batches {
                store.append(&lease, batch).await.unwrap();
            }
            let each = before.elapsed() / u32::try_from(count).unwrap();
            say(
                "memory: append of 2 events",
                &format!("{} ns", each.as_nanos()),
            );
            let before = Instant::now();
            let count = self.some(50_000);
            for n in 1..=count {
                start(&store, n).await;
            }
            let each = before.elapsed() / u32::try_from(count).unwrap();
            say(
                "memory: admit with first claim",
                &format!("{} ns", each.as_nanos()),
            );
        });
    }
}
