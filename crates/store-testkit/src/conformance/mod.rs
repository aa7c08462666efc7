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
    admission::a_key_is_one_run_for_ever,
    admission::fifty_at_once_are_one_run,
    admission::a_slot_is_one_run_of_its_skill,
    admission::a_taken_id_is_refused,
    admission::skip_ends_the_new_run,
    admission::queue_waits_its_turn,
    admission::events_aside_and_at_the_close,
    admission::cancel_other_ends_or_asks,
    admission::allow_does_not_look,
    admission::a_first_claim_brings_its_batch,
    admission::a_first_claim_over_the_limit_is_queued,
    admission::a_first_claim_waits_its_turn_too,
    leases::the_oldest_goes_first,
    leases::a_parked_run_is_due_at_its_time,
    leases::the_limit_of_a_skill_holds,
    leases::the_limit_of_all_holds,
    leases::parked_runs_do_not_count,
    leases::only_means_this_one_or_none,
    leases::a_stale_lease_is_fenced_off,
    leases::release_takes_from_the_dead_and_the_late,
    leases::renew_extends_and_tells,
    leases::owners_are_those_who_drive,
    batches::events_are_numbered_without_gaps,
    batches::an_empty_batch_is_fine,
    batches::a_finish_is_kept_whole,
    batches::a_failed_entry_leaves_others_intact,
    batches::a_failed_batch_leaves_nothing,
    batches::a_refused_admission_cancels_no_run,
    ends::cancel_ends_a_run_without_a_driver,
    ends::the_close_is_stored_with_the_end,
    ends::cancel_asks_the_driver,
    ends::a_cancelled_run_does_not_park_past_it,
    ends::the_first_who_cancels_is_named,
    ends::reopen_makes_due_again,
    ends::reopen_queues_behind_others,
    ends::reopen_refuses_what_is_not_over,
    people::an_answer_wakes_the_run,
    people::the_first_answer_counts,
    people::an_early_answer_is_not_lost,
    people::an_answer_seen_is_not_told_again,
    people::no_answers_after_the_end,
    people::a_grant_is_stored_only_with_the_answer_that_counts,
    people::grants_are_kept_by_skill,
    people::a_grant_can_be_taken_back,
    aside::results_expire,
    aside::a_revision_is_kept_once,
    aside::good_files_are_replaced,
    aside::catalogs_are_replaced,
    aside::the_version_changes_with_writes,
    reading::runs_are_listed_newest_first,
    reading::filters_narrow_the_list,
    reading::runs_are_read_in_pages,
    reading::late_runs_are_counted_while_they_are_driven,
    reading::events_are_read_in_pages,
    reading::runs_that_paused_are_told_apart,
    reading::outcomes_and_revisions_are_counted,
    skills::a_skill_is_read_as_it_was_stored,
    skills::a_name_is_one_skill,
    skills::a_new_content_takes_the_place_of_the_old,
    skills::due_is_what_has_come_and_fires,
    skills::a_slot_brings_one_run,
    skills::a_slot_that_was_decided_before_a_rest_is_decided_anew,
    skills::a_disabled_skill_does_not_move,
    skills::passed_slots_are_rows,
    skills::the_last_slot_ends_a_skill_unless_it_runs,
    skills::an_end_changes_the_skill_with_it,
    skills::the_end_of_a_deleted_skill_is_stored,
    skills::a_change_counts_once,
    skills::skills_are_listed_by_name,
    skills::waiting_runs_are_woken_by_what_they_wait_for,
    skills::held_skills_are_not_claimed,
    skills::changed_files_are_listed,
    outbox::a_notice_comes_with_the_end,
    outbox::a_key_is_told_once,
    outbox::a_taken_notice_is_nobody_elses_for_a_while,
    outbox::a_sent_notice_is_over,
    outbox::a_failed_notice_is_tried_again_or_given_up,
    outbox::a_try_that_could_not_begin_counts_for_none,
    outbox::parts_that_arrived_are_remembered,
    outbox::facts_are_found,
    outbox::facts_are_forgotten_for_good,
    outbox::a_fact_is_kept_once,
    outbox::settings_are_replaced,
    conversations::a_conversation_is_opened_once,
    conversations::messages_are_numbered_without_gaps,
    conversations::messages_come_with_the_batch,
    conversations::messages_come_with_the_admission,
    conversations::nothing_is_said_twice,
    conversations::a_failed_batch_says_nothing,
    conversations::many_may_speak_at_once,
    conversations::the_last_one_spoken_in_is_listed_first,
    conversations::conversations_are_found_by_title_and_message,
    conversations::words_are_found,
    conversations::a_conversation_can_be_put_away,
    conversations::the_end_of_a_conversation_can_be_cut,
    conversations::a_deleted_conversation_stays_deleted,
    conversations::conversations_outlive_their_runs,
    usage::a_row_says_what_its_run_spent,
    usage::a_cancelled_run_says_it_too,
    usage::a_run_that_goes_on_counts_on,
    ledger::a_limit_is_reached_and_not_passed,
    ledger::money_has_limits_too,
    ledger::all_scopes_or_none,
    ledger::the_same_key_replaces,
    ledger::a_scope_named_twice_counts_once,
    ledger::what_was_spent_takes_the_place,
    ledger::more_than_was_reserved_is_counted_in_full,
    ledger::a_call_without_an_answer_gives_back,
    ledger::what_is_reserved_ends_with_the_lease,
    ledger::a_crash_spends_the_estimate,
    ledger::a_lost_lease_reserves_nothing,
    ledger::a_failed_batch_spends_nothing,
    ledger::a_wish_to_stop_keeps_what_is_reserved,
    ledger::twenty_at_once_do_not_overspend,
    ledger::scopes_are_found_by_their_names,
    ledger::usage_is_kept_in_buckets,
    ledger::what_was_spent_is_forgotten_when_it_is_old,
    ledger::what_was_spent_outlives_the_run,
    prune::only_what_is_over_and_old_goes,
    prune::everything_of_a_run_goes_with_it,
    prune::keys_and_slots_stay_taken,
    prune::it_goes_in_pieces_and_can_only_count,
    prune::results_go_when_they_are_too_old,
];

/// Checks every rule, each with a new store.
pub async fn check<S: Store>(make: impl Fn() -> S) {
    for (_, rule) in RULES {
        rule(&make()).await;
    }
}
