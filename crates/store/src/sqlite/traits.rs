//! The traits of a store for [`Sqlite`](super::Sqlite), which pass each request to a reader or to the
//! writer.

mod people;
mod runs;
mod skills;
