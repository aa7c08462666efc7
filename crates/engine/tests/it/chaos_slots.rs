//! Many slots across clock jumps: the clock advances, jumps ahead by hours and goes back, and the engine is
//! restarted in between. Afterwards the rows of each skill cover its slots without gaps or overlaps, and the
//! tool was called once for each run.
//!
//! `make chaos` runs it with a million slots (`DEFT_CHAOS_SLOTS`) and prints a report.

use std::collections::HashMap;
use std::time::Instant;

use deft_engine::Clock;
use deft_model::Outcome;
use deft_store::{RunFilter, RunRow, SkillFilter, SkillRow};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::crash::scatter;
use crate::time_world::{Times, at, file, new_record, record, with};
use crate::world::World;

/// Default number of slots.
const USUAL: usize = 100_000;

/// Minutes between two slots, the misfire rule, and the number of such skills.
const SKILLS: [(i64, &str, usize); 6] = [
    (1, "skip", 20),
    (1, "once", 20),
    (5, "once", 20),
    (15, "skip", 10),
    (30, "all", 5),
    (60, "all", 5),
];

/// Midnight, so that the slots of a skill are the multiples of its minutes.
const START: &str = "00:00";

#[derive(Debug, Default)]
struct Report {
    slots: u64,
    runs: u64,
    missed: u64,
    calls: u64,
    gaps: u64,
    doubles: u64,
    jumps: u64,
    restarts: u64,
}

fn minutes(minutes: i64) -> SignedDuration {
    SignedDuration::from_mins(minutes)
}

fn name(period: i64, misfire: &str, n: usize) -> String {
    format!("every {period} {misfire} {n}")
}

async fn fill(times: &Times) {
    times.world.clock.set(at(START));
    let mut new = Vec::new();
    for (period, misfire, count) in SKILLS {
        let cron = match period {
            60 => "0 * * * *".to_owned(),
            period => format!("*/{period} * * * *"),
        };
        for n in 0..count {
            let skill = record(&name(period, misfire, n), json!({"schedule": cron}), "act");
            let skill = with(skill, json!({"misfire": misfire, "overlap": "allow"}));
            new.push(new_record(&skill, times.world.clock.now()));
        }
    }
    times.world.store.put_skills(new).await.unwrap();
}

/// Returns the next step of the clock: mostly small, sometimes far ahead, sometimes back.
fn step(n: usize) -> SignedDuration {
    let amount = i64::try_from(scatter(n) >> 40).unwrap();
    match scatter(n + 1_000_000) % 50 {
        0..34 => SignedDuration::from_secs(20 + amount % 180),
        34..47 => minutes(5 + amount % 55),
        47 => minutes(120 + amount % 1700),
        _ => minutes(-10 - amount % 290),
    }
}

/// Returns a new engine over the same store and clock.
fn restart(times: Times) -> Times {
    let Times { world, pool, .. } = times;
    let now = world.clock.now();
    let World {
        home,
        engine,
        folder,
        store,
        calls,
        ..
    } = world;
    drop(engine);
    let world = World::at(home, folder, store, |_| {});
    world.clock.set(now);
    // Calls of the old engine's tools count too.
    world
        .calls
        .lock()
        .unwrap()
        .extend(std::mem::take(&mut *calls.lock().unwrap()));
    Times {
        world,
        pool,
        checks: std::sync::OnceLock::new(),
    }
}

/// Returns the number of slots between two instants, both included.
fn count(period: i64, from: Timestamp, to: Timestamp) -> u64 {
    let seconds = to.duration_since(from).as_secs();
    u64::try_from(seconds / (60 * period) + 1).unwrap_or(0)
}

/// Compares the rows of a skill with its slots.
fn check(row: &SkillRow, period: i64, mut runs: Vec<RunRow>, report: &mut Report) {
    runs.sort_by_key(|run| run.slot);
    let mut expected = at(START) + minutes(period);
    for run in runs {
        let slot = run.slot.unwrap();
        let until = run.slot_until.unwrap_or(slot);
        if slot > expected {
            report.gaps += count(period, expected, slot) - 1;
        } else if slot < expected {
            report.doubles += 1;
        }
        assert_eq!(count(period, slot, until), run.slot_count, "{run:?}");
        report.slots += run.slot_count;
        match run.outcome.unwrap() {
            Outcome::Success => report.runs += 1,
            Outcome::Missed | Outcome::Skipped => report.missed += run.slot_count,
            other => panic!("{run:?} ended as {other}"),
        }
        expected = until + minutes(period);
    }
    assert_eq!(row.timeline.next_at, Some(expected), "{}", row.text.skill);
}

async fn count_decided(times: &Times) -> u64 {
    let rows = times
        .world
        .store
        .skills(SkillFilter::default())
        .await
        .unwrap();
    let first = at(START);
    let slots = rows.iter().map(|row| {
        let (period, ..) = kind(row);
        count(
            period,
            first + minutes(period),
            row.timeline.next_at.unwrap(),
        ) - 1
    });
    slots.sum()
}

/// Returns the period and the misfire rule of a skill, from its name.
fn kind(row: &SkillRow) -> (i64, String) {
    let mut words = row.text.name.split(' ').skip(1);
    let period = words.next().unwrap().parse().unwrap();
    (period, words.next().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_slot_is_lost_or_duplicated_across_clock_jumps() {
    let wanted = deft_testkit::test_size("DEFT_CHAOS_SLOTS", USUAL) as u64;
    let begun = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let mut times = Times::with_store(file(&folder), &[]);
    fill(&times).await;
    let mut report = Report::default();
    for n in 0.. {
        let by = step(n);
        report.jumps += u64::from(by.is_negative() || by > minutes(60));
        times.world.clock.set(times.world.clock.now() + by);
        times.look().await;
        if n % 10 == 9 {
            if count_decided(&times).await >= wanted {
                break;
            }
            times = restart(times);
            report.restarts += 1;
        }
    }
    let mut runs: HashMap<String, Vec<RunRow>> = HashMap::new();
    for run in times.world.store.runs(RunFilter::default()).await.unwrap() {
        runs.entry(run.skill.clone()).or_default().push(run);
    }
    for row in times
        .world
        .store
        .skills(SkillFilter::default())
        .await
        .unwrap()
    {
        let own = runs.remove(&row.text.skill).unwrap_or_default();
        check(&row, kind(&row).0, own, &mut report);
    }
    report.calls = times.world.called().len() as u64;
    println!("{report:?}");
    deft_testkit::report_section("slots", &lines(&report, begun));
    assert!(report.slots >= wanted && report.jumps > 0 && report.restarts > 0);
    assert_eq!((report.gaps, report.doubles), (0, 0), "{report:?}");
    assert_eq!(report.calls, report.runs, "each run calls once");
}

/// Returns the report; all its numbers except the last are the same on every machine.
fn lines(report: &Report, begun: Instant) -> Vec<(&'static str, String)> {
    vec![
        ("slots decided", report.slots.to_string()),
        ("runs", report.runs.to_string()),
        (
            "slots missed or skipped, as their skills say",
            report.missed.to_string(),
        ),
        ("clock jumps", report.jumps.to_string()),
        ("engine restarts", report.restarts.to_string()),
        ("calls made", report.calls.to_string()),
        ("gaps", report.gaps.to_string()),
        ("doubled slots", report.doubles.to_string()),
        ("duration", format!("{} s", begun.elapsed().as_secs())),
    ]
}
