//! Row and request types of a store: plain data, no behaviour.
//!
//! Event bodies, inputs, outputs and errors are JSON texts that the store never parses.

use deft_model::{Cause, Choice, EventType, Outcome, Overlap, RunId, RunStatus, Tier, WaitKind};
use jiff::Timestamp;

use crate::{NewConversation, NewFact, NewMessage, SkillUpdate, SlotStep, Spend};

/// Why a parked run waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitReason {
    /// The kind of wait; it decides what wakes the run.
    pub kind: WaitKind,
    /// The reason in words, for people.
    pub text: String,
}

/// A request to queue a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Admission {
    /// The id of the run.
    pub run: RunId,
    /// The skill.
    pub skill: String,
    /// The revision of the skill, pinned for the whole run.
    pub revision: String,
    /// How the skill runs.
    pub tier: Tier,
    /// The agent that the skill belongs to.
    pub agent_id: String,
    /// The cause of the fire.
    pub cause: Cause,
    /// The slot that the run is for.
    pub slot: Option<Timestamp>,
    /// The move of the skill to its next slot, applied with the admission.
    pub step: Option<SlotStep>,
    /// The key of the fire. A key never starts a second run, not even years later.
    pub key: Option<String>,
    /// The earlier run that this one repeats.
    pub parent: Option<RunId>,
    /// The validated inputs, a JSON object.
    pub inputs: String,
    /// When the run was requested.
    pub at: Timestamp,
    /// The rule for when another run of the skill is active.
    pub overlap: Overlap,
    /// Maximum number of runs of the skill that run at once.
    pub skill_limit: Option<u32>,
    /// Takes the lease in the same transaction, so that the caller can start driving immediately.
    pub claim: Option<AdmissionClaim>,
    /// Events for a later driver; stored only if no lease is granted.
    pub aside: Vec<NewEvent>,
    /// Changes stored with the admission, with or without a lease. None of them is stored if the run already
    /// exists or is skipped because of another run.
    pub writes: Vec<Write>,
    /// The last events of each run that this one replaces.
    pub closing: Vec<NewEvent>,
}

/// A request for the lease of a run at its admission.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmissionClaim {
    /// The owner that wants to drive the run.
    pub owner: String,
    /// When the lease expires unless it is renewed.
    pub until: Timestamp,
    /// Maximum number of runs that run at once, over all skills.
    pub global_limit: Option<u32>,
    /// The first events; stored only if the lease is granted.
    pub batch: Batch,
}

/// The result of an [`Admission`].
#[derive(Clone, Debug, PartialEq)]
pub enum AdmissionResult {
    /// The run was inserted.
    New {
        /// The row as stored.
        run: RunRow,
        /// The lease, if one was requested and no limit prevented it.
        lease: Option<Lease>,
        /// The sequence number of the first stored event; `None` without events.
        first_seq: Option<u64>,
        /// Runs that were cancelled by this one (`overlap: cancel_other`).
        cancelled: Vec<RunId>,
    },
    /// A run with this key or for this slot already exists.
    Existing(RunRow),
    /// The skill is no longer at this slot: another process decided it, or the skill was changed or
    /// disabled.
    Stale,
}

/// The right to drive a run. A newer lease has a higher token; batches with an older token are rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub run: RunId,
    /// The owner that holds the lease.
    pub owner: String,
    /// Grows with every claim of the run.
    pub token: u64,
}

/// A request to drive one of the due runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The owner that wants to drive a run.
    pub owner: String,
    /// The current time.
    pub now: Timestamp,
    /// When the lease expires unless it is renewed.
    pub until: Timestamp,
    /// Maximum number of runs that run at once, over all skills.
    pub global_limit: Option<u32>,
    /// The only run that may be claimed; `None` for any.
    pub only: Option<RunId>,
}

/// A run and the lease to drive it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedRun {
    /// The row.
    pub run: RunRow,
    /// The lease.
    pub lease: Lease,
    /// Whether the run was parked. If so, no earlier driver was interrupted.
    pub waited: bool,
    /// All events of the run, oldest first.
    pub events: Vec<StoredEvent>,
}

/// Changes of a run that its driver stores in one transaction.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Batch {
    /// The events, in order.
    pub events: Vec<NewEvent>,
    /// Other changes, stored with the events.
    pub writes: Vec<Write>,
    /// The state of the run afterwards.
    pub then: RunState,
}

