//! Questions to people: answered at the terminal, by a grant, or later while the run is parked.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use deft_base::{hex_digest, read_stored};
use deft_library::grants::StepOperation;
use deft_model::{Object, RunId};
use deft_store::{ApprovalRow, Decision, DecisionResult, Grant, NewApproval, Store};
use deft_wire::approval::ApprovalAnswer;
use deft_workflow::{Answer, Ask, Operation, Path};
use jiff::Timestamp;

use crate::engine::Inner;
use crate::grant_request::GrantRequest;
use crate::{Engine, Error, Transcript};

/// A question to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The id of the approval.
    pub approval: String,
    /// The run that waits.
    pub run: RunId,
    /// The step.
    pub path: Path,
    /// The text.
    pub message: String,
    /// The preselected answer.
    pub default: bool,
    /// The operation to approve.
    pub operation: Operation,
}

/// The answer of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// The answer.
    pub answer: Answer,
    /// Whether a yes also covers later calls: all calls of the tool if the question offers that, else the
    /// same operation.
    pub always: bool,
}

impl From<Answer> for Response {
    fn from(answer: Answer) -> Self {
        Self {
            answer,
            always: false,
        }
    }
}

/// A response that arrives later; `None` if the person left without giving one.
pub type Responds = Pin<Box<dyn Future<Output = Option<Response>> + Send>>;

/// A person who can answer right now.
pub trait Asker: Send + Sync + 'static {
    /// Asks the person.
    fn ask(&self, question: Question) -> Responds;

    /// The name of the person for the record.
    fn name(&self) -> String {
        TERMINAL.to_owned()
    }
}

/// How a host attends to a run while it is driven.
#[derive(Clone, Default)]
pub struct Attention {
    /// A person at the terminal.
    pub asker: Option<Arc<dyn Asker>>,
    /// If set, confirmations are answered with yes, and the record names this as the source.
    pub assume_yes: Option<String>,
    /// Whether a long wait parks the run and releases its lease. Set by hosts that keep running and claim
    /// due runs: the pool of `deft up`, `deft tick` and the Telegram bot. Not set by `deft run` and the chat
    /// at the terminal, whose process waits itself.
    pub parks: bool,
    /// Receives the answers of the run's agent while they are written.
    pub hear: Option<crate::agent::Hear>,
    /// Receives the id of the run as soon as it is admitted.
    pub admitted: Option<Arc<OnceLock<RunId>>>,
    /// Collects the events of the run for a caller that shows them when it has ended.
    pub transcript: Option<Arc<Transcript>>,
}

impl Attention {
    pub(crate) fn note(&self, run: &RunId) {
        if let Some(admitted) = &self.admitted {
            admitted.get_or_init(|| run.clone());
        }
    }
}

/// Returns the id of a question at a step. It stays the same after a crash.
fn approval_id(run: &RunId, path: &Path, nth: u32) -> String {
    let text = format!("{run}\n{path}\n{nth}");
    format!("apr_{}", &hex_digest(text.as_bytes())[..12])
}

/// Returns the question that an action asks; `None` for other actions. `nth` is the number of times the run
/// has ended, so that a resumed run asks again.
pub(crate) fn question(run: &RunId, nth: u32, action: &Ask) -> Option<Question> {
    let Ask::Question {
        path,
        message,
        default,
        operation,
    } = action
    else {
        return None;
    };
    let mut question = question_at(run, nth, path.clone(), message.clone(), operation);
    question.default = *default;
    Some(question)
}

/// Returns a question at a step of a run.
pub(crate) fn question_at(
    run: &RunId,
    nth: u32,
    path: Path,
    message: String,
    operation: &Operation,
) -> Question {
    Question {
        approval: approval_id(run, &path, nth),
        run: run.clone(),
        path,
        message: deft_workflow::mask(&message).unwrap_or(message),
        default: false,
        operation: masked(operation),
    }
}

