//! One turn of a chat: sends a message, shows its answer, and lets the person stop it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::answer_screen::View;
use crate::commands::NOT_RUNNING_HINT;
use crate::failure::Done;
use deft_service::ask::Asker;
use deft_service::daemon;
use deft_service::talk::{Attention, Listener, Live, NewChatMessage, Talk};
use deft_wire::chat::ChatAnswer;
use deft_wire::model::RunId;

/// The interval of the spinner.
const TURN: Duration = Duration::from_millis(120);

/// Whether a call succeeded that plans later work, which only a daemon can run.
fn plans(live: &Live) -> bool {
    let Live::ToolEnded { tool, ok: true, .. } = live else {
        return false;
    };
    daemon::plans(tool)
}

/// Requests to stop an answer.
pub(super) struct StopRequests(UnboundedReceiver<()>);

impl StopRequests {
    /// Listens for ctrl-c. From now on it stops answers and not the program.
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

    /// Waits for the next request; forever if the sender was dropped.
    async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Discards requests that arrived while no answer was in progress.
    fn clear(&mut self) {
        while self.0.try_recv().is_ok() {}
    }
}

/// A message to answer.
pub(super) enum TurnRequest {
    /// A new message.
    Say(NewChatMessage),
    /// An earlier message whose answer is in progress or was interrupted.
    Resume(RunId),
}

/// How a turn ended.
pub(super) enum TurnEnd {
    Answered(Box<ChatAnswer>),
    /// The person left before the answer ended.
    Left,
}

/// The participants of a turn: the agent, the display, the person who answers questions.
pub(super) struct TurnParticipants {
    pub talk: Arc<dyn Talk>,
    pub view: Arc<View>,
    pub asker: Option<Arc<dyn Asker>>,
    /// Whether to answer every approval with yes.
    pub yes: bool,
    pub stops: StopRequests,
    /// Whether a daemon is running, which later work needs.
    pub is_up: fn(&Path) -> bool,
    pub home: PathBuf,
}

impl TurnParticipants {
    /// Sends a message and shows the answer. The first request to stop cancels the run; the second one leaves
    /// without waiting for its end.
    pub(super) async fn turn(&mut self, request: TurnRequest) -> Done<TurnEnd> {
        let view = Arc::clone(&self.view);
        self.run_turn(request, Arc::new(move |live| view.show_live(live)))
            .await
    }

    /// Like [`Self::turn`], with another listener.
    pub(super) async fn run_turn(
        &mut self,
        request: TurnRequest,
        listener: Listener,
    ) -> Done<TurnEnd> {
        self.stops.clear();
        let (planned, listener_of_turn) = (Arc::new(AtomicBool::new(false)), listener);
        let notes = Arc::clone(&planned);
        let listener: Listener = Arc::new(move |live| {
            if plans(&live) {
                notes.store(true, Ordering::Relaxed);
            }
            listener_of_turn(live);
        });
        let admitted = Arc::new(OnceLock::new());
        let attention = Attention {
            asker: self.asker.clone(),
            assume_yes: self.yes.then(|| "--yes".to_owned()),
            admitted: Some(Arc::clone(&admitted)),
            ..Attention::default()
        };
        let mut work = match request {
            TurnRequest::Say(say) => self.talk.say(say, attention, listener),
            TurnRequest::Resume(run) => self.talk.resume(run, attention, listener),
        };
        let mut tick = tokio::time::interval(TURN);
        let mut stopping = false;
        self.view.begin();
        loop {
            tokio::select! {
                biased;
                done = &mut work => match done {
                    Ok(answer) => {
                        let planned = planned.load(Ordering::Relaxed);
                        if planned && !(self.is_up)(&self.home) {
                            self.view.tell(NOT_RUNNING_HINT);
                        }
                        return Ok(TurnEnd::Answered(Box::new(answer)));
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
