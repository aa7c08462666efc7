//! A session: the jobs of one run, executed in order in a dedicated child.
//!
//! The child is replaced when a job ends it, exceeds its time limit or is dropped. Jobs of one session do
//! not share names, but a session is the unit of isolation: code that tampers with a module may affect later
//! code of the same session, never another session.
//!
//! Between two jobs the child is in the list of idle children (`places.rs`), where another session may take
//! its place.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::Compute;
use super::connection::{Connection, Modules, ReceiveError};
use super::modules::named_in;
use crate::error::Error;
use crate::job::{Isolation, Job, Kind, Output};
use crate::wire::{ALL_MODULES, Fault, Reply, Request, Run, frame};

/// How long a child may take to become ready; the worker may have to load its interpreter first.
const START: Duration = Duration::from_secs(30);

/// After this many missing modules, all modules are loaded.
const MAX_MISSING_MODULES: usize = 4;

/// Code that contains one of these may read names that are not written in it.
const DYNAMIC: [&str; 7] = ["__", "dir", "eval", "exec", "globals", "locals", "vars"];

/// The jobs of one run. Dropping a session kills its child.
#[derive(Debug)]
pub struct Session {
    compute: Compute,
    /// Identifies the session within its worker.
    number: u64,
    /// The modules that its jobs have imported so far.
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

    /// Runs a job, with the time limit `time` or the default.
    ///
    /// The future may be dropped: that kills the child, and the next job gets a new one.
    pub async fn run(&mut self, job: Job, time: Option<Duration>) -> Result<Output, Error> {
        let limits = &self.compute.options().limits;
        let time = time.unwrap_or(limits.time);
        self.modules.append(&mut named_in(&job.code));
        let request = Request::Run(to_request(job, time, limits.output_bytes));
        match self.ask(&request, time).await? {
            Reply::Done { value, printed } => Ok(Output { value, printed }),
            Reply::Ready(_) | Reply::Compiled | Reply::Failed(_) => Err(unexpected_reply()),
        }
    }

    /// Evaluates a condition, which has access only to its scope.
    pub async fn test(&mut self, job: Job, time: Option<Duration>) -> Result<bool, Error> {
        let job = Job {
            kind: Kind::Condition,
            ..job
        };
        let output = self.run(job, time).await?;
        Ok(output.value == Value::Bool(true))
    }

    /// Checks that the code compiles.
    pub async fn check(&mut self, code: &str, kind: Kind) -> Result<(), Error> {
        let request = Request::Check {
            code: code.to_owned(),
            kind,
        };
        let time = self.compute.options().limits.time;
        match self.ask(&request, time).await? {
            Reply::Compiled => Ok(()),
            Reply::Ready(_) | Reply::Done { .. } | Reply::Failed(_) => Err(unexpected_reply()),
        }
    }

    pub(super) async fn isolation(&mut self) -> Result<Isolation, Error> {
        let (child, isolation) = self.fork().await?;
        self.compute.places().keep(self.number, child);
        Ok(isolation)
    }

    /// Sends a request and returns the reply. The request is repeated if a module was missing, or once with
    /// a new worker if the first one ended. Code has no side effects, so a partial execution does not
    /// matter.
    async fn ask(&mut self, request: &Request, time: Duration) -> Result<Reply, Error> {
        let request = frame(request).map_err(|error| Error::unavailable(error.to_string()))?;
        let (mut replaced, mut unforeseen) = (false, 0);
        loop {
            match self.attempt(&request, time).await? {
                Ok(Reply::Failed(Fault::Unloaded { module }))
                    if unforeseen <= MAX_MISSING_MODULES =>
                {
                    unforeseen += 1;
                    let all = unforeseen == MAX_MISSING_MODULES;
                    let module = if all { ALL_MODULES.to_owned() } else { module };
                    self.modules.insert(module);
                }
                Ok(reply) => return self.judge(reply),
                Err(worker) if replaced => return Err(self.compute.discard_worker(worker).await),
                Err(worker) => {
                    replaced = true;
                    drop(self.compute.discard_worker(worker).await);
                }
            }
        }
    }

    /// Returns the reply, or the id of the worker if that has ended.
    async fn attempt(
        &mut self,
        request: &[u8],
        time: Duration,
    ) -> Result<Result<Reply, u64>, Error> {
        // Removed from the list, so that dropping the future also drops the child.
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

    /// Waits for a place and starts a child. A worker that dies before the child is ready is replaced once.
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
                Ok(Err(ReceiveError::Worker)) => {
                    gone = self.compute.discard_worker(child.worker).await;
                }
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

/// Converts a job for the data socket, without names that the code cannot read.
fn to_request(job: Job, time: Duration, output_bytes: usize) -> Run {
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
        // The kernel counts whole seconds, and the client's timer must fire first.
        cpu_seconds: time.as_secs().saturating_add(2),
    }
}

fn unexpected_reply() -> Error {
    Error::unavailable("unexpected type of reply")
}
