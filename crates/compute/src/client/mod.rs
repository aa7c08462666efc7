//! The light half: starts the worker, opens sessions, sends jobs and keeps the time.
//!
//! [`Compute`] is the handle that all callers share. It restarts a worker that died and chooses the
//! child for each job. Not here: what the code means.

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

/// A handle on the worker. Clones share one; it is started by the first job, or by `warm`.
///
/// Everything here must be called inside a tokio runtime with I/O and time enabled.
#[derive(Debug, Clone)]
pub struct Compute {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: Options,
    /// Where a worker may be lent by another process of the same program.
    borrow: Option<PathBuf>,
    zygote: Mutex<Option<Zygote>>,
    places: Places,
}

impl Compute {
    /// A handle; nothing is started yet.
    pub fn new(options: Options) -> Compute {
        Compute::made(options, None)
    }

    /// A handle that uses the worker which another process lends at this place, if one does.
    pub fn borrowing(options: Options, place: PathBuf) -> Compute {
        Compute::made(options, Some(place))
    }

    fn made(options: Options, borrow: Option<PathBuf>) -> Compute {
        Compute {
            inner: Arc::new(Inner {
                places: Places::new(options.limits.children),
                options,
                borrow,
                zygote: Mutex::new(None),
            }),
        }
    }

    /// Starts the worker ahead of the first job. A failure is left for that job to report.
    pub fn warm(&self) {
        drop(self.living(&mut self.slot()));
    }

    /// Lends the worker to other processes of this user, at a socket that is made at this place.
    /// Returns only when there is no such place, or no more asking.
    pub async fn lend(&self, place: &Path) -> std::io::Result<()> {
        loan::lend(self, place).await
    }

    fn with_control<T>(&self, use_it: impl FnOnce(&OwnedFd) -> T) -> Result<T, Error> {
        let mut slot = self.slot();
        Ok(use_it(&self.living(&mut slot)?.control))
    }

    /// Starts the worker and lets it load what the code imports, ahead of the first job.
    pub fn warm_for<'a>(&self, code: impl IntoIterator<Item = &'a str>) {
        self.warm();
        let modules: Modules = code.into_iter().flat_map(modules::named_in).collect();
        if let Some(zygote) = self.slot().as_ref() {
            zygote.prepare(&modules);
        }
    }

    /// A session for one run. Its child is forked by its first job.
    pub fn session(&self) -> Session {
        Session::new(self.clone())
    }

    /// Whether the code compiles, asked of a child of its own.
    pub async fn check(&self, code: &str, kind: Kind) -> Result<(), Error> {
        self.session().check(code, kind).await
    }

    /// What holds children back on this kernel, as one of them reports it.
    pub async fn isolation(&self) -> Result<Isolation, Error> {
        self.session().isolation().await
    }

    /// The process id of the worker, if it has been started.
    pub fn worker_id(&self) -> Option<u32> {
        self.slot().as_ref().and_then(Zygote::process_id)
    }

    /// Ends the worker and all children. A later job starts it again.
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

    /// A new child, of a worker that was alive a moment ago.
    pub(crate) async fn connect(&self, modules: &Modules) -> Result<Connection, Error> {
        let mut replaced = false;
        loop {
            let (id, asked) = {
                let mut slot = self.slot();
                let zygote = self.living(&mut slot)?;
                (
                    zygote.id,
                    zygote.spawn(self.options().limits.memory_bytes, modules),
                )
            };
            match asked {
                Ok(Some(connection)) => return Ok(connection),
                // The queue is full of sessions that the worker has not come to yet.
                Ok(None) => tokio::time::sleep(zygote::QUEUE_WAIT).await,
                Err(_) if !replaced => {
                    replaced = true;
                    drop(self.bury(id).await);
                }
                Err(_) => return Err(self.bury(id).await),
            }
        }
    }

    /// Lets go of the worker with this id, which is gone, and says what is known of its end.
    pub(crate) async fn bury(&self, id: u64) -> Error {
        // Another caller may have started the next one already.
        let gone = self.slot().take_if(|zygote| zygote.id == id);
        zygote::obituary(gone, "it ended before it answered").await
    }

    fn living<'a>(
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
                    Some(control) => Zygote::lent(control),
                    None => Zygote::start(options)?,
                }))
            }
        }
    }

    fn slot(&self) -> MutexGuard<'_, Option<Zygote>> {
        self.inner.zygote.lock()
    }
}
