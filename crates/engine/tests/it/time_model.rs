//! A simple model of the lives of skills: it steps through slots one by one, and shares no code with the
//! implementation that `time_lives.rs` compares it with.

use std::collections::BTreeMap;

use deft_model::{DisabledReason, Outcome};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;

use crate::time_world::{at, clock};

pub(crate) const SKILLS: usize = 6;
const LATE: i64 = 90;
const WINDOW: i64 = 2 * 3600;
const LADDER: [i64; 4] = [60, 300, 900, 3600];
const DAY: i64 = 24 * 3600;

/// Seconds since 13:00, the start of the test.
pub(crate) type Second = i64;

pub(crate) fn instant(second: Second) -> Timestamp {
    at("13:00") + SignedDuration::from_secs(second)
}

/// Slots are at least five minutes apart, so that at most one due slot is on time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Timing {
    Interval(i64),
    Cron(i64),
    At(Second),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Misfire {
    Once,
    Skip,
    All,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Content {
    timing: Timing,
    misfire: Misfire,
    edition: u8,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write(usize, Content),
    Remove(usize),
    Enable(usize),
    Disable(usize),
    Mood(usize, bool),
    Pass(Second),
    Restart,
}

/// The state of a skill in the model.
#[derive(Clone, Debug)]
pub(crate) struct Skill {
    content: Content,
    has_file: bool,
    off: Option<DisabledReason>,
    streak: u32,
    rests_until: Option<Second>,
    alerted: Option<Second>,
    anchor: Second,
    next: Option<Second>,
    pub(crate) rows: Vec<Row>,
    pub(crate) told: Vec<&'static str>,
}

/// First slot, last slot, number of slots, and outcome.
pub(crate) type Row = (Second, Second, u64, Outcome);

#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) now: Second,
    pub(crate) skills: BTreeMap<usize, Skill>,
    fails: [bool; SKILLS],
}

impl Content {
    fn after(&self, anchor: Second, t: Second) -> Option<Second> {
        match self.timing {
            Timing::Interval(minutes) => {
                let every = minutes * 60;
                let mut slot = anchor + every;
                while slot <= t {
                    slot += every;
                }
                Some(slot)
            }
            // The test starts at a full hour.
            Timing::Cron(minutes) => Some((t.div_euclid(minutes * 60) + 1) * minutes * 60),
            Timing::At(slot) => (slot > t).then_some(slot),
        }
    }

    fn is_one_shot(&self) -> bool {
        matches!(self.timing, Timing::At(_))
    }

    /// Returns why a new skill with this content does not fire at this second; `None` if it does.
    fn first(&self, now: Second) -> Option<DisabledReason> {
        match self.timing {
            Timing::At(slot) if slot <= now => Some(DisabledReason::OneShotDone),
            _ => None,
        }
    }

    pub(crate) fn text(&self, n: usize) -> String {
        let timing = match self.timing {
            Timing::Interval(minutes) => format!("interval_minutes: {minutes}"),
            Timing::Cron(minutes) => format!("schedule: \"*/{minutes} * * * *\""),
            Timing::At(second) => format!("at: \"{}\"", instant(second)),
        };
        let misfire = match self.misfire {
            Misfire::Once => "once",
            Misfire::Skip => "skip",
            Misfire::All => "all",
        };
        format!(
            "name: skill{n}\ndescription: Edition {}\ntrigger_config: {{{timing}}}\nmisfire: {misfire}\nmisfire_window: 2h\nnotify_on_completion: false\nsteps:\n  - id: only\n    tool: tool{n}\n",
            self.edition
        )
    }
}

impl Skill {
    fn new(content: Content, now: Second) -> Self {
        let off = content.first(now);
        let next = content.after(now, now).filter(|_| off.is_none());
        Self {
            content,
            has_file: true,
            off,
            streak: 0,
            rests_until: None,
            alerted: None,
            anchor: now,
            next,
            rows: Vec::new(),
            told: Vec::new(),
        }
    }

