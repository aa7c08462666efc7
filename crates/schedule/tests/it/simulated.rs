//! Simulated time: skills in many zones over two years, with a manual clock.

use std::ops::Range;

use deft_model::Misfire;
use deft_schedule::{
    Cron, OmitReason, Rule, Schedule, SlotDecision, TimedSkill, backoff, due, parse_zone, show,
    simulate,
};
use jiff::{SignedDuration, Timestamp};

use crate::ZONES;

const PATTERNS: [&str; 14] = [
    "30 2 * * *",
    "0 0 * * *",
    "*/30 1-3 * * *",
    "0 2,14 * * *",
    "59 23 * * *",
    "0 */6 * * *",
    "15 * * * *",
    "*/20 * * * *",
    "0 9 * * 1-5",
    "30 1 L * *",
    "0 3 * * SUN#1,5L",
    "0 12 15W * *",
    "0 0 1 JAN,APR *",
    "*/7 0-2 * 3,4,9-11 SUN",
];

/// A deterministic pseudo-random number generator (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        i64::try_from((z ^ (z >> 31)) >> 1).expect("63 bits") % below
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// Creates fifty skills: every pattern, every zone, every rule, and a few intervals and one-shots.
fn skills(dice: &mut Dice, from: Timestamp) -> Vec<TimedSkill> {
    let schedule = |dice: &mut Dice, index: usize| match index {
        42..46 => Schedule::Interval {
            every: seconds(60 * (7 + dice.roll(600))),
            anchor: from - seconds(dice.roll(10_000)),
        },
        46..50 => Schedule::At(from + seconds(dice.roll(2 * 365 * 86_400))),
        _ => Schedule::Cron {
            cron: Cron::parse(PATTERNS[index % PATTERNS.len()]).expect("an expression"),
            zone: parse_zone(ZONES[index % ZONES.len()]).expect("a zone"),
        },
    };
    let misfires = [Misfire::Once, Misfire::Skip, Misfire::All];
    let windows = [60, 3600, 86_400, 5 * 86_400];
    (0..50)
        .map(|index| TimedSkill {
            name: format!("skill-{index}"),
            schedule: schedule(dice, index),
            rule: Rule {
                misfire: misfires[index % 3],
                window: seconds(windows[index % 4]),
            },
        })
        .collect()
}

/// Creates downtimes of a minute, of hours and of days, about one per week.
fn downtimes(dice: &mut Dice, from: Timestamp, to: Timestamp) -> Vec<Range<Timestamp>> {
    let mut down = Vec::new();
    let mut start = from;
    loop {
        start += seconds(dice.roll(14 * 86_400));
        let most = [120, 10_000, 40_000, 400_000][usize::try_from(dice.roll(4)).expect("small")];
        let end = start + seconds(1 + dice.roll(most));
        if end >= to {
            return down;
        }
        down.push(start..end);
        start = end;
    }
}

/// The state of one skill, as a store would hold it.
struct StoredSkill {
    next: Option<Timestamp>,
    streak: u32,
    rests_until: Option<Timestamp>,
    /// The slot with which the next row must begin.
    expected: Option<Timestamp>,
    rows: u64,
}

impl StoredSkill {
    /// Removes `count` slots from those that need a row.
    fn take(&mut self, schedule: &Schedule, first: Timestamp, last: Timestamp, count: u64) {
        assert_eq!(self.expected, Some(first));
        let mut newest = first;
        for _ in 0..count {
            newest = self.expected.expect("a slot that is left");
            self.expected = schedule.next_after(newest);
        }
        assert_eq!(newest, last);
        self.rows += count;
    }
}

/// A small scheduler: late and irregular ticks, downtimes, failures with backoff.
fn two_years(seed: u64) -> u64 {
    let mut dice = Dice(seed);
    let (from, to) = (at("2025-01-01T00:00Z"), at("2027-01-01T00:00Z"));
    let skills = skills(&mut dice, from);
    let down = downtimes(&mut dice, from, to);
    let mut rows = 0;
    for skill in &skills {
        let schedule = &skill.schedule;
        let first = schedule.next_after(from);
        let mut stored = StoredSkill {
            next: first,
            streak: 0,
            rests_until: None,
            expected: first,
            rows: 0,
        };
        while let Some(next) = stored.next {
            // A tick comes up to 100 seconds after a slot, or at the end of a downtime.
            let mut now = next + seconds(dice.roll(100));
            if let Some(range) = down.iter().find(|range| range.contains(&now)) {
                now = range.end;
            }
            if now > to {
                break;
            }
            tick(skill, &mut stored, now, &mut dice);
        }
        assert!(
            stored.expected.is_none_or(|slot| slot > to - seconds(100)),
            "{skill:?}"
        );
        rows += stored.rows;
    }
    rows
}

