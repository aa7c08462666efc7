//! A confirmation, asked at the terminal.

use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::pin::Pin;
use std::sync::Arc;

use deft_engine::{Asker, Question};
use deft_workflow::Answer;
use tokio::sync::{Mutex, oneshot};

use crate::args::Global;
use crate::output::harmless;
use crate::progress::Screen;

/// The person at the terminal.
pub(crate) struct Prompt {
    screen: Arc<Screen>,
    /// One question at a time: two prompts at once could get each other's answer.
    turn: Arc<Mutex<()>>,
}

impl Prompt {
    /// Somebody to ask, if there is a terminal and asking is allowed.
    pub(crate) fn new(screen: &Arc<Screen>, global: &Global) -> Option<Self> {
        let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        (terminal && !global.no_input && !global.json).then(|| Self {
            screen: Arc::clone(screen),
            turn: Arc::default(),
        })
    }
}

impl Asker for Prompt {
    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = Option<Answer>> + Send>> {
        let screen = Arc::clone(&self.screen);
        let turn = Arc::clone(&self.turn);
        Box::pin(async move {
            let _turn = turn.lock().await;
            screen.pause(true);
            // A thread of its own: nobody waits for it if the program ends before anybody types.
            let (reply, answer) = oneshot::channel();
            std::thread::spawn(move || reply.send(read(&question)));
            let answer = answer.await;
            screen.pause(false);
            answer.ok().flatten()
        })
    }
}

/// Asks until an answer is understood; the end of input is none.
fn read(question: &Question) -> Option<Answer> {
    let choices = if question.default {
        "Y/n/skip"
    } else {
        "y/N/skip"
    };
    loop {
        let mut err = io::stderr().lock();
        let asked = write!(err, "{} [{choices}] ", harmless(&question.message));
        asked.and_then(|()| err.flush()).ok()?;
        drop(err);
        let mut line = String::new();
        if io::stdin().read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().to_lowercase().as_str() {
            "" if question.default => return Some(Answer::Yes),
            "y" | "yes" => return Some(Answer::Yes),
            "" | "n" | "no" => return Some(Answer::No),
            "s" | "skip" => return Some(Answer::Skip),
            _ => {}
        }
    }
}
