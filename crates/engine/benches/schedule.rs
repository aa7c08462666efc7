//! Schedules: delay of slots, cost of a tick, and cost of idling.
//!
//! Prints a table; the bars are in `docs/performance.md`. Without `--bench` each is tried once with small
//! sizes. `--only NAME` measures one group: `lone`, `burst`, `many`, `batch`, `files`, `restart`, `idle`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise"
)]

#[path = "schedule/world.rs"]
mod world;

use std::process::Command;
use std::time::{Duration, Instant};

use deft_scheduler::{Pool, Scheduler};
use deft_store::SkillRow;
use jiff::{SignedDuration, Timestamp};
use tokio::runtime::Runtime;
use world::{Daemon, World, cpu, percentile, pss};

fn show(name: &str, figures: &[(&str, f64)]) {
    let figures = figures
        .iter()
        .map(|(what, figure)| format!("{what} {figure:.2}"));
    let figures: Vec<String> = figures.collect();
    println!("{name:<62} {}", figures.join("  "));
}

fn late(name: &str, times: &mut [Duration]) {
    let parts = [("first", 0.0), ("p50", 0.5), ("p99", 0.99), ("max", 1.0)];
    show(
        name,
        &parts.map(|(name, part)| (name, percentile(times, part))),
    );
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn float(n: usize) -> f64 {
    n as f64
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// Returns the instant `ms` milliseconds from now, in whole milliseconds.
fn soon(ms: i64) -> Timestamp {
    let now = Timestamp::now().as_millisecond();
    Timestamp::from_millisecond(now + ms).unwrap()
}

/// Measures one slot at a time, from its instant to the call of the tool.
fn lone(runtime: &Runtime, tool: &str, rounds: usize) {
    let world = World::new(10_000.min(rounds * 100), tool);
    let mut times = runtime.block_on(async {
        let daemon = Daemon::start(&world, 64);
        let mut live = world.engine().subscribe();
        let row = world.store().skill("skill-0").await.unwrap().unwrap();
        let mut times = Vec::new();
        for _ in 0..rounds {
            let slot = soon(20);
            world.plan(std::slice::from_ref(&row), slot).await;
            world.engine().ring();
            if tool == "act" {
                times.extend(world.calls(1, slot).await);
            }
            World::ended(&mut live).await;
        }
        daemon.end().await;
        if tool == "served" {
            // The first call starts the server.
            times = world.served().await.split_off(1);
        }
        times
    });
    let name = match tool {
        "act" => "a lone slot to its call, tool in this process (bar 2/10)",
        _ => "a lone slot to its call, stdio server (bar 3)",
    };
    late(name, &mut times);
}

/// Measures many slots at one instant.
fn burst(runtime: &Runtime, due: usize, rounds: usize) {
    let world = World::new(due * 10, "act");
    let mut times = runtime.block_on(async {
        let daemon = Daemon::start(&world, 64);
        let rows: Vec<SkillRow> = world.rows(due).await;
        let mut times = Vec::new();
        for _ in 0..rounds {
            let slot = soon(2000);
            world.plan(&rows, slot).await;
            world.engine().ring();
            times.extend(world.calls(due, slot).await);
            world.quiet().await;
        }
        daemon.end().await;
        times
    });
    late(
        &format!("{due} of {} slots at one instant (bar 30/80)", due * 10),
        &mut times,
    );
}

/// Measures a tick over many schedules of which ten are due.
fn many(runtime: &Runtime, count: usize, rounds: usize) {
    let world = World::new(count, "act");
    let pool = Pool::new(64);
    let (mut looks, mut idle) = runtime.block_on(async {
        let rows = world.rows(10).await;
        let (mut looks, mut idle) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let slot = soon(-5);
            world.plan(&rows, slot).await;
            let begun = Instant::now();
            let ticked = Scheduler::new(world.engine())
                .tick(Timestamp::now(), &pool)
                .await
                .unwrap();
            looks.push(begun.elapsed());
            assert_eq!(ticked.fired.len(), 10);
            pool.idle().await;
            let begun = Instant::now();
            Scheduler::new(world.engine())
                .tick(Timestamp::now(), &pool)
                .await
                .unwrap();
            world.store().next_due().await.unwrap();
            idle.push(begun.elapsed());
        }
        (looks, idle)
    });
    late(
        &format!("a look at {count} schedules, 10 due (bar 5)"),
        &mut looks,
    );
    late("  the same, none due", &mut idle);
}

fn batch(runtime: &Runtime, count: usize) {
    let world = World::new(0, "act");
    let begun = Instant::now();
    let new = world.new_skills(0..count);
    let read = ms(begun);
    let begun = Instant::now();
    runtime.block_on(world.store().put_skills(new)).unwrap();
    let stored = ms(begun);
    show(
        &format!("adding {count} records at once, ms (bar 300)"),
        &[("read", read), ("stored", stored)],
    );
}

/// Measures the first and the second start with this many timed skill files.
fn files(runtime: &Runtime, count: usize) {
    let mut world = World::new(0, "act");
    world.close();
    world.write_files(count);
    world.open();
    let mut figures = Vec::new();
    for what in ["first", "again"] {
        let begun = Instant::now();
        runtime
            .block_on(world.engine().library().sync_files())
            .unwrap();
        figures.push((what, ms(begun)));
    }
    show(
        &format!("following {count} timed files, ms (bar 3000)"),
        &figures,
    );
}

/// Measures the time from opening the file to the call for a slot that is on time, while others are late.
fn restart(runtime: &Runtime, count: usize, misfire: &str, hours: Option<i64>) {
    let mut world = World::with(count, "act", misfire);
    runtime.block_on(async {
        let Some(hours) = hours else { return };
        // Between two slots, so that none is on time.
        let down = SignedDuration::from_mins(hours * 60 + 30);
        let past = Timestamp::now() - down;
        world.plan(&world.rows(count).await, past).await;
    });
    world.close();
    let begun = Instant::now();
    world.open();
    let opened = ms(begun);
    runtime.block_on(async {
        // One more slot is due right now.
        let slot = Timestamp::now();
        let row = world.store().skill("skill-0").await.unwrap().unwrap();
        world.plan(&[row], slot).await;
        let daemon = Daemon::start(&world, 64);
        let first = world.calls(1, slot).await;
        let ready = ms(begun);
        let missed = world.count_decided().await;
        let all = ms(begun);
        daemon.end().await;
        show(
            &format!(
                "restart, {count} schedules, {} h down, {misfire} (bar 100)",
                hours.unwrap_or(0)
            ),
            &[
                ("opened", opened),
                ("first call", ready),
                ("all decided", all),
                ("rows", float(missed)),
                ("calls", float(first.len())),
            ],
        );
    });
}

/// Measures the cost of an idle process, in a separate process.
fn idle(count: usize, seconds: u64) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--idle", &count.to_string(), &seconds.to_string()])
        .output()
        .unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{output:?}");
}

