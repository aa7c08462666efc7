//! Rules about notices, facts and settings.

use super::support::{append, at, events, start, success, together};
use deft_store::{
    FactFilter, FactRow, NewFact, NewNotice, NoticeEnd, NoticeFilter, NoticeRow, NoticeStatus,
    Store, Write,
};

fn notice(key: &str, second: i64) -> NewNotice {
    NewNotice {
        key: key.to_owned(),
        skill: None,
        body: format!(r#"{{"text":"{key}"}}"#),
        at: at(second),
    }
}

async fn all(store: &dyn Store) -> Vec<NoticeRow> {
    store.notices(NoticeFilter::default()).await.unwrap()
}

async fn take(store: &dyn Store, second: i64) -> Vec<String> {
    let taken = store.take_notices(at(second), at(second + 60), 10).await;
    taken
        .unwrap()
        .into_iter()
        .map(|notice| notice.key)
        .collect()
}

pub(super) async fn a_notice_is_stored_with_the_end(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let told = || Write::Notice {
        key: "done".to_owned(),
        body: "{}".to_owned(),
        at: at(9),
    };
    let mut twice = success(9);
    twice.writes = vec![told(), told()];
    append(store, &lease, twice).await;
    let notices = all(store).await;
    let [told] = notices.as_slice() else {
        panic!("told {} times", notices.len());
    };
    assert_eq!(told.run, Some(lease.run.clone()));
    assert_eq!(told.skill.as_deref(), Some("a"));
    assert_eq!(
        (told.status, told.try_at),
        (NoticeStatus::Queued, Some(at(9)))
    );
    let filter = NoticeFilter {
        run: Some(lease.run),
        ..NoticeFilter::default()
    };
    assert_eq!(store.notices(filter).await.unwrap(), notices);
}

pub(super) async fn a_notice_key_is_stored_once(store: &dyn Store) {
    assert!(store.add_notice(notice("k", 1)).await.unwrap());
    assert!(!store.add_notice(notice("k", 2)).await.unwrap());
    assert_eq!(all(store).await.len(), 1);
}

pub(super) async fn a_claimed_notice_is_not_claimed_again(store: &dyn Store) {
    store.add_notice(notice("b", 2)).await.unwrap();
    store.add_notice(notice("a", 5)).await.unwrap();
    assert_eq!(store.next_notice().await.unwrap(), Some(at(2)));
    assert_eq!(take(store, 1).await, Vec::<String>::new());
    assert_eq!(take(store, 10).await, ["b", "a"]);
    assert_eq!(take(store, 20).await, Vec::<String>::new());
    // The process that took them has died, so they are due again.
    assert_eq!(take(store, 71).await, ["b", "a"]);
    assert_eq!(all(store).await[0].attempts, 2);
}

pub(super) async fn a_sent_notice_is_finished(store: &dyn Store) {
    store.add_notice(notice("k", 1)).await.unwrap();
    let taken = store.take_notices(at(1), at(60), 1).await.unwrap();
    let sent = NoticeEnd::Sent {
        receipt: "message 7".to_owned(),
    };
    store.end_notice(taken[0].id, sent, at(3)).await.unwrap();
    let late = NoticeEnd::Dead {
        error: "late".to_owned(),
    };
    store.end_notice(taken[0].id, late, at(4)).await.unwrap();
    let latest = all(store).await.remove(0);
    assert_eq!((latest.status, latest.try_at), (NoticeStatus::Sent, None));
    assert_eq!(latest.receipt.as_deref(), Some("message 7"));
    assert_eq!((latest.error, latest.ended_at), (None, Some(at(3))));
    assert_eq!(store.next_notice().await.unwrap(), None);
}

pub(super) async fn a_failed_notice_is_retried_up_to_a_limit(store: &dyn Store) {
    store.add_notice(notice("k", 1)).await.unwrap();
    let id = store.take_notices(at(1), at(60), 1).await.unwrap()[0].id;
    let again = NoticeEnd::Again {
        at: at(30),
        error: "busy".to_owned(),
    };
    store.end_notice(id, again, at(2)).await.unwrap();
    assert_eq!(take(store, 29).await, Vec::<String>::new());
    assert_eq!(take(store, 30).await, ["k"]);
    let dead = NoticeEnd::Dead {
        error: "gone".to_owned(),
    };
    store.end_notice(id, dead, at(31)).await.unwrap();
    let latest = all(store).await.remove(0);
    assert_eq!((latest.status, latest.attempts), (NoticeStatus::Dead, 2));
    assert_eq!(latest.error.as_deref(), Some("gone"));
    assert_eq!(take(store, 900).await, Vec::<String>::new());
    assert_eq!(store.retry_notices(Some(id + 1), at(40)).await.unwrap(), 0);
    assert_eq!(store.retry_notices(None, at(40)).await.unwrap(), 1);
    assert_eq!(take(store, 40).await, ["k"]);
}

pub(super) async fn a_try_that_could_not_start_is_not_counted(store: &dyn Store) {
    store.add_notice(notice("k", 1)).await.unwrap();
    let later = |second| NoticeEnd::Later {
        at: at(second),
        error: "the server is down".to_owned(),
    };
    for second in [1, 30] {
        let taken = store.take_notices(at(second), at(second + 60), 1).await;
        let taken = taken.unwrap();
        assert_eq!((taken.len(), taken[0].attempts), (1, 1));
        store
            .end_notice(taken[0].id, later(second + 29), at(second + 1))
            .await
            .unwrap();
        let latest = all(store).await.remove(0);
        assert_eq!(
            (
                latest.status,
                latest.attempts,
                latest.try_at,
                latest.ended_at
            ),
            (NoticeStatus::Queued, 0, Some(at(second + 29)), None)
        );
        assert_eq!(latest.error.as_deref(), Some("the server is down"));
    }
    let id = all(store).await[0].id;
    store.end_notice(id, later(99), at(60)).await.unwrap();
    assert_eq!(all(store).await[0].attempts, 0, "never less than none");
}

pub(super) async fn delivered_parts_are_stored(store: &dyn Store) {
    store.add_notice(notice("k", 1)).await.unwrap();
    let taken = async |second| {
        let taken = store.take_notices(at(second), at(second + 60), 1).await;
        taken.unwrap().remove(0)
    };
    let first = taken(1).await;
    assert_eq!(first.parts, 0);
    store.keep_parts(first.id, 1).await.unwrap();
    store.keep_parts(first.id, 2).await.unwrap();
    // A late report does not lower the number of parts.
    store.keep_parts(first.id, 1).await.unwrap();
    store.keep_parts(first.id + 1, 7).await.unwrap();
    let again = NoticeEnd::Again {
        at: at(30),
        error: "busy".to_owned(),
    };
    store.end_notice(first.id, again, at(2)).await.unwrap();
    assert_eq!(taken(30).await.parts, 2);
    let dead = NoticeEnd::Dead {
        error: "gone".to_owned(),
    };
    store.end_notice(first.id, dead, at(31)).await.unwrap();
    store.retry_notices(None, at(40)).await.unwrap();
    assert_eq!(taken(40).await.parts, 2);
}

pub(super) async fn facts_are_found(store: &dyn Store) {
    let fact = |category: &str, text: &str| NewFact {
        agent_id: "orchestrator".to_owned(),
        category: category.to_owned(),
        text: text.to_owned(),
        source: Some("r1".to_owned()),
        at: at(1),
    };
    store
        .save_fact(fact("error", "Mail is down"))
        .await
        .unwrap();
    store.save_fact(fact("other", "tea")).await.unwrap();
    let lease = start(store, "r1", "a").await;
    let mut batch = events(&["x"]);
    batch.writes = vec![Write::Fact(fact("error", "mail is full"))];
    append(store, &lease, batch).await;
    let texts = async |filter: FactFilter| {
        let rows = store.facts(filter).await.unwrap();
        let texts: Vec<String> = rows.into_iter().map(|row| row.fact.text).collect();
        texts
    };
    let any = FactFilter::default();
    assert_eq!(
        texts(any.clone()).await,
        ["mail is full", "tea", "Mail is down"]
    );
    let errors = FactFilter {
        category: Some("error".to_owned()),
        text: Some("MAIL".to_owned()),
        agent_id: Some("orchestrator".to_owned()),
        limit: Some(1),
    };
    assert_eq!(texts(errors).await, ["mail is full"]);
    let nobody = FactFilter {
        agent_id: Some("nobody".to_owned()),
        ..any
    };
    assert_eq!(texts(nobody).await, Vec::<String>::new());
}

pub(super) async fn facts_are_deleted_permanently(store: &dyn Store) {
    let fact = |text: &str| NewFact {
        agent_id: "orchestrator".to_owned(),
        category: "general".to_owned(),
        text: text.to_owned(),
        source: None,
        at: at(1),
    };
    let tea = store.save_fact(fact("tea")).await.unwrap().0.id;
    let milk = store.save_fact(fact("milk")).await.unwrap().0.id;
    assert!(store.delete_fact(milk).await.unwrap());
    assert!(!store.delete_fact(milk).await.unwrap());
    let sugar = store.save_fact(fact("sugar")).await.unwrap().0.id;
    assert!(sugar > milk, "a number is given once");
    assert!(!store.delete_fact(milk).await.unwrap());
    let rows = store.facts(FactFilter::default()).await.unwrap();
    let kept: Vec<(i64, &str)> = rows
        .iter()
        .map(|row| (row.id, row.fact.text.as_str()))
        .collect();
    assert_eq!(kept, [(sugar, "sugar"), (tea, "tea")]);
}

/// A fact that several writers save concurrently is stored once, and all of them get the stored one.
pub(super) async fn a_fact_is_kept_once(store: &dyn Store) {
    let fact = |category: &str, text: &str, second| NewFact {
        agent_id: format!("agent {second}"),
        category: category.to_owned(),
        text: text.to_owned(),
        source: None,
        at: at(second),
    };
    let at_once = [
        fact("person", "Ada likes tea", 1),
        fact("person", "ada likes TEA", 2),
        fact("person", "Ada likes tea", 3),
    ];
    let requests = at_once.map(|fact| store.save_fact(fact)).into();
    let saved: Vec<(FactRow, bool)> = together(requests)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let new: Vec<&FactRow> = saved
        .iter()
        .filter(|(_, new)| *new)
        .map(|(row, _)| row)
        .collect();
    assert_eq!(new.len(), 1, "{saved:?}");
    assert!(saved.iter().all(|(row, _)| row == new[0]), "{saved:?}");
    let rows = store.facts(FactFilter::default()).await.unwrap();
    assert_eq!(rows, [new[0].clone()]);
    for (category, text) in [("general", "Ada likes tea"), ("person", "Ada likes tea.")] {
        let (_, new) = store.save_fact(fact(category, text, 4)).await.unwrap();
        assert!(new, "{category}: {text} is another fact");
    }
}

pub(super) async fn settings_are_replaced(store: &dyn Store) {
    assert_eq!(store.setting("s").await.unwrap(), None);
    store.keep_setting("s", "1").await.unwrap();
    store.keep_setting("s", "2").await.unwrap();
    assert_eq!(store.setting("s").await.unwrap().as_deref(), Some("2"));
}

pub(super) async fn a_changed_setting_is_not_replaced(store: &dyn Store) {
    assert!(!store.replace_setting("s", Some("0"), "1").await.unwrap());
    assert_eq!(store.setting("s").await.unwrap(), None);
    assert!(store.replace_setting("s", None, "1").await.unwrap());
    assert!(!store.replace_setting("s", None, "2").await.unwrap());
    assert!(!store.replace_setting("s", Some("0"), "2").await.unwrap());
    assert_eq!(store.setting("s").await.unwrap().as_deref(), Some("1"));
    assert!(store.replace_setting("s", Some("1"), "2").await.unwrap());
    assert_eq!(store.setting("s").await.unwrap().as_deref(), Some("2"));
}
