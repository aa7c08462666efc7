//! Rows and requests of a store: plain data, no behaviour.
//!
//! Bodies of events, inputs, outputs and errors are JSON texts that the store never looks into.

use deft_model::{Cause, Choice, EventType, Outcome, Overlap, RunId, RunStatus, Tier, WaitKind};
use jiff::Timestamp;

use crate::{Aftermath, NewConversation, NewFact, NewMessage, SlotStep, Spend};

/// What a parked run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitReason {
    /// What kind of thing; this decides what wakes the run.
    pub kind: WaitKind,
    /// The same for people.
    pub text: String,
}

/// A run that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Admission {
    /// Its name.
    pub run: RunId,
    /// The skill.
    pub skill: String,
    /// The revision of the skill that it uses from beginning to end.
    pub revision: String,
    /// How the skill runs.
    pub tier: Tier,
    /// Who owns the skill.
    pub agent_id: String,
    /// What fired it.
    pub cause: Cause,
    /// The planned instant that it answers to.
    pub slot: Option<Timestamp>,
    /// The step of its skill along the slots that brings this run.
    pub step: Option<SlotStep>,
    /// The same key never runs twice, not even years later.
    pub key: Option<String>,
    /// The run it was made from.
    pub parent: Option<RunId>,
    /// Checked inputs, a JSON object.
    pub inputs: String,
    /// When it was asked for.
    pub at: Timestamp,
    /// What happens when a run of the skill is already there.
    pub overlap: Overlap,
    /// How many runs of the skill may be running at once.
    pub skill_limit: Option<u32>,
    /// Takes the lease in the same transaction, so that the caller can drive at once.
    pub claim: Option<FirstClaim>,
    /// Events for a later driver; stored only if the lease is not given.
    pub aside: Vec<NewEvent>,
    /// What changes with the admission, whether the lease is given or not; nothing of it if the run
    /// was there already, or is none because another one is in its way.
    pub writes: Vec<Write>,
    /// The last events of each run that is over because this one takes its place.
    pub closing: Vec<NewEvent>,
}

/// The wish to drive a run from the moment it is admitted.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstClaim {
    /// Who wants to drive.
    pub owner: String,
    /// How long the lease holds unless renewed.
    pub until: Timestamp,
    /// How many runs may be running at once in all.
    pub global_limit: Option<u32>,
    /// The first events; stored only if the lease is given.
    pub batch: Batch,
}

/// The answer to an [`Admission`].
#[derive(Clone, Debug, PartialEq)]
pub enum AdmissionResult {
    /// The run is there.
    New {
        /// Its row, as stored.
        run: RunRow,
        /// The lease, if one was wished for and no limit stood in the way.
        lease: Option<Lease>,
        /// The sequence number of the first stored event, if there were any.
        first_seq: Option<u64>,
        /// Runs that now have to stop (`overlap: cancel_other`).
        cancelled: Vec<RunId>,
    },
    /// A run with this key, or for this slot, was there already.
    Existing(RunRow),
    /// The skill has moved past this slot: another process has decided it, or the skill was
    /// changed or disabled.
    Stale,
}

/// The right to drive a run. A newer lease has a higher token, which fences off this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub run: RunId,
    /// Who holds it.
    pub owner: String,
    /// Grows with every claim of the run.
    pub token: u64,
}

/// The wish to drive some run that is due.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Who wants to drive.
    pub owner: String,
    /// The present.
    pub now: Timestamp,
    /// How long the lease holds unless renewed.
    pub until: Timestamp,
    /// How many runs may be running at once in all.
    pub global_limit: Option<u32>,
    /// This run or none.
    pub only: Option<RunId>,
}

/// A run with the right to drive it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedRun {
    /// Its row.
    pub run: RunRow,
    /// The lease.
    pub lease: Lease,
    /// Whether the run waited, so that no driver was interrupted.
    pub waited: bool,
    /// Everything that happened so far, oldest first.
    pub events: Vec<StoredEvent>,
}

/// What one turn of a driver writes, all of it or nothing.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Batch {
    /// Events in order.
    pub events: Vec<NewEvent>,
    /// What else changes with them.
    pub writes: Vec<Write>,
    /// The state of the run afterwards.
    pub then: RunState,
}

