//! A confirmation, asked at the terminal.

use std::future::Future;
use std::io::{self, IsTerminal, PipeReader, PipeWriter};
use std::pin::Pin;
use std::sync::Arc;
use std::thread::JoinHandle;

use deft_engine::{Asker, Question};
use deft_workflow::Answer;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::{Mutex, oneshot};

use crate::args::Global;
use crate::progress::Screen;
use crate::terminal::Stream;

/// What is shown while somebody is asked something; it keeps still meanwhile.
pub(crate) trait Stage: Send + Sync + 'static {
    fn pause(&self, paused: bool);
}

impl Stage for Screen {
    fn pause(&self, paused: bool) {
        Screen::pause(self, paused);
    }
}

/// The person at the terminal.
pub(crate) struct Prompt {
    stage: Arc<dyn Stage>,
    /// One question at a time: two prompts at once could get each other's answer.
    turn: Arc<Mutex<()>>,
}

impl Prompt {
    /// Somebody to ask, if there is a terminal and asking is allowed.
    pub(crate) fn new(stage: Arc<dyn Stage>, global: &Global) -> Option<Self> {
        let terminal = io::stdin().is_terminal() && Stream::Err.is_terminal();
        (terminal && !global.no_input && !global.json).then(|| Self {
            stage,
            turn: Arc::default(),
        })
    }
}

impl Asker for Prompt {
    fn ask(&self, question: Question) -> Pin<Box<dyn Future<Output = Option<Answer>> + Send>> {
        let stage = Arc::clone(&self.stage);
        let turn = Arc::clone(&self.turn);
        Box::pin(async move {
            let _turn = turn.lock().await;
            let _still = Still::new(stage);
            let (asking, answer) = Asking::begin(question)?;
            let answer = answer.await.ok().flatten();
            drop(asking);
            answer
        })
    }
}

/// Keeps a stage still as long as it lives, however the question ends.
struct Still(Arc<dyn Stage>);

impl Still {
    fn new(stage: Arc<dyn Stage>) -> Self {
        stage.pause(true);
        Self(stage)
    }
}

impl Drop for Still {
    fn drop(&mut self) {
        self.0.pause(false);
    }
}

/// A question that a thread of its own asks. When nobody wants the answer any more the thread ends
/// before anything else happens, so that it takes no line of what follows.
struct Asking {
    wanted: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Asking {
    fn begin(question: Question) -> Option<(Self, oneshot::Receiver<Option<Answer>>)> {
        let (off, wanted) = io::pipe().ok()?;
        let (reply, answer) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let _unheard = reply.send(read(&question, &off));
        });
        let asking = Self {
            wanted: Some(wanted),
            thread: Some(thread),
        };
        Some((asking, answer))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        drop(self.wanted.take());
        // It waits for a line or for this; a line that is there is read at once.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Waits until there is something to read; false if nobody wants it any more.
fn wait_for_input(off: &PipeReader) -> bool {
    let stdin = io::stdin();
    loop {
        let mut ready = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::new(off, PollFlags::IN),
        ];
        match poll(&mut ready, None) {
            Err(Errno::INTR) => {}
            Ok(_) if !ready[1].revents().is_empty() => return false,
            // What is wrong with it is seen when it is read.
            Ok(_) | Err(_) => return true,
        }
    }
}

/// Asks until an answer is understood; the end of input is none.
fn read(question: &Question, off: &PipeReader) -> Option<Answer> {
    let choices = if question.default {
        "Y/n/skip"
    } else {
        "y/N/skip"
    };
    // What was typed before the question could be read is no answer to it.
    let _emptied = tcflush(io::stdin(), QueueSelector::IFlush);
    loop {
        let asked = format!("{} [{choices}] ", question.message);
        Stream::Err.write(asked).ok()?;
        if !wait_for_input(off) {
            // The question is off; what follows begins a line.
            drop(Stream::Err.write("\n"));
            return None;
        }
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
