//! Export and restoration of rows as JSON lines.

use deft_model::{MessageRole, Outcome, RunId};
use deft_store::prelude::*;
use deft_store::{
    Batch, Error, Finish, NewConversation, NewEvent, NewMessage, Prune, RunState, Trash, TrashItem,
};

use crate::support::{at, open, start};

fn message(text: &str) -> NewMessage {
    NewMessage {
        role: MessageRole::User,
        body: format!("{{\"text\":\"{text}\"}}"),
        text: text.to_owned(),
        at: at(3),
    }
}

fn chat(id: &str) -> NewConversation {
    NewConversation {
        id: id.to_owned(),
        agent: "main".to_owned(),
        channel: "cli".to_owned(),
        title: "the sea".to_owned(),
        run: None,
        at: at(2),
    }
}

fn success() -> Batch {
    Batch {
        then: RunState::Finish(Finish {
            outcome: Outcome::Success,
            outputs: Some("2".to_owned()),
            error: None,
            aftermath: None,
            at: at(5),
        }),
        ..Batch::default()
    }
}

/// The number of a deleted row may be given to another row.
#[tokio::test]
async fn a_conversation_is_restored_next_to_its_successor() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("deft.db"));
    store.open_conversation(chat("conv_1")).await.unwrap();
    let sent = vec![message("low tide"), message("high tide")];
    store.append_messages("conv_1", None, sent).await.unwrap();
    let row = store.conversation("conv_1").await.unwrap();
    let messages = store.messages("conv_1", 0, 9).await.unwrap();
    let trashed = TrashItem::Conversation("conv_1".to_owned());
    let lines = store.lines(trashed).await.unwrap();
    assert_eq!(lines.len(), 3);
    store.delete_conversation("conv_1").await.unwrap();
    store.open_conversation(chat("conv_2")).await.unwrap();
    let sent = vec![message("the moon")];
    store.append_messages("conv_2", None, sent).await.unwrap();
    assert_eq!(store.restore(lines.clone()).await.unwrap(), 1);
    assert_eq!(store.conversation("conv_1").await.unwrap(), row);
    assert_eq!(store.messages("conv_1", 0, 9).await.unwrap(), messages);
    assert_eq!(store.messages("conv_2", 0, 9).await.unwrap().len(), 1);
    let hits = store.search_conversations("tide", 9).await.unwrap();
    assert_eq!(hits.len(), 2);
    // Existing rows stay as they are.
    assert_eq!(store.restore(lines).await.unwrap(), 0);
    assert_eq!(store.messages("conv_1", 0, 9).await.unwrap(), messages);
}

#[tokio::test]
async fn the_newest_run_is_restored_with_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("deft.db"));
    let run = RunId::new("r1");
    let lease = start(&store, "r1").await;
    let batch = Batch {
        events: vec![NewEvent {
            at: at(1),
            kind: "one".to_owned(),
            body: "{}".to_owned(),
        }],
        ..Batch::default()
    };
    store.append(&lease, batch).await.unwrap();
    store.append(&lease, success()).await.unwrap();
    let row = store.run(&run).await.unwrap();
    let events = store.events(Some(&run), 0, 9).await.unwrap();
    let lines = store
        .lines(TrashItem::Runs(vec![run.clone()]))
        .await
        .unwrap();
    let prune = Prune {
        before: at(100),
        now: at(100),
        limit: 9,
        only_count: false,
    };
    assert_eq!(store.prune(prune).await.unwrap().runs.len(), 1);
    assert_eq!(store.restore(lines).await.unwrap(), 1);
    assert_eq!(store.run(&run).await.unwrap(), row);
    assert_eq!(store.events(Some(&run), 0, 9).await.unwrap(), events);
}

#[tokio::test]
async fn invalid_lines_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("deft.db"));
    for line in [
        "",
        "{}",
        r#"{"table": "setting", "row": {"name": "x", "value": "y"}}"#,
        r#"{"table": "skill", "row": {"id) VALUES (1); --": 1}}"#,
    ] {
        let refused = store.restore(vec![line.to_owned()]).await;
        assert!(
            matches!(refused, Err(Error::UnreadableLine { .. })),
            "{line}"
        );
    }
}
