//! Lists and calls tools.
//!
//! Listing starts no server: it uses the stored catalogs, and reports servers that were never queried. Not
//! here: the servers themselves, which are in `servers`.

mod approval;
mod call;
mod list;

pub use approval::{ApprovalState, forget};
pub use call::{
    CallFailure, CalledTool, ToolRequest, call, call_live, call_open, explain, read_value,
};

pub use deft_tools::first_sentence;
pub(crate) use list::no_such_server;
pub use list::{
    CatalogView, ShownTool, ToolQuery, catalog, catalog_live, list, list_live, show, show_live,
};

use crate::router::CatalogRouter;

/// A result with warnings for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithWarnings<T> {
    /// The result.
    pub value: T,
    /// Warnings about the store and secrets.
    pub warnings: Vec<String>,
}

impl<T> WithWarnings<T> {
    pub(crate) async fn close(value: T, opened: CatalogRouter) -> Self {
        Self {
            value,
            warnings: opened.close().await,
        }
    }
}
