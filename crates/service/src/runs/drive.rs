//! A run driven by this process: its progress as a stream, its questions to a person, and its end.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use deft_engine::{Admission, Attention, Engine, Error, PublishedEvent, RerunWith, ResumeWith};
use deft_model::{RunId, RunOrigin, RunStatus, WaitKind};
use deft_store::RunRow;
use deft_wire::run::RunDetail;
use deft_wire::{Done, Failure};
use deft_workflow::Event;
use tokio::sync::broadcast::Receiver;

use super::history::detail_of;
use super::progress::Progress;
use super::{StartRun, find_row};
use crate::app::{self, App};
use crate::ask::Asker;
use crate::store;

/// A run to drive.
#[derive(Clone, Debug, PartialEq)]
pub enum RunWork {
    /// A new run.
    Start(StartRun),
    /// Continue a run that waits, failed or was interrupted.
    Resume {
        /// The id or a prefix of it.
        id: String,
        /// Who asks for it, for the record.
        by: String,
        /// Continue with the pinned revision even if the skill has changed since.
        old_revision: bool,
    },
    /// Run again with the same inputs.
    Rerun {
        /// The id or a prefix of it.
        id: String,
        /// The first step to run; results of earlier steps are reused.
        from: Option<String>,
        /// The request that asks for the run.
        origin: RunOrigin,
    },
}

/// Who answers the questions of a run.
#[derive(Clone, Default)]
pub struct Answers {
    /// A person who can be asked immediately.
    pub asker: Option<Arc<dyn Asker>>,
    /// Answers all questions with yes; the record names this as the reason.
    pub assume_yes: Option<String>,
}

/// A run that is being driven.
pub struct Drive {
    engine: Engine,
    work: Work,
    events: Receiver<Arc<PublishedEvent>>,
    admitted: Arc<OnceLock<RunId>>,
    ended: Option<Admission>,
}

/// The next item of the stream of a [`Drive`].
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// A change in the run.
    Progress(Progress),
    /// The run has ended, or waits for something outside this process.
    Ended(DrivenRun),
}

/// The run at the end of a drive. The run may have been deleted since; this is the state known to the drive.
#[derive(Clone, Debug, PartialEq)]
pub struct DrivenRun {
    row: Box<RunRow>,
    existing: bool,
}

impl DrivenRun {
    /// Returns the id of the run.
    pub fn id(&self) -> &RunId {
        &self.row.id
    }

    /// Whether a run with the same key already existed, so that nothing was run.
    pub fn is_existing(&self) -> bool {
        self.existing
    }

    /// Returns the run with its steps.
    pub fn detail(&self, app: &App) -> Done<RunDetail> {
        detail_of(app, &self.row)
    }
}

/// Prepares to drive a run, which starts with the first call of [`Drive::next`].
pub fn drive(app: &App, work: RunWork, answers: Answers) -> Done<Drive> {
    Drive::new(app, answers, |attention| future(app, work, attention))
}

/// Prepares to continue a stored run that no living process drives. Returns `None` if the run has ended,
/// including runs that failed.
pub fn drive_on(app: &App, id: &str, by: &str) -> Done<Option<Drive>> {
    let row = find_row(app, id)?;
    if row.status == RunStatus::Done {
        return Ok(None);
    }
    let with = ResumeWith {
        by: by.to_owned(),
        old_revision: true,
    };
    let drive = Drive::new(app, Answers::default(), |attention| {
        Ok(resume(app.engine.clone(), row, with, attention))
    });
    drive.map(Some)
}

/// Resumes or reruns a run in the background of this daemon. Returns as soon as the run is stored.
pub fn begin(app: &App, work: RunWork) -> Done<RunId> {
    let admitted = Arc::new(OnceLock::new());
    let attention = Attention {
        parks: true,
        admitted: Some(Arc::clone(&admitted)),
        ..Attention::default()
    };
    let work = future(app, work, attention)?;
    app.block_on(async {
        let (id, rest) = admit(work, &admitted).await?;
        if let Some(rest) = rest {
            // The run stores its own result.
            tokio::spawn(rest);
        }
        Ok(id)
    })
}

/// Works on a run until it is stored. Returns its id and the rest of the work, if there is any. The work itself sets
/// `admitted`, so it is enough to check that whenever the work has advanced.
async fn admit(mut work: Work, admitted: &OnceLock<RunId>) -> Done<(RunId, Option<Work>)> {
    let ended = poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(ended) => Poll::Ready(Some(ended)),
        Poll::Pending if admitted.get().is_some() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    });
    match (ended.await, admitted.get()) {
        (Some(Ok(admission)), _) => Ok((admission.run().id.clone(), None)),
        (Some(Err(error)), None) => Err(app::failure(&error)),
        (Some(Err(_)), Some(id)) => Ok((id.clone(), None)),
        (None, Some(id)) => Ok((id.clone(), Some(work))),
        (None, None) => Err(Failure::internal("engine", "the run was not stored")),
    }
}

/// Waits until a run has ended or asks a person, for at most `at_most`.
pub async fn wait(app: &App, run: &RunId, at_most: Duration) -> Done<()> {
    let mut events = app.engine.subscribe();
    let deadline = tokio::time::Instant::now() + at_most;
    loop {
        let row = app.engine.store().run(run).await;
        let row = row.map_err(|error| store::failure(&error))?;
        let Some(row) = row else {
            return Ok(());
        };
        let asks = row
            .waiting_for
            .as_ref()
            .is_some_and(|reason| reason.kind == WaitKind::Answer);
        if row.status == RunStatus::Done || (row.status == RunStatus::Waiting && asks) {
            return Ok(());
        }
        if !news(&mut events, run, deadline).await {
            return Ok(());
        }
    }
}

