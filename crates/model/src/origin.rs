//! The origin of a run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::TraceContext;

/// The request that started a run, as recorded in the journal. Empty for runs started by a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOrigin {
    /// The id of the HTTP or MCP request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The span of the caller, if the caller sent trace context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Arc<TraceContext>>,
}

impl RunOrigin {
    /// Returns whether nothing is known, so that the journal omits the origin.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}
