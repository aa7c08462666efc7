//! A session: the jobs of one run, one after the other, in a child of their own.
//!
//! The child is replaced when a job ends it, runs out of time or is given up. Jobs of one session do
//! not share names, but a session is the unit of isolation: code that tampers with a module may be
//! felt by later code of the same session, never by another.
//!
//! Between two jobs the child stands in the list of idle ones (`places.rs`), where another session may
//! take its place.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::Compute;
use super::connection::{Connection, Modules, ReceiveError};
use super::modules::named_in;
use crate::error::Error;
use crate::job::{Isolation, Job, Kind, Output};
use crate::wire::{ALL_MODULES, Fault, Reply, Request, Run, frame};

/// How long a worker may take until its child serves; it may have to load its interpreter first.
const START: Duration = Duration::from_secs(30);

/// After so many modules that were not foreseen all of them are loaded.
const UNFORESEEN: usize = 4;

/// Code with one of these in it may ask for names that are not written in it.
const DYNAMIC: [&str; 7] = ["__", "dir", "eval", "exec", "globals", "locals", "vars"];

/// The jobs of one run. Dropping it kills its child.
#[derive(Debug)]
pub struct Session {
    compute: Compute,
    /// Names it among the sessions of its worker.
    number: u64,
    /// What its jobs have named so far.
    modules: Modules,
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.compute.places().take(self.number));
    }
}

impl Session {
    pub(super) fn new(compute: Compute) -> Session {
        let number = compute.places().next_session();
        Session {
            compute,
            number,
            modules: Modules::new(),
        }
    }

    /// Runs a job, with a time limit of its own if given.
    ///
    /// The future may be dropped: that kills the child, and the next job gets a new one.
    pub async fn run(&mut self, job: Job, time: Option<Duration>) -> Result<Output, Error> {
        let limits = &self.compute.options().limits;
        let time = time.unwrap_or(limits.time);
        self.modules.append(&mut named_in(&job.code));
        let request = Request::Run(travelling(job, time, limits.output_bytes));
        match self.ask(&request, time).await? {
            Reply::Done { value, printed } => Ok(Output { value, printed }),
            Reply::Ready(_) | Reply::Compiled | Reply::Failed(_) => Err(misunderstood()),
        }
    }

    /// The truth of a condition, with nothing but its names.
    pub async fn test(&mut self, job: Job, time: Option<Duration>) -> Result<bool, Error> {
        let job = Job {
            kind: Kind::Condition,
            ..job
        };
        let output = self.run(job, time).await?;
        Ok(output.value == Value::Bool(true))
    }

    /// Whether the code compiles.
    pub async fn check(&mut self, code: &str, kind: Kind) -> Result<(), Error> {
        let request = Request::Check {
            code: code.to_owned(),
            kind,
        };
        let time = self.compute.options().limits.time;
        match self.ask(&request, time).await? {
            Reply::Compiled => Ok(()),
            Reply::Ready(_) | Reply::Done { .. } | Reply::Failed(_) => Err(misunderstood()),
        }
    }

    pub(super) async fn isolation(&mut self) -> Result<Isolation, Error> {
        let (child, isolation) = self.fork().await?;
        self.compute.places().keep(self.number, child);
        Ok(isolation)
    }

    /// One request and its reply. It is asked again, with a module that was not foreseen, or of a
    /// new worker should the first one go away: code has no effects, so what it may have done before
    /// does not matter.
    async fn ask(&mut self, request: &Request, time: Duration) -> Result<Reply, Error> {
        let request = frame(request).map_err(|error| Error::unavailable(error.to_string()))?;
        let (mut replaced, mut unforeseen) = (false, 0);
        loop {
            match self.attempt(&request, time).await? {
                Ok(Reply::Failed(Fault::Unloaded { module })) if unforeseen <= UNFORESEEN => {
                    unforeseen += 1;
                    let all = unforeseen == UNFORESEEN;
                    let module = if all { ALL_MODULES.to_owned() } else { module };
                    self.modules.insert(module);
                }
                Ok(reply) => return self.judge(reply),
                Err(worker) if replaced => return Err(self.compute.bury(worker).await),
                Err(worker) => {
                    replaced = true;
                    drop(self.compute.bury(worker).await);
                }
            }
        }
    }

    /// The reply, or the id of the worker when that is gone.
    async fn attempt(
        &mut self,
        request: &[u8],
        time: Duration,
    ) -> Result<Result<Reply, u64>, Error> {
        // Taken out, so that a dropped future drops the child with it.
        let idle = self.compute.places().take(self.number);
        let mut child = match idle.filter(|child| self.modules.is_subset(&child.modules)) {
            Some(child) => child,
            None => self.fork().await?.0,
        };
        let limits = &self.compute.options().limits;
        let Ok(reply) = timeout(time, child.exchange(request, limits.output_bytes)).await else {
            return Err(Error::Timeout { after: time });
        };
        match reply {
            Ok(reply) => {
                self.compute.places().keep(self.number, child);
                Ok(Ok(reply))
            }
            Err(ReceiveError::Worker) => Ok(Err(child.worker)),
            Err(ReceiveError::Child(ended)) => {
                Err(Error::from_end(&ended, limits.memory_bytes, time))
            }
            Err(ReceiveError::Nonsense(_)) => Err(Error::Died {
                signal: None,
                status: None,
            }),
        }
    }

    /// A child that serves, as soon as there is a place for one. A worker that died before it could
    /// is replaced once.
    async fn fork(&self) -> Result<(Connection, Isolation), Error> {
        let place = self.compute.places().place().await;
        let (mut child, isolation) = self.connect().await?;
        child.place = place;
        Ok((child, isolation))
    }

    async fn connect(&self) -> Result<(Connection, Isolation), Error> {
        let mut gone = Error::unavailable("it did not start");
        for _ in 0..2 {
            let mut child = self.compute.connect(&self.modules).await?;
            match timeout(START, child.ready()).await {
                Ok(Ok(isolation)) => return Ok((child, isolation)),
                Ok(Err(ReceiveError::Worker)) => gone = self.compute.bury(child.worker).await,
                Ok(Err(ReceiveError::Child(ended))) => {
                    let why = format!("a child did not start: {}", ended.words.trim());
                    return Err(Error::unavailable(why));
                }
                Ok(Err(ReceiveError::Nonsense(what))) => return Err(Error::unavailable(what)),
                Err(_) => return Err(Error::unavailable("it did not start in time")),
            }
        }
        Err(gone)
    }

    fn judge(&self, reply: Reply) -> Result<Reply, Error> {
        let limits = &self.compute.options().limits;
        match reply {
            Reply::Failed(fault) => Err(Error::from_fault(
                fault,
                limits.memory_bytes,
                limits.output_bytes,
            )),
            reply @ (Reply::Ready(_) | Reply::Compiled | Reply::Done { .. }) => Ok(reply),
        }
    }
}

/// The job as it travels, without the names that the code cannot mention.
fn travelling(job: Job, time: Duration, output_bytes: usize) -> Run {
    let Job {
        code,
        kind,
        mut scope,
        now,
        zone,
        seed,
    } = job;
    if !DYNAMIC.iter().any(|word| code.contains(word)) {
        scope.retain(|name, _| code.contains(name.as_str()));
    }
    Run {
        code,
        kind,
        scope,
        now,
        zone,
        seed,
        output_bytes,
        // The kernel counts whole seconds and the client's timer comes first.
        cpu_seconds: time.as_secs().saturating_add(2),
    }
}

fn misunderstood() -> Error {
    Error::unavailable("it answered another question")
}