/// Maximum wait for an event of this process before the store is checked; another process may drive the run.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Waits for the next event of a run. Returns false after the deadline.
async fn news(
    events: &mut Receiver<Arc<PublishedEvent>>,
    run: &RunId,
    deadline: tokio::time::Instant,
) -> bool {
    let look = (tokio::time::Instant::now() + POLL_INTERVAL).min(deadline);
    let run_event = async {
        while let Ok(event) = events.recv().await {
            if event.run == *run && may_stop(&event.event) {
                return;
            }
        }
    };
    drop(tokio::time::timeout_at(look, run_event).await);
    tokio::time::Instant::now() < deadline
}

/// Whether the run may be over or waiting for a person after this event.
fn may_stop(event: &Event) -> bool {
    !matches!(
        event,
        Event::Started(_) | Event::Begun(_) | Event::Ended(_) | Event::Agent { .. }
    )
}

type Work = Pin<Box<dyn Future<Output = Result<Admission, Error>> + Send>>;

fn future(app: &App, work: RunWork, attention: Attention) -> Done<Work> {
    let engine = app.engine.clone();
    Ok(match work {
        RunWork::Start(start) => Box::pin(async move { engine.run(start.into(), attention).await }),
        RunWork::Resume {
            id,
            by,
            old_revision,
        } => {
            let row = find_row(app, &id)?;
            resume(engine, row, ResumeWith { by, old_revision }, attention)
        }
        RunWork::Rerun { id, from, origin } => {
            let row = find_row(app, &id)?;
            let with = RerunWith { from, origin };
            Box::pin(async move { engine.rerun(&row, &with, attention).await })
        }
    })
}

fn resume(engine: Engine, row: RunRow, with: ResumeWith, attention: Attention) -> Work {
    Box::pin(async move { engine.resume(&row, &with, attention).await })
}

impl Drive {
    fn new(app: &App, answers: Answers, work: impl FnOnce(Attention) -> Done<Work>) -> Done<Self> {
        let admitted = Arc::new(OnceLock::new());
        let attention = Attention {
            listener: None,
            asker: answers.asker,
            assume_yes: answers.assume_yes,
            parks: false,
            admitted: Some(Arc::clone(&admitted)),
            transcript: None,
        };
        let engine = app.engine.clone();
        Ok(Self {
            events: engine.subscribe(),
            work: work(attention)?,
            engine,
            admitted,
            ended: None,
        })
    }

    /// Returns the id of the run, once it is stored.
    pub fn run(&self) -> Option<&RunId> {
        self.admitted.get()
    }

    /// Waits for the next change. The future may be dropped and `next` called again; no change is lost.
    pub async fn next(&mut self) -> Done<Update> {
        loop {
            // The channel also has events of other runs of this process.
            let admitted = self.admitted.get();
            let own = |event: &Arc<PublishedEvent>| admitted == Some(&event.run);
            if let Some(ended) = &self.ended {
                let events = &mut self.events;
                let rest = std::iter::from_fn(|| events.try_recv().ok()).filter(own);
                let mut rest = rest.filter_map(|event| Progress::read(&event));
                return Ok(match rest.next() {
                    Some(progress) => Update::Progress(progress),
                    None => Update::Ended(DrivenRun {
                        row: Box::new(ended.run().clone()),
                        existing: matches!(ended, Admission::Existing(_)),
                    }),
                });
            }
            tokio::select! {
                biased;
                event = self.events.recv() => {
                    let admitted = self.admitted.get();
                    let own = event.ok().filter(|event| admitted == Some(&event.run));
                    let progress = own.and_then(|event| Progress::read(&event));
                    if let Some(progress) = progress {
                        return Ok(Update::Progress(progress));
                    }
                }
                done = &mut self.work => {
                    self.ended = Some(done.map_err(|error| app::failure(&error))?);
                }
            }
        }
    }

    /// Requests cancellation. The run ends as soon as that is safe.
    pub async fn cancel(&self, by: &str) -> Done<()> {
        let Some(run) = self.run() else {
            return Ok(());
        };
        let asked = self.engine.cancel(run, by).await;
        asked.map(drop).map_err(|error| app::failure(&error))
    }

    /// Stops driving and returns the current state of the run; `None` if it has not begun.
    pub async fn leave(self) -> Done<Option<DrivenRun>> {
        let Some(run) = self.run() else {
            return Ok(None);
        };
        let row = self.engine.store().run(run).await;
        let row = row.map_err(|error| store::failure(&error))?;
        Ok(row.map(|row| DrivenRun {
            row: Box::new(row),
            existing: false,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_run_is_known_as_soon_as_it_is_stored() {
        let admitted = Arc::new(OnceLock::new());
        let work: Work = Box::pin({
            let admitted = Arc::clone(&admitted);
            async move {
                tokio::task::yield_now().await;
                admitted.set(RunId::new("run_1")).ok();
                std::future::pending().await
            }
        });
        let (id, rest) = admit(work, &admitted).await.unwrap();
        assert_eq!((id.as_str(), rest.is_some()), ("run_1", true));
    }

    #[tokio::test]
    async fn a_run_that_cannot_be_stored_is_a_failure() {
        let refused = Error::UnknownRun {
            id: "run_1".to_owned(),
        };
        let work: Work = Box::pin(async { Err(refused) });
        let failure = admit(work, &OnceLock::new()).await.err().unwrap();
        assert_eq!(failure.code, "unknown_run");
    }
}
