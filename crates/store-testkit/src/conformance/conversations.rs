//! Rules about conversations: order, numbers, search, and repeated batches.

use deft_model::{MessageRole, RunId};

use super::skills::stale_end;
use super::support::{admission, admit, append, at, first_claim, id, start, success, together};
use deft_store::{
    Admission, AdmissionResult, Batch, ConversationCursor, ConversationFilter, ConversationRow,
    Error, Lease, MessageRow, NewConversation, NewMessage, Prune, SearchHit, Store, Write,
};

fn new(conversation: &str, channel: &str, second: i64) -> NewConversation {
    NewConversation {
        id: conversation.to_owned(),
        agent: "main".to_owned(),
        channel: channel.to_owned(),
        title: format!("about {conversation}"),
        run: None,
        at: at(second),
    }
}

fn message(text: &str, second: i64) -> NewMessage {
    NewMessage {
        role: MessageRole::User,
        body: format!(r#"{{"text":"{text}"}}"#),
        text: text.to_owned(),
        at: at(second),
    }
}

/// Returns a batch with messages from position `first` on.
fn say(conversation: &str, first: u32, texts: &[&str]) -> Batch {
    let messages = texts.iter().map(|text| message(text, 20)).collect();
    Batch {
        writes: vec![Write::Say {
            conversation: conversation.to_owned(),
            first,
            messages,
        }],
        ..Batch::default()
    }
}

async fn open(store: &dyn Store, conversation: &str, channel: &str, second: i64) {
    let new = new(conversation, channel, second);
    store.open_conversation(new).await.unwrap();
}

/// Adds a message outside of any run.
async fn add(store: &dyn Store, conversation: &str, text: &str, second: i64) -> Option<u64> {
    let messages = vec![message(text, second)];
    let added = store.append_messages(conversation, None, messages);
    added.await.unwrap()
}

async fn one(store: &dyn Store, conversation: &str) -> ConversationRow {
    store.conversation(conversation).await.unwrap().unwrap()
}

async fn list(store: &dyn Store, filter: ConversationFilter) -> Vec<String> {
    let rows = store.conversations(filter).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

async fn all(store: &dyn Store, conversation: &str) -> Vec<MessageRow> {
    store.messages(conversation, 0, 100).await.unwrap()
}

async fn texts(store: &dyn Store, conversation: &str) -> Vec<String> {
    let all = all(store, conversation).await;
    assert!(all.iter().map(|row| row.seq).eq(1..=all.len() as u64));
    all.into_iter().map(|row| row.text).collect()
}

/// Returns conversation and number of the messages found.
async fn find(store: &dyn Store, query: &str) -> Vec<(String, u64)> {
    let hits = store.search_conversations(query, 100).await.unwrap();
    let place = |hit: SearchHit| (hit.conversation, hit.seq);
    hits.into_iter().map(place).collect()
}

fn none() -> Vec<String> {
    Vec::new()
}

pub(super) async fn a_conversation_is_opened_once(store: &dyn Store) {
    assert_eq!(store.conversation("c1").await.unwrap(), None);
    let begun = NewConversation {
        run: Some(id("r1")),
        ..new("c1", "cli", 5)
    };
    let row = store.open_conversation(begun).await.unwrap();
    let wanted = ConversationRow {
        id: "c1".to_owned(),
        agent: "main".to_owned(),
        channel: "cli".to_owned(),
        title: "about c1".to_owned(),
        created_at: at(5),
        updated_at: at(5),
        message_count: 0,
        run: Some(id("r1")),
        archived_at: None,
    };
    assert_eq!(row, wanted);
    let again = store.open_conversation(new("c1", "telegram:1", 9)).await;
    assert_eq!(again.unwrap(), wanted);
    assert_eq!(one(store, "c1").await, wanted);
    assert_eq!(list(store, ConversationFilter::default()).await, ["c1"]);
}

pub(super) async fn messages_are_numbered_without_gaps(store: &dyn Store) {
    open(store, "c1", "cli", 1).await;
    assert_eq!(add(store, "c0", "lost", 2).await, None);
    assert_eq!(add(store, "c1", "one", 7).await, Some(1));
    assert_eq!(add(store, "c1", "two", 6).await, Some(2));
    let nothing = store.append_messages("c1", None, Vec::new());
    assert_eq!(nothing.await.unwrap(), Some(2));
    let run = id("r1");
    let more = vec![message("three", 8), message("four", 9)];
    let last = store.append_messages("c1", Some(&run), more).await.unwrap();
    assert_eq!(last, Some(4));
    assert_eq!(texts(store, "c1").await, ["one", "two", "three", "four"]);
    let page = store.messages("c1", 1, 2).await.unwrap();
    let row = |seq, text: &str, second, run: Option<&RunId>| MessageRow {
        conversation: "c1".to_owned(),
        seq,
        role: MessageRole::User,
        body: format!(r#"{{"text":"{text}"}}"#),
        text: text.to_owned(),
        run: run.cloned(),
        at: at(second),
    };
    assert_eq!(
        page,
        [row(2, "two", 6, None), row(3, "three", 8, Some(&run))]
    );
    assert_eq!(add(store, "c1", "five", 3).await, Some(5));
    let row = one(store, "c1").await;
    assert_eq!(row.message_count, 5);
    assert_eq!((row.updated_at, row.run), (at(9), Some(run)));
    assert_eq!(store.messages("c9", 0, 9).await.unwrap(), Vec::new());
}

pub(super) async fn messages_are_stored_with_the_batch(store: &dyn Store) {
    open(store, "c1", "cli", 1).await;
    let lease = start(store, "r1", "a").await;
    append(store, &lease, say("c1", 0, &["one", "two"])).await;
    let row = one(store, "c1").await;
    assert_eq!((row.message_count, row.updated_at), (2, at(20)));
    assert_eq!(row.run, Some(id("r1")));
    let runs = all(store, "c1").await.into_iter().map(|row| row.run);
    assert!(runs.eq([Some(id("r1")), Some(id("r1"))]));
    // The messages of a driver that lost the lease are refused.
    let lost = Lease {
        token: lease.token + 1,
        ..lease
    };
    let refused = store.append(&lost, say("c1", 2, &["three"])).await;
    assert_eq!(refused, Err(Error::fenced_error(&id("r1"))));
    assert_eq!(texts(store, "c1").await, ["one", "two"]);
}

pub(super) async fn no_message_is_stored_twice(store: &dyn Store) {
    open(store, "c1", "cli", 1).await;
    open(store, "c2", "cli", 2).await;
    let lease = start(store, "r1", "a").await;
    for _ in 0..2 {
        append(store, &lease, say("c1", 0, &["one", "two"])).await;
    }
    append(store, &lease, say("c1", 1, &["two again", "three"])).await;
    assert_eq!(texts(store, "c1").await, ["one", "two", "three"]);
    assert_eq!(find(store, "again").await, Vec::new());
    // Positions are counted per run and conversation.
    append(store, &lease, say("c2", 0, &["one"])).await;
    let other = start(store, "r2", "a").await;
    append(store, &other, say("c1", 0, &["four"])).await;
    append(store, &lease, say("c1", 0, &["one"])).await;
    let wanted = ["one", "two", "three", "four"];
    assert_eq!(texts(store, "c1").await, wanted);
    assert_eq!(texts(store, "c2").await, ["one"]);
    // A message that was already stored does not make its run the last one.
    assert_eq!(one(store, "c1").await.run, Some(id("r2")));
}

pub(super) async fn a_failed_batch_adds_no_messages(store: &dyn Store) {
    open(store, "c1", "cli", 1).await;
    let lease = start(store, "r1", "a").await;
    let other = start(store, "r2", "a").await;
    let mut stale = stale_end(store).await;
    stale.writes = say("c1", 0, &["lost words"]).writes;
    // Sent together, so that they may share a commit.
    let answers = together(vec![
        store.append(&other, say("c1", 0, &["one"])),
        store.append(&lease, stale),
        store.append(&other, say("c1", 1, &["two"])),
    ]);
    let failed = answers.await.into_iter().map(|answer| answer.is_err());
    assert!(failed.eq([false, true, false]));
    assert_eq!(texts(store, "c1").await, ["one", "two"]);
    assert_eq!(find(store, "lost").await, Vec::new());
    assert_eq!(find(store, "two").await, [("c1".to_owned(), 2)]);
}

/// Messages of several writers are ordered by commit.
pub(super) async fn many_runs_can_add_messages_concurrently(store: &dyn Store) {
    open(store, "c1", "cli", 1).await;
    let mut leases = Vec::new();
    for n in 0..10 {
        leases.push(start(store, &format!("r{n}"), "a").await);
    }
    let mut answers = Vec::new();
    for (n, lease) in leases.iter().enumerate() {
        let (one, two) = (format!("one{n}"), format!("two{n}"));
        answers.push(store.append(lease, say("c1", 0, &[&one, &two])));
    }
    for answer in together(answers).await {
        answer.unwrap();
    }
    let texts = texts(store, "c1").await;
    assert_eq!(texts.len(), 20);
    for pair in texts.chunks(2) {
        assert_eq!(pair[0].replace("one", "two"), pair[1]);
    }
}

pub(super) async fn the_last_used_conversation_is_listed_first(store: &dyn Store) {
    for (id, channel) in [("c1", "cli"), ("c2", "telegram:7"), ("c3", "cli")] {
        open(store, id, channel, 1).await;
    }
    let everything = ConversationFilter::default();
    assert_eq!(list(store, everything.clone()).await, ["c3", "c2", "c1"]);
    add(store, "c1", "tea, please", 5).await;
    assert_eq!(list(store, everything.clone()).await, ["c1", "c3", "c2"]);
    let limit = ConversationFilter {
        limit: Some(2),
        ..everything.clone()
    };
    assert_eq!(list(store, limit).await, ["c1", "c3"]);
    let after = |id: &str, second| ConversationFilter {
        after: Some(ConversationCursor {
            updated_at: at(second),
            id: id.to_owned(),
        }),
        ..ConversationFilter::default()
    };
    assert_eq!(list(store, after("c1", 5)).await, ["c3", "c2"]);
    assert_eq!(list(store, after("c3", 1)).await, ["c2"]);
    assert_eq!(list(store, after("c2", 1)).await, none());
    // The position stays when its conversation moves to the front, or is deleted.
    assert_eq!(list(store, after("c1", 1)).await, none());
    assert_eq!(list(store, after("gone", 5)).await, ["c3", "c2"]);
    let channel = |channel: &str, limit| ConversationFilter {
        channel: Some(channel.to_owned()),
        limit: Some(limit),
        ..ConversationFilter::default()
    };
    assert_eq!(list(store, channel("cli", 9)).await, ["c1", "c3"]);
    assert_eq!(list(store, channel("cli", 1)).await, ["c1"]);
    assert_eq!(list(store, channel("telegram:", 9)).await, none());
    let agent = |agent: &str| ConversationFilter {
        agent: Some(agent.to_owned()),
        ..ConversationFilter::default()
    };
    assert_eq!(list(store, agent("main")).await.len(), 3);
    assert_eq!(list(store, agent("other")).await, none());
}

pub(super) async fn conversations_are_found_by_title_and_message(store: &dyn Store) {
    for id in ["c1", "c2", "c3"] {
        open(store, id, "cli", 1).await;
    }
    add(store, "c1", "Buy green tea", 5).await;
    add(store, "c1", "and more tea", 6).await;
    assert!(
        store
            .rename_conversation("c2", "Tea at five")
            .await
            .unwrap()
    );
    let query = |query: &str, limit| ConversationFilter {
        query: Some(query.to_owned()),
        limit,
        ..ConversationFilter::default()
    };
    assert_eq!(list(store, query("tea", None)).await, ["c1", "c2"]);
    assert_eq!(list(store, query("TEA", Some(1))).await, ["c1"]);
    assert_eq!(list(store, query("five tea", None)).await, ["c2"]);
    // All words of a query must match the same title or message.
    assert_eq!(list(store, query("green more", None)).await, none());
    assert_eq!(list(store, query("!", None)).await, none());
}

pub(super) async fn words_are_found(store: &dyn Store) {
    open(store, "c1", "cli", 1).await;
    open(store, "c2", "telegram:7", 1).await;
    add(store, "c1", "Remind me to DRINK water", 5).await;
    add(store, "c2", "water the Größe plants, don't forget", 4).await;
    add(store, "c1", "", 6).await;
    let found = |places: &[(&str, u64)]| -> Vec<(String, u64)> {
        let place = |(id, seq): &(&str, u64)| ((*id).to_owned(), *seq);
        places.iter().map(place).collect()
    };
    // Sorted by when they were stored, latest first, whatever their instants.
    let both = found(&[("c2", 1), ("c1", 1)]);
    assert_eq!(find(store, "water").await, both);
    assert_eq!(find(store, "wat").await, both);
    for query in ["drink", "drink WATER", "water, drink!", "remind dri"] {
        assert_eq!(find(store, query).await, found(&[("c1", 1)]), "{query}");
    }
    for query in ["GRÖßE", "don't", "plants forget"] {
        assert_eq!(find(store, query).await, found(&[("c2", 1)]), "{query}");
    }
    for query in [
        "",
        "ater",
        "wine",
        "drink plants",
        "\"",
        "water OR",
        "*",
        "NOT",
    ] {
        assert_eq!(find(store, query).await, Vec::new(), "{query}");
    }
    let hits = store.search_conversations("water", 1).await.unwrap();
    let wanted = SearchHit {
        conversation: "c2".to_owned(),
        channel: "telegram:7".to_owned(),
        title: "about c2".to_owned(),
        seq: 1,
        role: MessageRole::User,
        at: at(4),
        snippet: "water the Größe plants, don't forget".to_owned(),
    };
    assert_eq!(hits, [wanted]);
}

pub(super) async fn a_conversation_can_be_archived(store: &dyn Store) {
    open(store, "c1", "cli", 1).await;
    open(store, "c2", "cli", 2).await;
    let away = store.archive_conversation("c2", Some(at(9))).await;
    assert!(away.unwrap());
    assert_eq!(one(store, "c2").await.archived_at, Some(at(9)));
    add(store, "c2", "still found", 2).await;
    assert_eq!(find(store, "still").await, [("c2".to_owned(), 1)]);
    let everything = ConversationFilter {
        archived: true,
        ..ConversationFilter::default()
    };
    assert_eq!(list(store, ConversationFilter::default()).await, ["c1"]);
    assert_eq!(list(store, everything).await, ["c2", "c1"]);
    assert!(store.archive_conversation("c2", None).await.unwrap());
    assert_eq!(one(store, "c2").await.archived_at, None);
    assert!(!store.archive_conversation("c9", None).await.unwrap());
    assert!(store.rename_conversation("c2", "b").await.unwrap());
    assert!(!store.rename_conversation("c9", "b").await.unwrap());
    let row = one(store, "c2").await;
    assert_eq!((row.title.as_str(), row.updated_at), ("b", at(2)));
}

pub(super) async fn the_last_messages_of_a_conversation_can_be_cut(store: &dyn Store) {
    open(store, "c1", "cli", 1).await;
    let first = start(store, "r1", "a").await;
    append(store, &first, say("c1", 0, &["old words", "old answer"])).await;
    let second = start(store, "r2", "a").await;
    append(store, &second, say("c1", 0, &["new words", "new answer"])).await;
    assert_eq!(store.cut_conversation("c1", 2).await.unwrap(), 2);
    assert_eq!(store.cut_conversation("c1", 2).await.unwrap(), 0);
    assert_eq!(store.cut_conversation("c9", 0).await.unwrap(), 0);
    assert_eq!(texts(store, "c1").await, ["old words", "old answer"]);
    let row = one(store, "c1").await;
    assert_eq!((row.message_count, row.run), (2, Some(id("r1"))));
    assert_eq!(find(store, "words").await, [("c1".to_owned(), 1)]);
    // The next message gets the first free number.
    assert_eq!(add(store, "c1", "third words", 9).await, Some(3));
    assert_eq!(store.cut_conversation("c1", 0).await.unwrap(), 3);
    let row = one(store, "c1").await;
    assert_eq!((row.message_count, row.run), (0, None));
    assert_eq!(find(store, "words").await, []);
}

pub(super) async fn a_deleted_conversation_stays_deleted(store: &dyn Store) {
    open(store, "c1", "cli", 1).await;
    open(store, "c2", "cli", 1).await;
    let lease = start(store, "r1", "a").await;
    append(store, &lease, say("c1", 0, &["old words"])).await;
    append(store, &lease, say("c2", 0, &["old words"])).await;
    assert!(store.delete_conversation("c1").await.unwrap());
    assert!(!store.delete_conversation("c1").await.unwrap());
    append(store, &lease, say("c1", 1, &["new words"])).await;
    assert_eq!(store.conversation("c1").await.unwrap(), None);
    assert_eq!(texts(store, "c1").await, none());
    assert_eq!(find(store, "words").await, [("c2".to_owned(), 1)]);
    // Opening it again starts an empty conversation.
    open(store, "c1", "cli", 3).await;
    append(store, &lease, say("c1", 0, &["first"])).await;
    assert_eq!(texts(store, "c1").await, ["first"]);
    assert_eq!(find(store, "words").await, [("c2".to_owned(), 1)]);
}

pub(super) async fn conversations_outlive_their_runs(store: &dyn Store) {
    open(store, "c1", "cli", 1).await;
    let lease = start(store, "r1", "a").await;
    let last = Batch {
        writes: say("c1", 0, &["bye"]).writes,
        ..success(9)
    };
    append(store, &lease, last).await;
    let before = (one(store, "c1").await, all(store, "c1").await);
    let prune = Prune {
        before: at(100),
        now: at(100),
        limit: 9,
        only_count: false,
    };
    assert_eq!(store.prune(prune).await.unwrap().runs, [id("r1")]);
    let after = (one(store, "c1").await, all(store, "c1").await);
    assert_eq!(after, before);
}

/// Messages of an admission are stored with it, together with their conversation, whether the run is driven
/// or queued. An admission that finds an existing run adds no message, and the run does not add its message
/// again at its end.
pub(super) async fn messages_are_stored_with_the_admission(store: &dyn Store) {
    let with = |run: &str, text: &str| Admission {
        key: Some(format!("key of {run}")),
        writes: vec![
            Write::Open(new("c1", "cli", 1)),
            say("c1", 0, &[text]).writes.remove(0),
        ],
        ..admission(run, "a")
    };
    admit(store, with("r1", "first")).await;
    assert_eq!(one(store, "c1").await.run, Some(id("r1")));
    assert_eq!(find(store, "first").await, [("c1".to_owned(), 1)]);
    let driven = Admission {
        claim: Some(first_claim(Batch::default())),
        ..with("r2", "second")
    };
    let admitted = store.admit(driven).await.unwrap();
    let AdmissionResult::New { lease, .. } = admitted else {
        panic!("there is no twin: {admitted:?}");
    };
    let lease = lease.unwrap();
    let twin = Admission {
        key: Some("key of r1".to_owned()),
        ..with("r3", "third")
    };
    let twin = store.admit(twin).await.unwrap();
    assert!(matches!(twin, AdmissionResult::Existing(_)), "{twin:?}");
    assert_eq!(texts(store, "c1").await, ["first", "second"]);
    append(store, &lease, say("c1", 0, &["second", "answer"])).await;
    assert_eq!(texts(store, "c1").await, ["first", "second", "answer"]);
}