/// Calls `due` until nothing is due, as `deft tick` does.
fn tick(skill: &TimedSkill, stored: &mut StoredSkill, now: Timestamp, dice: &mut Dice) {
    while let Some(next) = stored.next.filter(|next| *next <= now) {
        let due = due(&skill.schedule, next, now, &skill.rule, stored.rests_until);
        for passed in &due.passed {
            let last = passed.until.unwrap_or(passed.slot);
            if let OmitReason::Coalesced { into } = passed.why {
                assert_eq!(due.fire.map(|slot| slot.at), Some(into));
            }
            stored.take(&skill.schedule, passed.slot, last, passed.count);
        }
        if let Some(slot) = due.fire {
            assert!(stored.rests_until.is_none_or(|until| slot.at >= until));
            stored.take(&skill.schedule, slot.at, slot.at, 1);
            stored.streak = if dice.roll(4) == 0 {
                stored.streak + 1
            } else {
                0
            };
            // The fifth failure disables the skill; this test immediately enables it again.
            let wait = backoff(stored.streak).unwrap_or_default();
            stored.rests_until = (stored.streak > 0).then_some(now + wait);
        }
        stored.next = due.next;
    }
}

#[test]
fn every_slot_of_two_years_has_exactly_one_row() {
    let rows: u64 = (1..=2).map(two_years).sum();
    assert!(rows > 500_000, "{rows}");
}

/// The simulation also gives each slot exactly one row, in chronological order.
#[test]
fn a_simulation_omits_no_slot() {
    let mut dice = Dice(7);
    let (from, to) = (at("2026-02-01T00:00Z"), at("2026-05-01T00:00Z"));
    let skills = skills(&mut dice, from);
    let mut down = downtimes(&mut dice, from, to);
    // The machine is down at the end.
    down.push(to - seconds(40_000)..to + seconds(5));
    down.reverse();
    let mut counts = vec![0u64; skills.len()];
    let mut last = from;
    for row in simulate(&skills, from, to, &down) {
        assert!(row.at >= last && row.at <= to && row.slot <= row.at);
        let during = down.iter().any(|range| range.contains(&row.at));
        assert_eq!(row.what == SlotDecision::Open, during, "{row:?}");
        last = row.at;
        let index = skills
            .iter()
            .position(|skill| std::ptr::eq(skill, row.skill));
        counts[index.expect("a skill")] += row.count;
    }
    for (skill, count) in skills.iter().zip(counts) {
        let slots = std::iter::successors(skill.schedule.next_after(from), |slot| {
            skill.schedule.next_after(*slot)
        });
        let slots = slots.take_while(|slot| *slot <= to).count();
        assert_eq!(count, slots as u64, "{skill:?}");
    }
}

#[test]
fn a_night_of_downtime_across_a_clock_change() {
    let zone = parse_zone("Europe/Berlin").expect("a zone");
    let skill = |name: &str, pattern: &str, misfire| TimedSkill {
        name: name.to_owned(),
        schedule: Schedule::Cron {
            cron: Cron::parse(pattern).expect("an expression"),
            zone: zone.clone(),
        },
        rule: Rule {
            misfire,
            window: SignedDuration::from_hours(3),
        },
    };
    let skills = [
        skill("backup", "30 2 * * *", Misfire::Once),
        skill("poll", "*/30 * * * *", Misfire::Once),
        skill("digest", "0 */2 * * *", Misfire::All),
        skill("ping", "0 * * * *", Misfire::Skip),
    ];
    let down = [at("2026-03-28T23:15Z")..at("2026-03-29T04:20Z")];
    let rows = simulate(
        &skills,
        at("2026-03-28T22:10Z"),
        at("2026-03-29T05:00Z"),
        &down,
    );
    let lines = rows.map(|row| {
        let until = row.until.map_or_else(String::new, |until| {
            format!(" to {} ({})", show(until, &zone), row.count)
        });
        format!(
            "{} {} {} {}{until}: {}\n",
            show(row.at, &zone),
            row.skill.name,
            row.what.word(),
            show(row.slot, &zone),
            row.reason(&zone).unwrap_or_default(),
        )
    });
    insta::assert_snapshot!(lines.collect::<String>());
}
