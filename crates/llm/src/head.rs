//! The head of an answer of a provider.

use std::time::Duration;

/// The head of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The status.
    pub status: u16,
    /// The content type, if it is given.
    pub kind: Option<String>,
    /// How long to wait before the next try, if the provider says.
    pub after: Option<Duration>,
}

impl Head {
    pub(crate) fn is_well(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