/// The state of a run after a batch.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum RunState {
    /// The driver continues.
    #[default]
    Continue,
    /// The run gives up its lease and waits.
    Park {
        /// When the run is due again; `None` if only an answer or another event wakes it.
        wake_at: Option<Timestamp>,
        /// Why it waits.
        waiting_for: WaitReason,
    },
    /// The run has finished.
    Finish(Finish),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// The outcome.
    pub outcome: Outcome,
    /// The outputs, a JSON value.
    pub outputs: Option<String>,
    /// The error of a run without success, a JSON object.
    pub error: Option<String>,
    /// The change of the skill's state. If the skill has changed meanwhile, the whole batch is rejected.
    pub aftermath: Option<Box<SkillUpdate>>,
    /// When the run ended.
    pub at: Timestamp,
}

/// An event to store.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// When it happened.
    pub at: Timestamp,
    /// The event's kind, such as `asked`.
    pub kind: String,
    /// All other fields, a JSON object.
    pub body: String,
}

/// A stored event of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    /// The sequence number over all events of the store; it grows and is never reused.
    pub seq: u64,
    /// The run.
    pub run: RunId,
    /// When it happened.
    pub at: Timestamp,
    /// The event's kind, such as `asked`.
    pub kind: String,
    /// All other fields, a JSON object.
    pub body: String,
}

impl StoredEvent {
    /// The type of the event; `None` if another version of deft stored it.
    pub fn event_type(&self) -> Option<EventType> {
        EventType::from_word(&self.kind)
    }
}

/// A change stored with the events of a batch.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Caches a tool result for later runs.
    Cache {
        /// The hash of tool and arguments.
        key: String,
        /// The result, JSON.
        value: String,
        /// When it was cached.
        at: Timestamp,
        /// When it expires.
        expires_at: Timestamp,
    },
    /// Asks a person a question.
    Ask(NewApproval),
    /// Adds a notice to the outbox.
    Notice {
        /// Identifies the notice within the run: until the run finishes again, a notice with the same key is
        /// sent once.
        key: String,
        /// Content and destination, JSON.
        body: String,
        /// When it was added.
        at: Timestamp,
    },
    /// Stores a fact.
    Fact(NewFact),
    /// Opens a conversation, unless one with this id already exists.
    Open(NewConversation),
    /// Adds messages to a conversation; dropped if the conversation does not exist any more.
    Say {
        /// The conversation.
        conversation: String,
        /// The position of the first message among all messages of the run in the conversation. A position
        /// that the run has already filled is skipped.
        first: u32,
        /// The messages, at consecutive positions.
        messages: Vec<NewMessage>,
    },
    /// Records the usage of a model call and removes its reservation.
    Spend(Spend),
    /// Releases the reservation of a model call that got no reply.
    Unreserve {
        /// The key of the reservation.
        key: String,
    },
}

/// A question for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct NewApproval {
    /// The id, never reused.
    pub id: String,
    /// The path of the step that asks.
    pub path: String,
    /// The text of the question.
    pub message: String,
    /// The possible answers, a JSON list.
    pub options: String,
    /// The operation to approve, a JSON object with tool and arguments.
    pub operation: String,
    /// When it was asked.
    pub at: Timestamp,
}

/// A question and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalRow {
    /// The question.
    pub asked: NewApproval,
    /// The waiting run.
    pub run: RunId,
    /// The skill of the run.
    pub skill: String,
    /// The revision of the skill.
    pub revision: String,
    /// The answer; `None` until one is given.
    pub decision: Option<Decision>,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The chosen option.
    pub answer: String,
    /// Who answered.
    pub by: String,
    /// When it was given.
    pub at: Timestamp,
}

/// The result of answering a question.
#[derive(Clone, Debug, PartialEq)]
pub enum DecisionResult {
    /// The answer was stored; the run is due again.
    Accepted(ApprovalRow),
    /// The question was already answered or, if the row has no decision, the run ended before an answer
    /// came.
    Already(ApprovalRow),
    /// No question has this id.
    Unknown,
}

/// The skill that a file defined when it was last readable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadableFile {
    /// The file.
    pub path: String,
    /// The skill.
    pub skill: String,
    /// The revision of the skill, whose content is stored.
    pub revision: String,
}

