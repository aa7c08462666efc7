//! The traits of a store for [`Memory`](super::Memory); every request runs under the lock.

mod people;
mod runs;
mod skills;
