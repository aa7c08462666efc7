//! The client: starts the worker, opens sessions, sends jobs and enforces time limits.
//!
//! [`Compute`] is the handle that all callers share. It restarts a worker that died and assigns a child to
//! each job. Not here: executing code.

mod connection;
mod loan;
mod modules;
mod places;
mod session;
mod zygote;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

pub use session::Session;

use crate::error::Error;
use crate::job::{Isolation, Kind, Options};
use connection::{Connection, Modules};
use places::Places;
use zygote::Zygote;

/// A handle to the worker. Clones share one worker, which the first job or `warm` starts.
///
/// All methods must be called inside a tokio runtime with I/O and time enabled.
#[derive(Debug, Clone)]
pub struct Compute {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: Options,
    /// The socket at which another process may lend its worker.
    borrow: Option<PathBuf>,
    zygote: Mutex<Option<Zygote>>,
    places: Places,
}

impl Compute {
    /// Creates a handle without starting the worker.
    pub fn new(options: Options) -> Compute {
        Compute::from_options(options, None)
    }

    /// Creates a handle that uses the worker which another process lends at `place`, if available.
    pub fn with_borrowed_worker(options: Options, place: PathBuf) -> Compute {
        Compute::from_options(options, Some(place))
    }

    fn from_options(options: Options, borrow: Option<PathBuf>) -> Compute {
        Compute {
            inner: Arc::new(Inner {
                places: Places::new(options.limits.children),
                options,
                borrow,
                zygote: Mutex::new(None),
            }),
        }
    }

    /// Starts the worker before the first job. A failure is reported by that job.
    pub fn warm(&self) {
        drop(self.running_zygote(&mut self.slot()));
    }

    /// Lends the worker to other processes of this user, at a socket created at `place`. Returns only if the
    /// socket cannot be created or fails, or if the program of the worker cannot be read.
    pub async fn lend(&self, place: &Path) -> std::io::Result<()> {
        loan::lend(self, place).await
    }

    fn with_control<T>(&self, use_it: impl FnOnce(&OwnedFd) -> T) -> Result<T, Error> {
        let mut slot = self.slot();
        Ok(use_it(&self.running_zygote(&mut slot)?.control))
    }

    /// Starts the worker and loads the modules that the code imports, before the first job.
    pub fn warm_for<'a>(&self, code: impl IntoIterator<Item = &'a str>) {
        self.warm();
        let modules: Modules = code.into_iter().flat_map(modules::named_in).collect();
        if let Some(zygote) = self.slot().as_ref() {
            zygote.prepare(&modules);
        }
    }

    /// Creates a session for one run. Its first job forks its child.
    pub fn session(&self) -> Session {
        Session::new(self.clone())
    }

    /// Checks that the code compiles, in a new session.
    pub async fn check(&self, code: &str, kind: Kind) -> Result<(), Error> {
        self.session().check(code, kind).await
    }

    /// Returns the isolation that this kernel provides, as reported by a child.
    pub async fn isolation(&self) -> Result<Isolation, Error> {
        self.session().isolation().await
    }

    /// Returns the process id of the worker, or `None` if it has not been started by this process.
    pub fn worker_id(&self) -> Option<u32> {
        self.slot().as_ref().and_then(Zygote::process_id)
    }

    /// Stops the worker and all its children. The next job starts it again.
    pub async fn shutdown(&self) {
        let zygote = self.slot().take();
        if let Some(zygote) = zygote {
            zygote.stop().await;
        }
    }

    fn places(&self) -> &Places {
        &self.inner.places
    }

    pub(crate) fn options(&self) -> &Options {
        &self.inner.options
    }

    /// Requests a new child; restarts the worker once if it has ended.
    pub(crate) async fn connect(&self, modules: &Modules) -> Result<Connection, Error> {
        let mut replaced = false;
        loop {
            let (id, asked) = {
                let mut slot = self.slot();
                let zygote = self.running_zygote(&mut slot)?;
                (
                    zygote.id,
                    zygote.spawn(self.options().limits.memory_bytes, modules),
                )
            };
            match asked {
                Ok(Some(connection)) => return Ok(connection),
                // The queue is full of requests that the worker has not read yet.
                Ok(None) => tokio::time::sleep(zygote::QUEUE_WAIT).await,
                Err(_) if !replaced => {
                    replaced = true;
                    drop(self.discard_worker(id).await);
                }
                Err(_) => return Err(self.discard_worker(id).await),
            }
        }
    }

    /// Discards the worker with this id, which has ended, and returns the error for its end.
    pub(crate) async fn discard_worker(&self, id: u64) -> Error {
        // Another caller may already have started a new one.
        let gone = self.slot().take_if(|zygote| zygote.id == id);
        zygote::exit_error(gone, "it ended before it answered").await
    }

    fn running_zygote<'a>(
        &self,
        slot: &'a mut MutexGuard<'_, Option<Zygote>>,
    ) -> Result<&'a mut Zygote, Error> {
        if !slot.as_mut().is_some_and(Zygote::is_alive) {
            **slot = None;
        }
        match &mut **slot {
            Some(zygote) => Ok(zygote),
            empty @ None => {
                let options = &self.inner.options;
                let lent = self.inner.borrow.as_ref();
                let lent = lent.and_then(|place| loan::borrow(place, &options.program));
                Ok(empty.insert(match lent {
                    Some(control) => Zygote::from_lent(control),
                    None => Zygote::start(options)?,
                }))
            }
        }
    }

    fn slot(&self) -> MutexGuard<'_, Option<Zygote>> {
        self.inner.zygote.lock()
    }
}
