//! Tools and the servers that provide them.

mod catalogs;

pub use catalogs::{Opened, forget, remember, router};
