//! Codes of documents in plain words, for tables and sentences.

use deft_model::DisabledReason;

/// Why a skill does not fire, to stand behind "off:" or in brackets.
pub fn disabled_words(reason: DisabledReason) -> &'static str {
    match reason {
        DisabledReason::User => "by hand",
        DisabledReason::Failures => "failed too often",
        DisabledReason::MissingTools => "tools missing",
        DisabledReason::FileRemoved => "file removed",
        DisabledReason::OneShotDone => "fired once",
        DisabledReason::Budget => "budget spent",
        DisabledReason::Deleted => "deleted",
    }
}
