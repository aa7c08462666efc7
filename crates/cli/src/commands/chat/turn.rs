//! One answer, from what is said to its end, with a way to stop it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use deft_engine::{Asker, Attention};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::view::View;
use crate::failure::Done;
use crate::talk::{Listener, Said, Say, Talk};

/// How often what turns is turned.
const TURN: Duration = Duration::from_millis(120);

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
    pub(super) fn of(receiver: UnboundedReceiver<()>) -> Self {
        Self(receiver)
    }

    /// The next one; never, if nobody can wish any more.
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

/// How a turn ended.
pub(super) enum Ended {
    Said(Box<Said>),
    /// Somebody did not want to wait for the end of it.
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
}

impl Company {
    /// Says something and shows what comes of it. The first wish to stop ends the run, the second
    /// one leaves it as it is.
    pub(super) async fn turn(&mut self, say: Say) -> Done<Ended> {
        let view = Arc::clone(&self.view);
        self.hear(say, Arc::new(move |live| view.hear(live))).await
    }

    /// The same with somebody else listening.
    pub(super) async fn hear(&mut self, say: Say, listener: Listener) -> Done<Ended> {
        self.stops.clear();
        let admitted = Arc::new(OnceLock::new());
        let attention = Attention {
            hear: None,
            asker: self.asker.clone(),
            assume_yes: self.yes.then(|| "--yes".to_owned()),
            parks: false,
            admitted: Some(Arc::clone(&admitted)),
        };
        let work = self.talk.say(say, attention, listener);
        tokio::pin!(work);
        let mut tick = tokio::time::interval(TURN);
        let mut stopping = false;
        self.view.begin();
        loop {
            tokio::select! {
                biased;
                done = &mut work => match done {
                    Ok(said) => return Ok(Ended::Said(Box::new(said))),
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
                        return Ok(Ended::Left);
                    }
                },
                _ = tick.tick() => self.view.tick(),
            }
        }
    }
}
