//! Questions to people: answered at the terminal, by a grant, or later while the run is parked.

use std::sync::Arc;

use deft_base::{read_or_log, read_stored};
use deft_library::grants::StepOperation;
use deft_model::Object;
use deft_store::{ApprovalRow, Decision, DecisionResult, Grant};
use deft_workflow::{Answer, Operation, Path};

use crate::answerer::Answerer;
use crate::attention::{Attention, Response};
use crate::engine::Inner;
use crate::grant_request::GrantRequest;
use crate::question::Question;
use crate::{Engine, Error};

/// Returns the stored answer to a question and who gave it; `None` without an answer.
fn stored_answer(row: ApprovalRow) -> Result<Option<(Answer, String)>, Error> {
    let Some(decision) = row.decision else {
        return Ok(None);
    };
    let answer = Answer::from_word(&decision.answer).ok_or_else(|| Error::Unreadable {
        what: format!("the answer to approval `{}`", row.asked.id),
        why: format!("unknown answer `{}`", decision.answer),
    })?;
    Ok(Some((answer, decision.by)))
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
    if let Some(row) = known {
        let decided = read_or_log(stored_answer(row), "the stored answer to a question")?;
        if decided.is_some() {
            return decided;
        }
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
    let Response { answer, always } = response;
    let grant = (always && answer == Answer::Yes).then(|| {
        let request = GrantRequest {
            skill,
            revision,
            path: &question.path,
            message: &question.message,
            operation: &question.operation,
            by: &by,
        };
        request.grant(None, engine.now())
    });
    // Without a grant the call itself is approved; only the next one is asked about again.
    let grant = read_or_log(grant.transpose(), "the standing approval of an answer").flatten();
    let decided = engine.decide(&question.approval, answer, &by, grant).await;
    match read_or_log(decided, "the first answer to a question") {
        Some(DecisionResult::Already(first)) => {
            read_or_log(stored_answer(first), "the first answer to a question")?
                .or(Some((answer, by)))
        }
        Some(DecisionResult::Accepted(_) | DecisionResult::Unknown) | None => Some((answer, by)),
    }
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
    /// Stores an answer, with the grant for later calls if the answer is the first one.
    async fn decide(
        &self,
        approval: &str,
        answer: Answer,
        by: &str,
        grant: Option<Grant>,
    ) -> Result<DecisionResult, Error> {
        let decision = Decision {
            answer: answer.word().to_owned(),
            by: by.to_owned(),
            at: self.now(),
        };
        let grants = grant.is_some();
        let store = &self.parts.store;
        let decided = store.decide_with(approval, decision, grant).await?;
        if grants {
            self.agents.read_grants_again().await;
        }
        Ok(decided)
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
        let decided = self.inner.decide(&row.asked.id, given, by, grant).await?;
        Ok(match decided {
            DecisionResult::Accepted(row) => AnswerReceipt::Accepted(row),
            DecisionResult::Already(row) => AnswerReceipt::Already(row),
            DecisionResult::Unknown => AnswerReceipt::Gone,
        })
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
