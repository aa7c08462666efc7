//! Questions to people: answered at the terminal, by a grant, or later while the run is parked.

use std::sync::Arc;

use deft_base::{read_or_log, read_stored};
use deft_library::grants::StepOperation;
use deft_model::Object;
use deft_store::{ApprovalRow, Decision, DecisionResult, Grant, Store};
use deft_workflow::{Answer, Operation, Path};
use jiff::Timestamp;

use crate::answerer::Answerer;
use crate::attention::{Attention, Response};
use crate::engine::Inner;
use crate::grant_request::GrantRequest;
use crate::question::Question;
use crate::{Engine, Error};

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
    let known = store.approval(&question.approval).await;
    let known = read_or_log(known, "the stored answer to a question")?;
    let decided = known.and_then(|row| row.decision);
    if let Some(decision) = decided {
        return Some((answer(&decision.answer), decision.by));
    }
    let (response, by) = match find_grant(engine, skill, revision, question).await {
        Some(grant) => (Answer::Yes.into(), grant.to_string()),
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
    let decided = read_or_log(decided, "the first answer to a question").unwrap_or((answer, by));
    if response.always && decided.0 == Answer::Yes {
        let place = (skill, revision);
        engine.remember_answer(place, question, &decided.1).await;
    }
    Some(decided)
}

/// Returns the grant that covers the question; `None` if no grant does.
async fn find_grant(
    engine: &Arc<Inner>,
    skill: &str,
    revision: &str,
    question: &Question,
) -> Option<Answerer> {
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
    let grants = engine.parts.store.grants(skill).await;
    let grants = read_or_log(grants, "the grants of a skill")?;
    grants
        .into_iter()
        .find(|grant| place.is_covered(grant))
        .map(|grant| Answerer::Grant {
            id: grant.id,
            by: grant.by,
        })
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
