//! One answer, from what is said to its end, with a way to stop it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::answer_screen::View;
use crate::commands::NOTHING_IS_UP;
use crate::failure::Done;
use deft_service::ask::Asker;
use deft_service::daemon;
use deft_service::talk::{Attention, Listener, Live, Say, Talk};
use deft_wire::chat::ChatAnswer;
use deft_wire::model::RunId;

/// How often what turns is turned.
const TURN: Duration = Duration::from_millis(120);

/// Whether something was planned for later, which only a process that stays can do.
fn plans(live: &Live) -> bool {
    let Live::ToolEnded { tool, ok: true, .. } = live else {
        return false;
    };
    daemon::plans(tool)
}

/// Wishes that an answer may end.
pub(super) struct Stops(UnboundedReceiver<()>);

impl Stops {
    /// Ctrl-c. From now on it ends answers and not the program.
    pub(super) fn listen() -> Self {
        let (sender, receiver) = unbounded_channel();
        if let Ok(mut keys) = signal(SignalKind::interrupt()) {
            tokio::spawn(
                async move { while keys.recv().await.is_some() && sender.send(()).is_ok() {} },
            );
        }
        Self(receiver)
    }

    #[cfg(test)]
    pub(super) fn from_receiver(receiver: UnboundedReceiver<()>) -> Self {
        Self(receiver)
    }

    /// The next one; never, if none can come any more.
    async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Forgets wishes that came when there was nothing to end.
    fn clear(&mut self) {
        while self.0.try_recv().is_ok() {}
    }
}

/// A message to answer.
pub(super) enum TurnRequest {
    /// Something that is said now.
    Say(Say),
    /// An earlier message whose answer is in progress, or was.
    GoOn(RunId),
}

/// How a turn ended.
pub(super) enum TurnEnd {
    Said(Box<ChatAnswer>),
    /// The person did not want to wait for the end of it.
    Left,
}

/// Who is there while an answer is worked on.
pub(super) struct Company {
    pub talk: Arc<dyn Talk>,
    pub view: Arc<View>,
    pub asker: Option<Arc<dyn Asker>>,
    /// Confirmations are answered with yes.
    pub yes: bool,
    pub stops: Stops,
    /// Whether a daemon runs that does what is planned for later.
    pub is_up: fn(&Path) -> bool,
    pub home: PathBuf,
}

impl Company {
    /// Says something and shows the answer. The first request to stop ends the run, the second
    /// one leaves it as it is.
    pub(super) async fn turn(&mut self, wish: TurnRequest) -> Done<TurnEnd> {
        let view = Arc::clone(&self.view);
        self.hear(wish, Arc::new(move |live| view.hear(live))).await
    }

    /// The same with another listener.
    pub(super) async fn hear(&mut self, wish: TurnRequest, listener: Listener) -> Done<TurnEnd> {
        self.stops.clear();
        let (planned, heard) = (Arc::new(AtomicBool::new(false)), listener);
        let notes = Arc::clone(&planned);
        let listener: Listener = Arc::new(move |live| {
            if plans(&live) {
                notes.store(true, Ordering::Relaxed);
            }
            heard(live);
        });
        let admitted = Arc::new(OnceLock::new());
        let attention = Attention {
            asker: self.asker.clone(),
            assume_yes: self.yes.then(|| "--yes".to_owned()),
            parks: false,
            admitted: Some(Arc::clone(&admitted)),
        };
        let mut work = match wish {
            TurnRequest::Say(say) => self.talk.say(say, attention, listener),
            TurnRequest::GoOn(run) => self.talk.go_on(run, attention, listener),
        };
        let mut tick = tokio::time::interval(TURN);
        let mut stopping = false;
        self.view.begin();
        loop {
            tokio::select! {
                biased;
                done = &mut work => match done {
                    Ok(said) => {
                        let planned = planned.load(Ordering::Relaxed);
                        if planned && !(self.is_up)(&self.home) {
                            self.view.tell(NOTHING_IS_UP);
                        }
                        return Ok(TurnEnd::Said(Box::new(said)));
                    }
                    Err(failure) => {
                        self.view.leave();
                        return Err(failure);
                    }
                },
                () = self.stops.next() => match admitted.get() {
                    Some(run) if !stopping => {
                        stopping = true;
                        self.talk.stop(run, "ctrl-c").await?;
                    }
                    _ => {
                        self.view.leave();
                        return Ok(TurnEnd::Left);
                    }
                },
                _ = tick.tick() => self.view.tick(),
            }
        }
    }
}
