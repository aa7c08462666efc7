//! The MCP servers of the configuration.
//!
//! Only `probe` starts a server; everything else reads and writes the file. Not here: tools and calls,
//! which are in `tools`.

mod edit;
mod import;
mod list;
mod probe;

pub use edit::{NewServer, Reach, add, remove};
pub use import::{ImportOptions, import};
pub(crate) use import::{allowed_name, server_names};
pub use list::list;
pub use probe::probe;
