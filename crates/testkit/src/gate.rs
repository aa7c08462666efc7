//! A gate at which a double waits until the test opens it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A gate that is closed until it is opened, then stays open. Clones share one gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// Opens the gate for all waiters.
    pub fn open(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Waits until the gate is open.
    pub fn wait(&self) {
        let shut = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.0.1.wait_while(shut, |open| !*open));
    }
}

impl PartialEq for Gate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Gate {}
