//! Long runs as tasks: the extension `io.modelcontextprotocol/tasks`, for the protocol revision without
//! sessions.
//!
//! The id of a task is the id of its run, and everything a client learns about a task is in the record of the
//! run. Therefore tasks are known after a restart and to every process that serves the home. Not here:
//! notifications about tasks, which the library cannot send on the stream of `subscriptions/listen` (clients
//! poll), and the older tasks of 2025-11-25.

mod follow;
mod requests;
mod start;
mod state;

pub(super) use follow::TaskRuns;
pub(super) use requests::{cancel, get, update};
pub(super) use start::run;

use std::collections::BTreeMap;

use rmcp::RoleServer;
use rmcp::model::{ExtensionCapabilities, JsonObject, ProtocolVersion, TASKS_EXTENSION_ID};
use rmcp::service::RequestContext;

/// Returns the server's declaration of this extension, which has no settings.
pub(super) fn extension() -> ExtensionCapabilities {
    BTreeMap::from([(TASKS_EXTENSION_ID.to_owned(), JsonObject::new())])
}

/// Whether the client accepts a task as the answer to this request.
pub(super) fn are_known_to(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    let capabilities = context.client_capabilities();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
        && capabilities.is_some_and(|it| it.supports_tasks())
}
