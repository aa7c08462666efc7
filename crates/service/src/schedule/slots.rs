//! The planned slots of all skills in a period.

use deft_schedule::show;
use deft_wire::stats::{SlotList, SlotView};
use deft_wire::{Done, Failure};
use jiff::{SignedDuration, Timestamp};

use super::source::{ScheduledSkill, Source};
use super::{first_from, instant_or, next_fire};
use crate::workspace::Workspace;

/// Returns the slots of enabled skills in a period, earliest first.
pub fn slots(
    workspace: &Workspace,
    from: Option<&str>,
    to: Option<&str>,
    limit: usize,
) -> Done<SlotList> {
    let source = Source::open(workspace)?;
    let (zone, now) = (source.moment().zone.clone(), source.moment().now);
    let from = instant_or(from, &zone, now)?;
    let later = from.checked_add(SignedDuration::from_hours(24));
    let to = instant_or(to, &zone, later.unwrap_or(Timestamp::MAX))?;
    if to <= from {
        let message = format!("`to` {} is not later than `from`", show(to, &zone));
        return Err(Failure::input("bad_range", message));
    }
    let mut slots = Vec::new();
    for skill in source.all(from.min(now))? {
        slots.extend(within(&skill, from, to, limit + 1, now));
    }
    slots.sort();
    let more = slots.len() > limit;
    slots.truncate(limit);
    let view = |(at, skill)| SlotView {
        skill,
        at: show(at, &zone),
    };
    Ok(SlotList {
        from: show(from, &zone),
        to: show(to, &zone),
        slots: slots.into_iter().map(view).collect(),
        more,
    })
}

/// Returns the first slots of a skill in a period.
fn within(
    skill: &ScheduledSkill,
    from: Timestamp,
    to: Timestamp,
    limit: usize,
    now: Timestamp,
) -> Vec<(Timestamp, String)> {
    let first = next_fire(skill, now).and_then(|next| {
        if next >= from {
            Some(next)
        } else {
            first_from(&skill.timed.schedule, from)
        }
    });
    let following = |last: &Timestamp| skill.timed.schedule.next_after(*last);
    let all = std::iter::successors(first, following);
    all.take_while(|at| *at <= to)
        .take(limit)
        .map(|at| (at, skill.timed.name.clone()))
        .collect()
}