/// Returns the operation with secrets replaced by their names, for people and for grants.
fn masked(operation: &Operation) -> Operation {
    let mut operation = operation.clone();
    if let Some(args) = &mut operation.args {
        deft_workflow::mask_value(args);
    }
    operation
}

pub(crate) fn approval(question: &Question, at: Timestamp) -> NewApproval {
    NewApproval {
        id: question.approval.clone(),
        path: question.path.to_string(),
        message: question.message.clone(),
        options: serde_json::to_string(&ApprovalAnswer::ALL).unwrap_or_default(),
        operation: serde_json::to_string(&question.operation).unwrap_or_default(),
        at,
    }
}

/// Parses a stored answer; an unknown word means no.
pub(crate) fn answer(word: &str) -> Answer {
    match word {
        "yes" => Answer::Yes,
        "skip" => Answer::Skip,
        _ => Answer::No,
    }
}

/// Asks the person at the terminal a question that is stored already.
pub(crate) async fn at_terminal(
    attention: &Attention,
    row: &ApprovalRow,
) -> Result<Option<(Response, String)>, Error> {
    let question = Question {
        approval: row.asked.id.clone(),
        run: row.run.clone(),
        path: Path::from_text(row.asked.path.clone()),
        message: row.asked.message.clone(),
        default: false,
        operation: stored_operation(row)?,
    };
    let Some(asker) = attention.asker.as_ref() else {
        return Ok(None);
    };
    let answer = asker.ask(question).await;
    Ok(answer.map(|answer| (answer, asker.name())))
}

/// Parses the operation of a stored question.
fn stored_operation(row: &ApprovalRow) -> Result<Operation, Error> {
    read_stored(&row.asked.operation, || {
        format!("the operation of approval `{}`", row.asked.id)
    })
}

/// The name of the person at the terminal in records.
pub(crate) const TERMINAL: &str = "the person at the terminal";

/// Stores an answer. Returns the answer that counts, which is the first one.
pub(crate) async fn decide(
    store: &Arc<dyn Store>,
    approval: &str,
    given: Answer,
    by: &str,
    at: Timestamp,
) -> Result<(Answer, String), Error> {
    let decision = Decision {
        answer: given.word().to_owned(),
        by: by.to_owned(),
        at,
    };
    Ok(match store.decide(approval, decision).await? {
        DecisionResult::Already(row) => match row.decision {
            Some(first) => (answer(&first.answer), first.by),
            None => (given, by.to_owned()),
        },
        DecisionResult::Accepted(_) | DecisionResult::Unknown => (given, by.to_owned()),
    })
}

/// Looks for an answer: a stored one, a grant, `--yes`, or the person at the terminal. `None` if a person
/// must answer later.
pub(crate) async fn find_answer(
    engine: &Arc<Inner>,
    attention: &Attention,
    skill: &str,
    revision: &str,
    question: &Question,
) -> Option<(Answer, String)> {
    let store = &engine.parts.store;
    let known = store.approval(&question.approval).await.ok()?;
    let decided = known.and_then(|row| row.decision);
    if let Some(decision) = decided {
        return Some((answer(&decision.answer), decision.by));
    }
    let (response, by) = match granted(engine, skill, revision, question).await {
        Some(by) => (Answer::Yes.into(), by),
        None => match (&attention.assume_yes, &attention.asker) {
            (Some(by), _) => (Answer::Yes.into(), by.clone()),
            (None, Some(asker)) => {
                let response = asker.ask(question.clone()).await?;
                (response, asker.name())
            }
            (None, None) => return None,
        },
    };
    let (answer, now) = (response.answer, engine.now());
    let decided = decide(store, &question.approval, answer, &by, now).await;
    let decided = decided.unwrap_or((answer, by));
    if response.always && decided.0 == Answer::Yes {
        let place = (skill, revision);
        engine.remember_answer(place, question, &decided.1).await;
    }
    Some(decided)
}

/// Whether a person gave the answer, as opposed to a flag or a grant.
pub(crate) fn is_person(by: &str) -> bool {
    !by.starts_with("--") && !by.starts_with(STANDING)
}