fn idle_child(runtime: &Runtime, count: usize, seconds: u64) {
    let mut world = World::new(count, "act");
    // Memory used to fill the store must not count as the cost of idling.
    world.close();
    world.open();
    runtime.block_on(async {
        let daemon = Daemon::start(&world, 64);
        let second = Duration::from_secs(1);
        tokio::time::sleep(second * 2).await;
        let before = cpu();
        tokio::time::sleep(second * u32::try_from(seconds).unwrap()).await;
        let spent = cpu().saturating_sub(before).as_secs_f64() * 1000.0;
        let each = spent / float(usize::try_from(seconds).unwrap());
        show(
            &format!("waiting with {count} schedules (bar 25 MB, 1 ms/s)"),
            &[("PSS MB", pss()), ("CPU ms/s", each)],
        );
        daemon.end().await;
    });
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let given = |name: &str| args.iter().position(|arg| arg == name);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    if let Some(at) = given("--idle") {
        let count = args[at + 1].parse().unwrap();
        return idle_child(&runtime, count, args[at + 2].parse().unwrap());
    }
    let quick = given("--bench").is_none();
    let only = given("--only").map(|at| args[at + 1].clone());
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let size = |full: usize, small: usize| if quick { small } else { full };
    println!("{:<62} milliseconds", "schedules, SQLite WAL FULL");
    if wanted("lone") {
        lone(&runtime, "act", size(300, 2));
        lone(&runtime, "served", size(300, 2));
    }
    if wanted("burst") {
        burst(&runtime, size(1000, 10), size(5, 1));
    }
    if wanted("batch") {
        batch(&runtime, size(10_000, 10));
    }
    if wanted("files") {
        files(&runtime, size(20_000, 10));
    }
    if wanted("restart") {
        let count = size(10_000, 10);
        restart(&runtime, count, "skip", None);
        restart(&runtime, count, "skip", Some(8));
        if only.is_some() || quick {
            restart(&runtime, count, "once", Some(8));
        }
    }
    if wanted("idle") {
        idle(size(10_000, 10), if quick { 1 } else { 10 });
    }
    if wanted("many") {
        many(&runtime, size(1_000_000, 100), size(200, 1));
    }
}
