//! Rules about skills, their slots, and the effect of ended runs on them.

use deft_model::{
    Cause, DEFAULT_AGENT, DisabledReason, Outcome, Overlap, RunId, Tier, Trigger, WaitKind,
};
use jiff::Timestamp;

use super::support::{admission, append, at, event, first_claim, id, row, success};
use deft_store::WaitReason;
use deft_store::{
    AdmissionResult, Batch, Error, NewNotice, NewSkill, NoticeFilter, PassedSlots, PutResult,
    RunState, SchedulePosition, SkillChange, SkillFilter, SkillOrigin, SkillProperties, SkillRow,
    SkillState, SkillUpdate, SlotStep, Store,
};

fn skill(name: &str, next_at: Option<Timestamp>) -> NewSkill {
    NewSkill {
        text: SkillProperties {
            skill: name.to_owned(),
            agent_id: DEFAULT_AGENT.to_owned(),
            name: name.to_uppercase(),
            origin: SkillOrigin::Record,
            revision: "sha256:7".to_owned(),
            tier: Tier::Direct,
            trigger: Trigger::Cron,
            timing: Some(r#"{"interval_minutes":1}"#.to_owned()),
            required_tools: vec!["log".to_owned()],
        },
        content: Some(format!(r#"{{"name":"{name}"}}"#)),
        standing: SkillState::default(),
        timeline: SchedulePosition {
            anchor: Some(at(0)),
            next_at,
        },
        replaces: None,
        at: at(1),
    }
}

async fn put(store: &dyn Store, new: NewSkill) -> SkillRow {
    match store.put_skills(vec![new]).await.unwrap().remove(0) {
        PutResult::Stored(row) => *row,
        PutResult::Refused(found) => panic!("refused for {found:?}"),
    }
}

/// File skills that tools changed are listed with their overlays, without records.
pub(super) async fn changed_files_are_listed(store: &dyn Store) {
    let file = |name: &str, content: Option<&str>| {
        let mut new = skill(name, None);
        new.text.origin = SkillOrigin::File;
        new.content = content.map(str::to_owned);
        new
    };
    put(store, skill("record", None)).await;
    put(store, file("plain", None)).await;
    let changed = put(store, file("changed", Some(r#"{"changes":{}}"#))).await;
    put(store, file("also", Some("{}"))).await;
    let all = |texts: &[(&str, &str)]| -> Vec<(String, String)> {
        let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        texts.iter().map(owned).collect()
    };
    assert_eq!(
        store.changed_files().await.unwrap(),
        all(&[("also", "{}"), ("changed", r#"{"changes":{}}"#)])
    );
    let mut back = file("changed", None);
    back.replaces = Some((changed.id, changed.version));
    put(store, back).await;
    assert_eq!(store.changed_files().await.unwrap(), all(&[("also", "{}")]));
}

async fn standing(store: &dyn Store, id: i64) -> SkillRow {
    store.skill_by_id(id).await.unwrap().unwrap()
}

fn step(skill: &SkillRow, from: i64, to: Option<i64>) -> SlotStep {
    SlotStep {
        id: skill.id,
        from: at(from),
        backoff_until: skill.standing.backoff_until,
        to: to.map(at),
        passed: Vec::new(),
        last: false,
        notice: None,
        at: at(from),
    }
}

fn missed_slots(run: &str, slot: i64, until: i64, count: u64) -> PassedSlots {
    PassedSlots {
        run: id(run),
        slot: at(slot),
        until: Some(at(until)),
        count,
        outcome: Outcome::Missed,
        error: r#"{"class":"other","message":"nobody was there"}"#.to_owned(),
    }
}

pub(super) async fn a_skill_is_read_as_it_was_stored(store: &dyn Store) {
    let stored = put(store, skill("a", Some(at(60)))).await;
    assert_eq!(standing(store, stored.id).await, stored);
    assert_eq!(store.skill("a").await.unwrap(), Some(stored.clone()));
    assert_eq!(stored.text, skill("a", None).text);
    assert_eq!((stored.created_at, stored.version), (at(1), 1));
    let content = store.skill_content(stored.id).await.unwrap();
    assert_eq!(content.as_deref(), Some(r#"{"name":"a"}"#));
}

pub(super) async fn a_name_belongs_to_one_skill(store: &dyn Store) {
    let first = put(store, skill("a", None)).await;
    let again = store.put_skills(vec![skill("a", None)]).await.unwrap();
    assert_eq!(again, [PutResult::Refused(Some(Box::new(first.clone())))]);
    let other = put(store, skill("b", None)).await;
    let mut takes = skill("a", None);
    takes.replaces = Some((other.id, other.version));
    let refused = store.put_skills(vec![takes]).await.unwrap();
    assert_eq!(refused, [PutResult::Refused(Some(Box::new(first)))]);
}

pub(super) async fn a_new_content_replaces_the_old(store: &dyn Store) {
    let old = put(store, skill("a", Some(at(60)))).await;
    let mut new = skill("b", Some(at(90)));
    new.replaces = Some((old.id, old.version));
    new.at = at(5);
    let new = put(store, new).await;
    assert_eq!((new.id, new.version), (old.id, 2));
    assert_eq!((new.created_at, new.updated_at), (at(1), at(5)));
    assert_eq!(store.skill("a").await.unwrap(), None);
    let mut late = skill("c", None);
    late.replaces = Some((old.id, old.version));
    let refused = store.put_skills(vec![late]).await.unwrap();
    assert_eq!(refused, [PutResult::Refused(Some(Box::new(new.clone())))]);
    assert_eq!(store.remove_skill(old.id).await.unwrap(), Some(new));
    assert_eq!(store.skill_by_id(old.id).await.unwrap(), None);
    let fresh = put(store, skill("d", None)).await;
    assert!(fresh.id > old.id, "a number is not used twice");
}

pub(super) async fn due_skills_are_enabled_and_past_their_slot(store: &dyn Store) {
    let late = put(store, skill("late", Some(at(20)))).await;
    let soon = put(store, skill("soon", Some(at(10)))).await;
    put(store, skill("never", None)).await;
    let mut off = skill("off", Some(at(5)));
    off.standing.disabled = Some(DisabledReason::User);
    put(store, off).await;
    assert_eq!(store.next_due().await.unwrap(), Some(at(10)));
    let due = store.due_skills(None, at(20), 10).await.unwrap();
    assert_eq!(due, [soon.clone(), late.clone()]);
    assert_eq!(store.due_skills(None, at(20), 1).await.unwrap(), [soon]);
    assert_eq!(store.due_skills(None, at(9), 10).await.unwrap(), []);
    let later = store.due_skills(Some(at(10)), at(20), 10).await.unwrap();
    assert_eq!(later, [late]);
}

pub(super) async fn a_slot_starts_one_run(store: &dyn Store) {
    let skill = put(store, skill("a", Some(at(60)))).await;
    let fire = |run: &str| {
        let mut new = admission(run, "a");
        new.slot = Some(at(60));
        new.step = Some(step(&skill, 60, Some(120)));
        new
    };
    let first = store.admit(fire("r1")).await.unwrap();
    assert!(matches!(first, AdmissionResult::New { .. }));
    // A later admission finds the run; one for a slot that the skill is not at is stale.
    let AdmissionResult::Existing(found) = store.admit(fire("r2")).await.unwrap() else {
        panic!("the slot ran twice");
    };
    assert_eq!(found.id, id("r1"));
    let mut wrong = fire("r3");
    wrong.slot = Some(at(61));
    assert_eq!(store.admit(wrong).await.unwrap(), AdmissionResult::Stale);
    assert_eq!(store.next_due().await.unwrap(), Some(at(120)));
    assert_eq!(standing(store, skill.id).await.version, skill.version);
}

pub(super) async fn a_slot_decided_before_a_backoff_is_decided_again(store: &dyn Store) {
    let read = put(store, skill("a", Some(at(60)))).await;
    let mut rests = change(1);
    rests.standing.backoff_until = Some(at(300));
    let changed = store.change_skill(read.id, read.version, rests).await;
    let resting = changed.unwrap().unwrap();
    for claim in [None, Some(first_claim(Batch::default()))] {
        let mut fire = admission("r1", "a");
        fire.slot = Some(at(60));
        fire.overlap = Overlap::Skip;
        fire.step = Some(step(&read, 60, Some(120)));
        fire.claim = claim;
        assert_eq!(store.admit(fire).await.unwrap(), AdmissionResult::Stale);
    }
    let old = step(&read, 60, Some(120));
    let new = step(&resting, 60, Some(120));
    let passed = store.pass_slots(vec![old, new]).await.unwrap();
    assert_eq!(passed, [false, true]);
}

pub(super) async fn a_disabled_skill_keeps_its_next_slot(store: &dyn Store) {
    let mut off = skill("a", Some(at(60)));
    off.standing.disabled = Some(DisabledReason::User);
    let off = put(store, off).await;
    let passed = store.pass_slots(vec![step(&off, 60, None)]).await.unwrap();
    assert_eq!(passed, [false]);
    assert_eq!(standing(store, off.id).await, off);
}

pub(super) async fn passed_slots_are_stored_as_rows(store: &dyn Store) {
    let skill = put(store, skill("a", Some(at(60)))).await;
    let mut wide = step(&skill, 60, Some(300));
    wide.passed = vec![missed_slots("m1", 60, 240, 4)];
    let wide = vec![wide.clone(), wide];
    assert_eq!(store.pass_slots(wide).await.unwrap(), [true, false]);
    let row = row(store, "m1").await;
    assert_eq!((row.slot, row.slot_until), (Some(at(60)), Some(at(240))));
    assert_eq!((row.slot_count, row.outcome), (4, Some(Outcome::Missed)));
    assert_eq!(
        (&row.cause, row.finished_at),
        (&Cause::Schedule, Some(at(60)))
    );
    assert_eq!(store.next_due().await.unwrap(), Some(at(300)));
}

pub(super) async fn the_last_slot_ends_a_skill_unless_it_runs(store: &dyn Store) {
    let once = |name: &str| skill(name, Some(at(60)));
    let gone = put(store, once("gone")).await;
    let mut last = step(&gone, 60, None);
    last.last = true;
    last.passed = vec![missed_slots("m1", 60, 60, 1)];
    last.notice = Some(NewNotice {
        key: "m1 failure".to_owned(),
        skill: Some("gone".to_owned()),
        body: "{}".to_owned(),
        at: at(60),
    });
    let twice = vec![last.clone(), last];
    assert_eq!(store.pass_slots(twice).await.unwrap(), [true, false]);
    let why = standing(store, gone.id).await.standing.disabled;
    assert_eq!(why, Some(DisabledReason::OneShotDone));
    let notices = store.notices(NoticeFilter::default()).await.unwrap();
    let notices: Vec<_> = notices.iter().map(|row| row.key.as_str()).collect();
    assert_eq!(notices, ["m1 failure"]);

    let runs = put(store, once("runs")).await;
    let mut fire = admission("r1", "runs");
    fire.slot = Some(at(60));
    let mut last = step(&runs, 60, None);
    last.last = true;
    fire.step = Some(last.clone());
    store.admit(fire).await.unwrap();
    assert_eq!(standing(store, runs.id).await.standing.disabled, None);

    let stuck = put(store, once("stuck")).await;
    store.admit(admission("r2", "stuck")).await.unwrap();
    let mut fire = admission("r3", "stuck");
    fire.slot = Some(at(60));
    fire.overlap = Overlap::Skip;
    last.id = stuck.id;
    fire.step = Some(last);
    store.admit(fire).await.unwrap();
    let why = standing(store, stuck.id).await.standing.disabled;
    assert_eq!(why, Some(DisabledReason::OneShotDone));
}

fn failed_batch(after: SkillUpdate) -> Batch {
    let mut end = success(9);
    if let RunState::Finish(finish) = &mut end.then {
        finish.outcome = Outcome::Error;
        finish.aftermath = Some(Box::new(after));
    }
    end
}

/// Returns a batch that is refused because its skill has changed, for tests that nothing else of it is
/// stored.
pub(super) async fn stale_end(store: &dyn Store) -> Batch {
    let skill = put(store, skill("changed", None)).await;
    failed_batch(SkillUpdate {
        id: skill.id,
        version: skill.version + 1,
        change: change(1),
    })
}

fn change(streak: u32) -> SkillChange {
    SkillChange {
        standing: SkillState {
            streak,
            backoff_until: Some(at(500)),
            last_run_status: Some("error".to_owned()),
            ..SkillState::default()
        },
        timeline: None,
        at: at(9),
    }
}

pub(super) async fn the_end_of_a_run_changes_its_skill(store: &dyn Store) {
    let skill = put(store, skill("a", Some(at(60)))).await;
    let lease = super::support::start(store, "r1", "a").await;
    let after = |version| SkillUpdate {
        id: skill.id,
        version,
        change: change(1),
    };
    // The change is based on an old version of the skill: nothing is stored, and the lease stays valid.
    let refused = store.append(&lease, failed_batch(after(7))).await;
    assert_eq!(refused, Err(Error::Changed { skill: skill.id }));
    assert_eq!(row(store, "r1").await.outcome, None);
    append(store, &lease, failed_batch(after(1))).await;
    let now = standing(store, skill.id).await;
    assert_eq!((now.standing, now.version), (change(1).standing, 2));
    assert_eq!(now.timeline, skill.timeline);
}

pub(super) async fn the_end_of_a_deleted_skill_is_stored(store: &dyn Store) {
    let skill = put(store, skill("a", None)).await;
    let lease = super::support::start(store, "r1", "a").await;
    store.remove_skill(skill.id).await.unwrap();
    let after = SkillUpdate {
        id: skill.id,
        version: 1,
        change: change(1),
    };
    append(store, &lease, failed_batch(after)).await;
    assert_eq!(row(store, "r1").await.outcome, Some(Outcome::Error));
}

pub(super) async fn a_change_is_applied_once(store: &dyn Store) {
    let skill = put(store, skill("a", Some(at(60)))).await;
    let mut new = change(2);
    new.timeline = Some(SchedulePosition {
        anchor: None,
        next_at: Some(at(90)),
    });
    let changed = store.change_skill(skill.id, 1, new.clone()).await.unwrap();
    assert_eq!(changed, Some(standing(store, skill.id).await));
    assert_eq!(store.next_due().await.unwrap(), Some(at(90)));
    let late = store.change_skill(skill.id, 1, new).await.unwrap();
    assert_eq!(late, None);
}

pub(super) async fn skills_are_listed_by_name(store: &dyn Store) {
    for name in ["c", "a", "b"] {
        put(store, skill(name, None)).await;
    }
    let mut off = skill("d", None);
    off.standing.disabled = Some(DisabledReason::MissingTools);
    "other".clone_into(&mut off.text.agent_id);
    off.text.origin = SkillOrigin::File;
    off.text.trigger = Trigger::Manual;
    put(store, off).await;
    let names = async |filter: SkillFilter| {
        let rows = store.skills(filter).await.unwrap();
        let names: Vec<String> = rows.into_iter().map(|row| row.text.skill).collect();
        names.concat()
    };
    let any = SkillFilter::default();
    assert_eq!(names(any.clone()).await, "abcd");
    let filters = [
        (
            SkillFilter {
                enabled: Some(true),
                ..any.clone()
            },
            "abc",
        ),
        (
            SkillFilter {
                enabled: Some(false),
                ..any.clone()
            },
            "d",
        ),
        (
            SkillFilter {
                agent_id: Some("other".into()),
                ..any.clone()
            },
            "d",
        ),
        (
            SkillFilter {
                trigger: Some(Trigger::Cron),
                ..any.clone()
            },
            "abc",
        ),
        (
            SkillFilter {
                origin: Some(SkillOrigin::File),
                ..any.clone()
            },
            "d",
        ),
        (
            SkillFilter {
                name: Some("B".into()),
                ..any.clone()
            },
            "b",
        ),
        (
            SkillFilter {
                disabled: Some(DisabledReason::MissingTools),
                ..any.clone()
            },
            "d",
        ),
        (
            SkillFilter {
                limit: Some(2),
                ..any
            },
            "ab",
        ),
    ];
    for (filter, expected) in filters {
        assert_eq!(names(filter.clone()).await, expected, "{filter:?}");
        if filter.limit.is_none() {
            let count = store.count_skills(filter).await.unwrap();
            assert_eq!(count, expected.len() as u64);
        }
    }
}

pub(super) async fn waiting_runs_are_woken_by_their_reason(store: &dyn Store) {
    let lease = super::support::start(store, "r1", "a").await;
    let park = Batch {
        events: vec![event("blocked")],
        then: RunState::Park {
            wake_at: Some(at(900)),
            waiting_for: WaitReason {
                kind: WaitKind::Tool,
                text: "tool `x`".to_owned(),
            },
        },
        ..Batch::default()
    };
    append(store, &lease, park).await;
    assert_eq!(store.next_wake().await.unwrap(), Some(at(900)));
    let wake = |kind, run: Option<RunId>| async move {
        store.wake(kind, run.as_ref(), at(50)).await.unwrap()
    };
    assert_eq!(wake(WaitKind::Answer, None).await, 0);
    assert_eq!(wake(WaitKind::Tool, Some(RunId::new("r2"))).await, 0);
    assert_eq!(super::support::next(store, 60).await, None);
    assert_eq!(wake(WaitKind::Tool, Some(RunId::new("r1"))).await, 1);
    assert_eq!(wake(WaitKind::Tool, None).await, 1);
    assert_eq!(store.next_wake().await.unwrap(), Some(at(50)));
    assert_eq!(super::support::next(store, 60).await.as_deref(), Some("r1"));
}

pub(super) async fn held_skills_are_not_claimed(store: &dyn Store) {
    store.hold("a", true, at(3)).await.unwrap();
    assert_eq!(store.held_since("a").await.unwrap(), Some(at(3)));
    let mut fire = admission("r1", "a");
    fire.claim = Some(first_claim(Batch::default()));
    let AdmissionResult::New { lease, .. } = store.admit(fire).await.unwrap() else {
        panic!("it is new");
    };
    assert_eq!(lease, None);
    assert_eq!(super::support::next(store, 10).await, None);
    store.hold("a", false, at(4)).await.unwrap();
    assert_eq!(store.held_since("a").await.unwrap(), None);
    assert_eq!(super::support::next(store, 10).await.as_deref(), Some("r1"));
}

/// Also if the queue of the held skill, or of one at its limit, is long.
pub(super) async fn long_queues_do_not_hide_other_runs(store: &dyn Store) {
    for n in 0..200 {
        let skill = if n % 2 == 0 { "held" } else { "limited" };
        let mut fire = admission(&format!("r{n:03}"), skill);
        fire.at = at(n);
        fire.skill_limit = (skill == "limited").then_some(1);
        store.admit(fire).await.unwrap();
    }
    store.hold("held", true, at(3)).await.unwrap();
    for (n, overlap) in [
        (1, Overlap::Queue),
        (2, Overlap::Queue),
        (0, Overlap::Allow),
    ] {
        let mut fire = admission(&format!("other{n}"), "other");
        fire.at = at(300 + n);
        fire.overlap = overlap;
        store.admit(fire).await.unwrap();
    }
    // One run of the limited skill, then the oldest of the others that its turn allows.
    for expected in ["r001", "other0", "other1"] {
        let claimed = super::support::next(store, 500).await;
        assert_eq!(claimed.as_deref(), Some(expected));
    }
    assert_eq!(super::support::next(store, 500).await, None);
}
