//! The MCP servers of the configuration.
//!
//! Only `probe` and sign-ins start a server; the other functions read and write the configuration. Not here:
//! tools and calls, which are in `tools`.

mod callback;
mod edit;
mod import;
mod list;
mod probe;
mod sign_in;

pub use edit::{NewServer, ServerAddress, add, remove};
pub use import::{ImportOptions, import};
pub(crate) use import::{allowed_name, server_names};
pub use list::list;
pub use probe::probe;
pub(crate) use sign_in::sign_in_note;
pub use sign_in::{SignIn, sign_out};
