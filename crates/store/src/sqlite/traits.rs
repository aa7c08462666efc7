//! The traits of a store for [`Sqlite`](super::Sqlite): which thread answers which request.

mod people;
mod runs;
mod skills;
