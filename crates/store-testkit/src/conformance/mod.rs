//! The rules of a store, one function each, for every backend.
//!
//! A rule gets an empty store, uses only its trait, and panics on a wrong answer. Not here: guarantees of a
//! single backend, such as a file that survives.

#![expect(
    clippy::unwrap_used,
    reason = "a rule that is broken fails the test that runs it"
)]

mod admission;
mod aside;
mod batches;
mod conversations;
mod ends;
mod leases;
mod ledger;
mod outbox;
mod people;
mod prune;
mod reading;
mod skills;
mod support;
mod usage;

use std::pin::Pin;

use deft_store::Store;

/// The future of a rule.
pub type Check<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The name of a rule and the function that checks it.
pub type Rule = (&'static str, for<'a> fn(&'a dyn Store) -> Check<'a>);

macro_rules! rules {
    ($($module:ident :: $rule:ident),+ $(,)?) => {
        &[$((stringify!($rule), |store| Box::pin($module::$rule(store)))),+]
    };
}

/// All rules.
pub const RULES: &[Rule] = rules![
    admission::a_key_belongs_to_one_run_permanently,
    admission::fifty_at_once_are_one_run,
    admission::a_slot_is_one_run_of_its_skill,
    admission::a_taken_id_is_refused,
    admission::skip_ends_the_new_run,
    admission::queue_waits_its_turn,
    admission::aside_and_closing_events_are_stored,
    admission::cancel_other_ends_or_asks,
    admission::overlap_allow_starts_at_once,
    admission::a_first_claim_stores_its_batch,
    admission::a_first_claim_over_the_limit_is_queued,
    admission::a_first_claim_waits_for_earlier_runs,
    leases::the_oldest_run_is_claimed_first,
    leases::a_parked_run_is_due_at_its_time,
    leases::the_limit_of_a_skill_is_enforced,
    leases::the_limit_of_all_runs_is_enforced,
    leases::parked_runs_do_not_count,
    leases::a_claim_of_one_run_takes_no_other,
    leases::a_stale_lease_is_fenced,
    leases::release_frees_runs_of_dead_and_late_owners,
    leases::renew_extends_leases_and_returns_cancelled_runs,
    leases::owners_are_the_processes_with_leases,
    batches::events_are_numbered_without_gaps,
    batches::an_empty_batch_is_fine,
    batches::a_finish_stores_every_column,
    batches::a_failed_entry_leaves_others_intact,
    batches::a_failed_batch_stores_nothing,
    batches::a_refused_admission_cancels_no_run,
    ends::cancel_ends_a_run_without_a_driver,
    ends::the_close_is_stored_with_the_end,
    ends::cancel_asks_the_driver,
    ends::a_cancelled_run_does_not_park,
    ends::the_first_canceller_is_stored,
    ends::reopen_makes_due_again,
    ends::reopen_queues_after_other_runs,
    ends::reopen_refuses_unfinished_runs,
    people::an_answer_wakes_the_run,
    people::the_first_answer_is_kept,
    people::an_early_answer_is_not_lost,
    people::a_seen_answer_wakes_no_later_park,
    people::no_answers_after_the_end,
    people::a_grant_is_stored_only_with_the_answer_that_counts,
    people::grants_are_kept_by_skill,
    people::a_grant_can_be_revoked,
    aside::results_expire,
    aside::a_revision_is_kept_once,
    aside::good_files_are_replaced,
    aside::catalogs_are_replaced,
    aside::the_version_changes_with_writes,
    reading::runs_are_listed_newest_first,
    reading::filters_narrow_the_list,
    reading::runs_are_read_in_pages,
    reading::late_runs_are_counted_while_they_run,
    reading::events_are_read_in_pages,
    reading::paused_runs_are_distinguished,
    reading::outcomes_and_revisions_are_counted,
    skills::a_skill_is_read_as_it_was_stored,
    skills::a_name_belongs_to_one_skill,
    skills::a_new_content_replaces_the_old,
    skills::due_skills_are_enabled_and_past_their_slot,
    skills::a_slot_starts_one_run,
    skills::a_slot_decided_before_a_backoff_is_decided_again,
    skills::a_disabled_skill_keeps_its_next_slot,
    skills::passed_slots_are_stored_as_rows,
    skills::the_last_slot_ends_a_skill_unless_it_runs,
    skills::the_end_of_a_run_changes_its_skill,
    skills::the_end_of_a_deleted_skill_is_stored,
    skills::a_change_is_applied_once,
    skills::skills_are_listed_by_name,
    skills::waiting_runs_are_woken_by_their_reason,
    skills::held_skills_are_not_claimed,
    skills::long_queues_do_not_hide_other_runs,
    skills::changed_files_are_listed,
    outbox::a_notice_is_stored_with_the_end,
    outbox::a_notice_key_is_stored_once,
    outbox::a_claimed_notice_is_not_claimed_again,
    outbox::a_sent_notice_is_finished,
    outbox::a_failed_notice_is_retried_up_to_a_limit,
    outbox::a_try_that_could_not_start_is_not_counted,
    outbox::delivered_parts_are_stored,
    outbox::facts_are_found,
    outbox::facts_are_deleted_permanently,
    outbox::a_fact_is_kept_once,
    outbox::settings_are_replaced,
    outbox::a_changed_setting_is_not_replaced,
    conversations::a_conversation_is_opened_once,
    conversations::messages_are_numbered_without_gaps,
    conversations::messages_are_stored_with_the_batch,
    conversations::messages_are_stored_with_the_admission,
    conversations::no_message_is_stored_twice,
    conversations::a_failed_batch_adds_no_messages,
    conversations::many_runs_can_add_messages_concurrently,
    conversations::the_last_used_conversation_is_listed_first,
    conversations::conversations_are_found_by_title_and_message,
    conversations::words_are_found,
    conversations::a_conversation_can_be_archived,
    conversations::the_last_messages_of_a_conversation_can_be_cut,
    conversations::a_deleted_conversation_stays_deleted,
    conversations::conversations_outlive_their_runs,
    usage::a_row_has_the_usage_of_its_run,
    usage::a_cancelled_run_stores_its_usage,
    usage::a_resumed_run_adds_to_its_usage,
    ledger::a_limit_is_reached_and_not_passed,
    ledger::money_has_limits_too,
    ledger::all_scopes_or_none,
    ledger::the_same_key_replaces,
    ledger::a_scope_named_twice_counts_once,
    ledger::spending_replaces_its_reservation,
    ledger::more_than_was_reserved_is_counted_in_full,
    ledger::a_call_without_an_answer_releases_its_reservation,
    ledger::reservations_end_with_the_lease,
    ledger::a_crash_spends_the_estimate,
    ledger::a_lost_lease_reserves_nothing,
    ledger::a_failed_batch_spends_nothing,
    ledger::a_cancel_request_keeps_reservations,
    ledger::twenty_at_once_do_not_overspend,
    ledger::scopes_are_found_by_their_names,
    ledger::usage_is_kept_in_buckets,
    ledger::old_spending_is_deleted,
    ledger::spending_is_kept_after_its_run,
    prune::only_old_finished_runs_are_pruned,
    prune::everything_of_a_run_goes_with_it,
    prune::keys_and_slots_stay_taken,
    prune::pruning_works_in_batches_and_can_only_count,
    prune::only_the_listed_runs_are_pruned,
    prune::old_results_are_deleted,
];

/// Checks every rule, each with a new store.
pub async fn check<S: Store>(make: impl Fn() -> S) {
    for (_, rule) in RULES {
        rule(&make()).await;
    }
}