/// Prefix of the name of a grant that answers a question.
const STANDING: &str = "standing grant";

/// Returns the grant that covers the question, in words; `None` if no grant does.
async fn granted(
    engine: &Arc<Inner>,
    skill: &str,
    revision: &str,
    question: &Question,
) -> Option<String> {
    let (path, operation) = (&question.path, &question.operation);
    if !operation.is_exact() {
        return None;
    }
    let place = StepOperation {
        skill,
        revision,
        path,
        operation,
    };
    let grants = engine.parts.store.grants(skill).await.ok()?;
    grants
        .into_iter()
        .find(|grant| place.is_covered(grant))
        .map(|grant| format!("{STANDING} {} of {}", grant.id, grant.by))
}

/// The result of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerReceipt {
    /// It was accepted; the run is due again.
    Accepted(ApprovalRow),
    /// Another answer came first.
    Already(ApprovalRow),
    /// No such question exists.
    Gone,
}

impl Inner {
    /// Stores a grant for a yes that covers later calls: all calls of the tool in the question, or the same
    /// operation of the same revision.
    async fn remember_answer(&self, place: (&str, &str), question: &Question, by: &str) {
        let kept = async {
            let grant = GrantRequest {
                skill: place.0,
                revision: place.1,
                path: &question.path,
                message: &question.message,
                operation: &question.operation,
                by,
            };
            let grant = grant.grant(None, self.now())?;
            self.parts.store.grant(grant).await?;
            self.agents.read_grants().await
        };
        // The call itself is approved; only the next one is asked about again.
        if let Err(error) = kept.await {
            let approval = &question.approval;
            tracing::warn!(%error, approval, "a standing approval could not be stored");
        }
    }
}

impl Engine {
    /// Answers a question. `always` also approves the same operation of the same revision from now on, or all
    /// calls of its tool in chats if the question offers that.
    pub async fn answer(
        &self,
        row: &ApprovalRow,
        given: Answer,
        by: &str,
        always: bool,
    ) -> Result<AnswerReceipt, Error> {
        let always = always && given == Answer::Yes;
        let grant = always.then(|| self.grant(row, by, None)).transpose()?;
        self.store_answer(row, given, by, grant).await
    }

    /// Answers yes, and approves operations of the same revision from now on that differ only in the
    /// arguments of `pattern`, which maps names to exact values or to texts with `*`.
    pub async fn allow_like(
        &self,
        row: &ApprovalRow,
        by: &str,
        pattern: &Object,
    ) -> Result<AnswerReceipt, Error> {
        let grant = self.grant(row, by, Some(pattern))?;
        self.store_answer(row, Answer::Yes, by, Some(grant)).await
    }

    async fn store_answer(
        &self,
        row: &ApprovalRow,
        given: Answer,
        by: &str,
        grant: Option<Grant>,
    ) -> Result<AnswerReceipt, Error> {
        let at = self.inner.now();
        let decision = Decision {
            answer: given.word().to_owned(),
            by: by.to_owned(),
            at,
        };
        let decided = self.store().decide(&row.asked.id, decision).await?;
        let accepted = match decided {
            DecisionResult::Accepted(row) => row,
            DecisionResult::Already(row) => return Ok(AnswerReceipt::Already(row)),
            DecisionResult::Unknown => return Ok(AnswerReceipt::Gone),
        };
        if let Some(grant) = grant {
            self.store().grant(grant).await?;
            self.inner.agents.read_grants().await?;
        }
        Ok(AnswerReceipt::Accepted(accepted))
    }

    fn grant(&self, row: &ApprovalRow, by: &str, like: Option<&Object>) -> Result<Grant, Error> {
        let operation = stored_operation(row)?;
        let request = GrantRequest {
            skill: &row.skill,
            revision: &row.revision,
            path: &Path::from_text(row.asked.path.clone()),
            message: &row.asked.message,
            operation: &operation,
            by,
        };
        request.grant(like, self.inner.now())
    }
}
