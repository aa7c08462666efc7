//! Runs with agents: fired, answered, and resumed by hand.

use std::time::Duration;

use deft_engine::{Attention, Engine, Fire, NewChatMessage, ResumeWith};
use deft_model::{Object, Outcome, RunStatus, scatter};
use deft_store::{NewConversation, RunFilter, RunRow};
use deft_workflow::Answer;
use jiff::Timestamp;
use serde_json::json;

/// The conversation of all chats.
const CONVERSATION: &str = "conv_crash";

const BY: &str = "the crash test";

pub(crate) async fn work(engine: Engine, total: usize, nth: usize) {
    let attention = Attention {
        parks: true,
        ..Attention::default()
    };
    loop {
        engine.drain(&attention).await.unwrap();
        if nth == 0 {
            answer(&engine).await;
            resume(&engine, &attention).await;
        }
        let runs = engine.store().runs(RunFilter::default()).await.unwrap();
        if runs.len() < total {
            begin(&engine, runs.len(), &attention).await;
        } else if runs.iter().all(has_ended) {
            return;
        } else {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Fires the next run, or sends the next chat message.
async fn begin(engine: &Engine, nth: usize, attention: &Attention) {
    if nth % 4 == 3 {
        return chat(engine, nth, attention).await;
    }
    let skill = ["patient", "proud", "native"][nth % 4];
    let fire = Fire {
        skill: skill.to_owned(),
        inputs: match skill {
            "native" => Object::new(),
            _ => Object::from_iter([("n".to_owned(), json!(nth.to_string()))]),
        },
        cause: BY.into(),
        ..Fire::default()
    };
    engine.run(fire, attention.clone()).await.unwrap();
}

async fn chat(engine: &Engine, nth: usize, attention: &Attention) {
    let new = NewConversation {
        id: CONVERSATION.to_owned(),
        agent: "thinker".to_owned(),
        channel: "crash".to_owned(),
        title: "kills".to_owned(),
        run: None,
        at: Timestamp::now(),
    };
    engine.store().open_conversation(new).await.unwrap();
    let say = NewChatMessage {
        conversation: Some(CONVERSATION.to_owned()),
        channel: "crash".to_owned(),
        text: format!("chat {nth}"),
        key: Some(format!("chat-{nth}")),
        ..NewChatMessage::default()
    };
    engine.say(say, attention.clone()).await.unwrap();
}

/// Answers every question with yes.
async fn answer(engine: &Engine) {
    for row in engine.store().approvals(false).await.unwrap() {
        engine.answer(&row, Answer::Yes, BY, false).await.unwrap();
    }
}

/// Resumes failed runs, and half of the interrupted ones.
async fn resume(engine: &Engine, attention: &Attention) {
    let runs = engine.store().runs(RunFilter::default()).await.unwrap();
    let with = ResumeWith {
        by: BY.to_owned(),
        old_revision: false,
    };
    for run in runs
        .iter()
        .filter(|run| run.status == RunStatus::Done && !has_ended(run))
    {
        engine.resume(run, &with, attention.clone()).await.unwrap();
    }
}

/// Whether no process will work on the run again.
fn has_ended(run: &RunRow) -> bool {
    match run.outcome {
        Some(Outcome::Error) => false,
        Some(Outcome::Interrupted) => !scatter(run.id.as_str().bytes()).is_multiple_of(2),
        Some(_) => true,
        None => run.status == RunStatus::Done,
    }
}