/// The state of a run after a batch.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum RunState {
    /// The driver goes on.
    #[default]
    Continue,
    /// The lease is given back until something happens.
    Park {
        /// When the run is due again; none waits for an answer.
        wake_at: Option<Timestamp>,
        /// What it waits for.
        waiting_for: WaitReason,
    },
    /// The run is over.
    Finish(Finish),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// The outcome.
    pub outcome: Outcome,
    /// Its outputs, a JSON value.
    pub outputs: Option<String>,
    /// Why it did not succeed, a JSON object.
    pub error: Option<String>,
    /// What changes for its skill. If the skill has changed meanwhile, nothing is stored.
    pub aftermath: Option<Box<Aftermath>>,
    /// When.
    pub at: Timestamp,
}

/// An event to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// When it happened.
    pub at: Timestamp,
    /// The word for what happened.
    pub kind: String,
    /// The rest, a JSON object.
    pub body: String,
}

/// An event of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    /// Its place among all events of the store; grows, never reused.
    pub seq: u64,
    /// The run.
    pub run: RunId,
    /// When it happened.
    pub at: Timestamp,
    /// The word for what happened.
    pub kind: String,
    /// The rest, a JSON object.
    pub body: String,
}

impl StoredEvent {
    /// The type of the event; `None` if another version of deft stored it.
    pub fn event_type(&self) -> Option<EventType> {
        EventType::from_word(&self.kind)
    }
}

/// A change beside the events of a batch.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Keeps a result for later runs.
    Cache {
        /// Tool and arguments, hashed.
        key: String,
        /// The value, JSON.
        value: String,
        /// When it was made.
        at: Timestamp,
        /// When it is too old.
        expires_at: Timestamp,
    },
    /// Asks a person.
    Ask(NewApproval),
    /// Leaves a message for a person in the outbox.
    Notice {
        /// The same notice of the same run is sent once between two finishes.
        key: String,
        /// What is sent and where, JSON.
        body: String,
        /// When.
        at: Timestamp,
    },
    /// Keeps a fact.
    Fact(NewFact),
    /// Opens a conversation. One that is open under this id already stays as it is.
    Open(NewConversation),
    /// Says something in a conversation; dropped if that is not there any more.
    Say {
        /// The conversation.
        conversation: String,
        /// The place of the first message among all that the run says in the conversation. What
        /// the run has said at a place is never said again.
        first: u32,
        /// The messages, each at the next place.
        messages: Vec<NewMessage>,
    },
    /// Counts what a call of a model used, in the place of what was reserved for it.
    Spend(Spend),
    /// Gives back what was reserved for a call that was not answered.
    Unreserve {
        /// The key under which it was reserved.
        key: String,
    },
}

/// A question for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct NewApproval {
    /// Its name, never used twice.
    pub id: String,
    /// Where in the run it is asked.
    pub path: String,
    /// The question.
    pub message: String,
    /// What may be answered, a JSON list.
    pub options: String,
    /// What would be done, a JSON object with tool and arguments.
    pub operation: String,
    /// When it was asked.
    pub at: Timestamp,
}

/// A question and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalRow {
    /// The question.
    pub asked: NewApproval,
    /// The run that waits.
    pub run: RunId,
    /// Its skill.
    pub skill: String,
    /// Its revision.
    pub revision: String,
    /// The answer, once there is one.
    pub decision: Option<Decision>,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// One of the options.
    pub answer: String,
    /// Who gave it.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// The result of answering a question.
#[derive(Clone, Debug, PartialEq)]
pub enum DecisionResult {
    /// It counts; the run is due again.
    Accepted(ApprovalRow),
    /// Another answer came first, or, if the row has no answer, the run ended before one came.
    Already(ApprovalRow),
    /// There is no such question.
    Unknown,
}

/// What a skill file defined when it could last be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoodFile {
    /// The file.
    pub path: String,
    /// The skill.
    pub skill: String,
    /// Its revision, whose content is stored.
    pub revision: String,
}