    fn write(&mut self, content: Content, now: Second) {
        self.has_file = true;
        let gone = self.off == Some(DisabledReason::FileRemoved);
        if content == self.content && !gone {
            return;
        }
        let before = self.clone();
        let fresh = Skill::new(content, now);
        let same_timing = (fresh.content.timing, fresh.content.misfire)
            == (before.content.timing, before.content.misfire);
        (self.content, self.streak, self.rests_until) = (fresh.content, 0, None);
        self.off = match before.off {
            Some(DisabledReason::User) => Some(DisabledReason::User),
            _ => fresh.off,
        };
        if self.off.is_some() {
            self.next = None;
        } else if !same_timing || before.off.is_some() {
            (self.anchor, self.next) = (fresh.anchor, fresh.next);
        }
    }

    fn remove(&mut self) {
        if self.has_file && self.off.is_none() {
            self.off = Some(DisabledReason::FileRemoved);
            self.next = None;
        }
        self.has_file = false;
    }

    fn enable(&mut self, now: Second) {
        if !self.has_file || self.content.first(now).is_some() {
            return;
        }
        if self.off.take().is_some() {
            (self.anchor, self.next) = (now, self.content.after(now, now));
        }
        (self.streak, self.rests_until, self.alerted) = (0, None, None);
    }

    fn disable(&mut self) {
        (self.off, self.next) = (Some(DisabledReason::User), None);
    }

    /// Decides every due slot.
    fn decide_slots(&mut self, now: Second, fails: bool) {
        while self.off.is_none() && self.next.is_some_and(|next| next <= now) {
            self.decide_slot(now, fails);
        }
    }

    fn decide_slot(&mut self, now: Second, fails: bool) {
        let mut slots = self.come(now);
        let rest = self.rests_until.unwrap_or(Second::MIN);
        self.pass(&mut slots, Outcome::Skipped, |slot| slot < rest);
        let late = |slot: Second| now - slot > LATE;
        let too_late = |slot: Second| late(slot) && now - slot > WINDOW;
        match self.content.misfire {
            Misfire::Skip => self.pass(&mut slots, Outcome::Missed, late),
            Misfire::All => self.pass(&mut slots, Outcome::Missed, too_late),
            Misfire::Once => {
                let on_time = slots.iter().copied().find(|slot| !late(*slot));
                match on_time.or(slots.last().copied()) {
                    Some(stand_in) if too_late(stand_in) => {
                        self.pass(&mut slots, Outcome::Missed, late);
                    }
                    Some(stand_in) => {
                        self.pass(&mut slots, Outcome::Missed, |slot| slot < stand_in);
                    }
                    None => {}
                }
            }
        }
        match slots.first() {
            Some(slot) => self.fire(*slot, now, fails),
            None if self.content.is_one_shot() => {
                (self.off, self.next) = (Some(DisabledReason::OneShotDone), None);
                self.told.push("failure");
            }
            None => {}
        }
    }

    /// Returns the due slots without a row.
    fn come(&self, now: Second) -> Vec<Second> {
        let Some(first) = self.next else {
            return Vec::new();
        };
        if self.content.is_one_shot() {
            return vec![first];
        }
        let mut slots = vec![first];
        while let Some(next) = self.content.after(self.anchor, slots[slots.len() - 1]) {
            if next > now {
                break;
            }
            slots.push(next);
        }
        slots
    }

    /// Stores one row for the leading slots that match `fits`, and removes them.
    fn pass(&mut self, slots: &mut Vec<Second>, how: Outcome, fits: impl Fn(Second) -> bool) {
        let count = slots.iter().take_while(|slot| fits(**slot)).count();
        let passed: Vec<Second> = slots.drain(..count).collect();
        if let (Some(first), Some(last)) = (passed.first(), passed.last()) {
            self.rows.push((*first, *last, count as u64, how));
            self.next = match slots.first() {
                Some(next) => Some(*next),
                None if self.content.is_one_shot() => None,
                None => self.content.after(self.anchor, *last),
            };
        }
    }

