//! Where a run comes from.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::TraceContext;

/// The request that a run comes from, as its journal names it. Runs of schedules have none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOrigin {
    /// The id of the request over HTTP or MCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The span of the caller, if it traces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Arc<TraceContext>>,
}

impl RunOrigin {
    /// Whether nothing is known of it, so that the journal needs no word about it.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}