/// A stored permission (`approvals approve --always`).
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// The id.
    pub id: String,
    /// The skill; empty for a grant of a tool for all callers.
    pub skill: String,
    /// The revision that it is limited to; another revision asks again. For a tool: the hash of the
    /// description that its server gives.
    pub revision: String,
    /// The hash of tool and exact arguments. For a tool: its full name.
    pub operation: String,
    /// The other arguments that it allows: a JSON object from names to exact values or texts with `*`.
    /// `None` allows only the arguments it was granted for. The store never parses it.
    pub pattern: Option<String>,
    /// A description of what it allows, for people.
    pub describes: String,
    /// Who granted it.
    pub by: String,
    /// When it was granted.
    pub at: Timestamp,
}

impl Grant {
    /// Returns the tool of a grant for all callers, or `None` if the grant is limited to a skill.
    pub fn tool(&self) -> Option<&str> {
        self.skill.is_empty().then_some(self.operation.as_str())
    }
}

/// A stored run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// The id.
    pub id: RunId,
    /// The skill.
    pub skill: String,
    /// The pinned revision of the skill.
    pub revision: String,
    /// How the skill runs.
    pub tier: Tier,
    /// The agent that the skill belongs to.
    pub agent_id: String,
    /// The cause of the fire.
    pub cause: Cause,
    /// The slot, or the first slot of a stretch without runs.
    pub slot: Option<Timestamp>,
    /// The last slot of such a stretch.
    pub slot_until: Option<Timestamp>,
    /// The number of slots that the row covers; 1 unless it is a stretch.
    pub slot_count: u64,
    /// The key of the fire.
    pub key: Option<String>,
    /// The earlier run that this one repeats.
    pub parent: Option<RunId>,
    /// The current status.
    pub status: RunStatus,
    /// How the run ended; `None` if it has not.
    pub outcome: Option<Outcome>,
    /// The inputs, a JSON object.
    pub inputs: String,
    /// The outputs, JSON.
    pub outputs: Option<String>,
    /// The error of a run without success, a JSON object.
    pub error: Option<String>,
    /// The tokens and cost of its model calls, a JSON object: the totals of its scope in the ledger when it
    /// ended.
    pub usage: Option<String>,
    /// When the run was requested.
    pub admitted_at: Timestamp,
    /// When it was first driven.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it is due again.
    pub wake_at: Option<Timestamp>,
    /// Why it waits.
    pub waiting_for: Option<WaitReason>,
    /// Who requested its cancellation.
    pub cancel_by: Option<String>,
    /// The owner of the lease.
    pub owner: Option<String>,
    /// How often the run has finished; a resumed run finishes again.
    pub finish_ordinal: u32,
}

/// A filter for lists of runs, which are sorted newest first.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// Only runs of this skill.
    pub skill: Option<String>,
    /// Only runs of other skills than this one.
    pub not_skill: Option<String>,
    /// Only runs in one of these statuses; empty for any.
    pub statuses: Vec<RunStatus>,
    /// Only runs with one of these outcomes; empty for any.
    pub outcomes: Vec<Outcome>,
    /// Only runs whose id has this prefix.
    pub id_prefix: Option<String>,
    /// Only runs admitted at or after this instant.
    pub since: Option<Timestamp>,
    /// Maximum number of results.
    pub limit: Option<u32>,
}

/// One page of a list of runs.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RunPage {
    /// The runs.
    pub runs: Vec<RunRow>,
    /// Where the next page begins; `None` if this page is empty.
    pub end: Option<PageEnd>,
}

/// The position of the last run of a page. It stays valid if that run is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEnd(pub i64);

/// A request to delete old runs and expired results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prune {
    /// Deletes runs that ended before this instant.
    pub before: Timestamp,
    /// The current time, which decides which cached results have expired.
    pub now: Timestamp,
    /// Maximum number of runs per request, so that other writes do not wait long.
    pub limit: u32,
    /// Deletes nothing and returns what would be deleted.
    pub only_count: bool,
}

/// The rows that were deleted, or would be.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PruneResult {
    /// The deleted runs.
    pub runs: Vec<RunId>,
    /// The number of their events.
    pub events: u64,
    /// The number of expired cached results.
    pub results: u64,
}

/// The result of a cancel request.
#[derive(Clone, Debug, PartialEq)]
pub enum CancelState {
    /// The run was queued or parked and has now ended.
    Done(RunRow),
    /// The run is being driven; its driver will see the request.
    Asked(RunRow),
    /// The run had already ended.
    Already(RunRow),
    /// No run has this id.
    Unknown,
}