/// A standing permission (`approvals approve --always`).
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Its name.
    pub id: String,
    /// The skill; empty for one that holds for a tool, whatever calls it.
    pub skill: String,
    /// The revision; another one asks again. For a tool: its description by its server, hashed.
    pub revision: String,
    /// Tool and exact arguments, hashed. For a tool: its full name.
    pub operation: String,
    /// Which other arguments it allows, a JSON object from names to exact values or texts with `*`;
    /// none allows exactly the ones it was given for. The store never looks into it.
    pub pattern: Option<String>,
    /// What it allows, for people.
    pub describes: String,
    /// Who gave it.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

impl Grant {
    /// The tool that it holds for, whatever calls it; none if it is for a skill.
    pub fn tool(&self) -> Option<&str> {
        self.skill.is_empty().then_some(self.operation.as_str())
    }
}

/// A run as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// Its name.
    pub id: RunId,
    /// The skill.
    pub skill: String,
    /// Its pinned revision.
    pub revision: String,
    /// How the skill runs.
    pub tier: Tier,
    /// Who owns the skill.
    pub agent_id: String,
    /// What fired it.
    pub cause: Cause,
    /// The planned instant, or the first of a stretch that brought no run.
    pub slot: Option<Timestamp>,
    /// The last instant of such a stretch.
    pub slot_until: Option<Timestamp>,
    /// How many slots it stands for; 1 unless it is a stretch.
    pub slot_count: u64,
    /// The caller's key.
    pub key: Option<String>,
    /// The run it was made from.
    pub parent: Option<RunId>,
    /// Where it stands.
    pub status: RunStatus,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Inputs, a JSON object.
    pub inputs: String,
    /// Outputs, JSON.
    pub outputs: Option<String>,
    /// Why it did not succeed, a JSON object.
    pub error: Option<String>,
    /// What models took for it, a JSON object: what the ledger knew of its scope when it ended.
    pub usage: Option<String>,
    /// When it was asked for.
    pub admitted_at: Timestamp,
    /// When it was first driven.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When it is due again.
    pub wake_at: Option<Timestamp>,
    /// What it waits for.
    pub waiting_for: Option<WaitReason>,
    /// Who asked it to stop.
    pub cancel_by: Option<String>,
    /// Who drives it.
    pub owner: Option<String>,
    /// How often it has finished; a resumed run finishes again.
    pub finish_ordinal: u32,
}

/// Which runs to list, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// Of this skill.
    pub skill: Option<String>,
    /// Of any other skill than this one.
    pub not_skill: Option<String>,
    /// In one of these states; empty means any.
    pub statuses: Vec<RunStatus>,
    /// With one of these outcomes; empty means any.
    pub outcomes: Vec<Outcome>,
    /// Whose id begins so.
    pub id_prefix: Option<String>,
    /// Admitted at or after.
    pub since: Option<Timestamp>,
    /// Maximum number of results.
    pub limit: Option<u32>,
}

/// Some runs of a long list.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RunPage {
    /// The runs.
    pub runs: Vec<RunRow>,
    /// Where the next page begins; none if this one is empty.
    pub end: Option<PageEnd>,
}

/// The last run of a page, as the store counts them. It stays true when that run is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEnd(pub i64);

/// The wish to delete what is old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prune {
    /// Runs that ended before this instant.
    pub before: Timestamp,
    /// The present, for cached results.
    pub now: Timestamp,
    /// Maximum number of runs per request, so that other writes do not wait long.
    pub limit: u32,
    /// Deletes nothing and returns what would be deleted.
    pub only_count: bool,
}

/// What was deleted, or would be.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PruneResult {
    /// The runs.
    pub runs: Vec<RunId>,
    /// How many events they had.
    pub events: u64,
    /// How many cached results were too old.
    pub results: u64,
}

/// The result of a request to stop a run.
#[derive(Clone, Debug, PartialEq)]
pub enum CancelState {
    /// It had not begun or was parked, and is over now.
    Done(RunRow),
    /// The driver will see the request.
    Asked(RunRow),
    /// It was over already.
    Already(RunRow),
    /// There is no such run.
    Unknown,
}