    fn fire(&mut self, slot: Second, now: Second, fails: bool) {
        self.next = match self.content.timing {
            Timing::At(_) => None,
            _ => self.content.after(self.anchor, slot),
        };
        let outcome = if fails {
            Outcome::Error
        } else {
            Outcome::Success
        };
        self.rows.push((slot, slot, 1, outcome));
        if !fails {
            return self.succeed(now - slot > LATE);
        }
        self.streak += 1;
        let Some(rest) = LADDER.get(self.streak as usize - 1) else {
            (self.off, self.next) = (Some(DisabledReason::Failures), None);
            (self.rests_until, self.alerted) = (None, Some(now));
            self.told.push("disabled");
            return;
        };
        // Backoff counts from the slot, unless it was late.
        let until = if now - slot > LATE { now } else { slot } + rest;
        match self.content.timing {
            Timing::At(_) => (self.rests_until, self.next) = (None, Some(until.max(now))),
            _ => self.rests_until = Some(until),
        }
        if self.alerted.is_none_or(|then| now - then >= DAY) {
            self.alerted = Some(now);
            self.told.push("failure");
        }
    }

    fn succeed(&mut self, late: bool) {
        (self.streak, self.rests_until) = (0, None);
        if self.alerted.take().is_some() {
            self.told.push("recovery");
        } else if late && self.content.is_one_shot() {
            self.told.push("completion");
        }
        if self.content.is_one_shot() {
            (self.off, self.next) = (Some(DisabledReason::OneShotDone), None);
        }
    }

    /// Returns the line that `standing` should return.
    pub(crate) fn line(&self) -> String {
        let mut line = match self.off {
            Some(why) => format!("off ({why})"),
            None => "on".to_owned(),
        };
        if self.streak > 0 {
            line.push_str(&format!(", streak {}", self.streak));
        }
        for (what, second) in [("backs off until", self.rests_until), ("next", self.next)] {
            if let Some(second) = second {
                line.push_str(&format!(", {what} {}", clock(instant(second))));
            }
        }
        line
    }
}

fn content(now: Second) -> impl Strategy<Value = Content> {
    let timing = prop_oneof![
        prop::sample::select(vec![5, 7, 45, 300]).prop_map(Timing::Interval),
        prop::sample::select(vec![5, 20, 60]).prop_map(Timing::Cron),
        (-100i64..20_000).prop_map(move |ahead| Timing::At(now + ahead)),
    ];
    let misfire = prop::sample::select(vec![Misfire::Once, Misfire::Skip, Misfire::All]);
    (timing, misfire, 0u8..2).prop_map(|(timing, misfire, edition)| Content {
        timing,
        misfire,
        edition,
    })
}

impl ReferenceStateMachine for Model {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self::default()).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Step> {
        let which = 0..SKILLS;
        let now = model.now;
        prop_oneof![
            4 => (which.clone(), content(now)).prop_map(|(n, content)| Step::Write(n, content)),
            1 => which.clone().prop_map(Step::Remove),
            2 => which.clone().prop_map(Step::Enable),
            1 => which.clone().prop_map(Step::Disable),
            2 => (which, any::<bool>()).prop_map(|(n, fails)| Step::Mood(n, fails)),
            6 => (1i64..400).prop_map(Step::Pass),
            4 => (60i64..8000).prop_map(Step::Pass),
            1 => (20_000i64..150_000).prop_map(Step::Pass),
            1 => Just(Step::Restart),
        ]
        .boxed()
    }

    fn apply(mut model: Self, step: &Step) -> Self {
        let now = model.now;
        let mut of = |n: &usize, change: &dyn Fn(&mut Skill)| {
            model.skills.get_mut(n).map(change).unwrap_or_default();
        };
        match step {
            Step::Write(n, content) => match model.skills.get_mut(n) {
                Some(skill) => skill.write(content.clone(), now),
                None => {
                    model.skills.insert(*n, Skill::new(content.clone(), now));
                }
            },
            Step::Remove(n) => of(n, &Skill::remove),
            Step::Enable(n) => of(n, &|skill| skill.enable(now)),
            Step::Disable(n) => of(n, &Skill::disable),
            Step::Mood(n, fails) => model.fails[*n] = *fails,
            Step::Pass(seconds) => {
                model.now += seconds;
                for (n, skill) in &mut model.skills {
                    skill.decide_slots(model.now, model.fails[*n]);
                }
            }
            Step::Restart => {}
        }
        model
    }
}
