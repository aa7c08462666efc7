//! Plain words for codes in JSON, used in tables and sentences.

use deft_model::DisabledReason;

/// Returns why a skill is disabled, as text to follow "disabled:" or to put in brackets.
pub fn disabled_words(reason: DisabledReason) -> &'static str {
    match reason {
        DisabledReason::User => "by a person",
        DisabledReason::Failures => "failed too often",
        DisabledReason::MissingTools => "tools missing",
        DisabledReason::FileRemoved => "file removed",
        DisabledReason::OneShotDone => "one-shot done",
        DisabledReason::Budget => "budget spent",
        DisabledReason::Deleted => "deleted",
    }
}
