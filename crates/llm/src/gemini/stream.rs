//! Streamed responses of Gemini: each event is a response with the next piece.

use serde_json::Value;

use super::response::{Signatures, take, words};
use crate::draft::Draft;
use crate::provider_failure::ProviderFailure;
use crate::wire::Events;

#[derive(Default)]
pub(super) struct Stream {
    signatures: Signatures,
}

impl Events for Stream {
    fn take(&mut self, data: &str, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
        let event: Value =
            serde_json::from_str(data).map_err(|_| ProviderFailure::bad_event(data))?;
        if let Some(words) = words(&event) {
            return Err(ProviderFailure::in_stream(&words));
        }
        take(&event, draft, &mut self.signatures)?;
        Ok(())
    }

    fn has_ended(&self) -> bool {
        // There is no end mark, and counts may follow the stop reason.
        false
    }

    fn end(&mut self, draft: &mut Draft<'_>) -> Result<(), ProviderFailure> {
        // Without an end mark, a stop reason is the only sign of a complete response.
        if draft.stop.is_none() {
            return Err(ProviderFailure::cut());
        }
        std::mem::take(&mut self.signatures).keep(draft);
        Ok(())
    }
}
