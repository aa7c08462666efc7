//! The head of a provider's response.

use std::time::Duration;

/// The head of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The HTTP status.
    pub status: u16,
    /// The content type, if given.
    pub kind: Option<String>,
    /// How long to wait before the next try, if the provider asks for it.
    pub after: Option<Duration>,
}

impl Head {
    pub(crate) fn is_well(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
