//! Questions, answers and grants.

use std::collections::HashMap;

use deft_model::RunStatus;

use super::State;
use super::run::{Run, earlier};
use deft_store::{
    ApprovalRow, Decision, DecisionResult, Error, Grant, NewApproval, Write, backend,
};

/// All questions and grants.
#[derive(Default)]
pub(super) struct People {
    questions: Vec<Question>,
    by_id: HashMap<String, usize>,
    grants: Vec<Grant>,
}

struct Question {
    row: ApprovalRow,
    run: usize,
    /// Whether the run ended before a person answered.
    closed: bool,
    /// Whether the run was deleted.
    gone: bool,
}

impl Question {
    fn is_open(&self) -> bool {
        self.row.decision.is_none() && !self.closed && !self.gone
    }
}

impl People {
    pub(super) fn check_free(&self, writes: &[Write]) -> Result<(), Error> {
        let known = |asked: &&NewApproval| self.by_id.contains_key(&asked.id);
        let taken = backend::questions(writes).find(known);
        let taken = taken.map(|asked| asked.id.as_str());
        match taken.or_else(|| backend::asked_twice(writes)) {
            None => Ok(()),
            Some(id) => Err(Error::Taken {
                what: "an approval",
                id: id.to_owned(),
            }),
        }
    }

    pub(super) fn ask(&mut self, n: usize, run: &mut Run, asked: NewApproval) {
        let place = self.questions.len();
        run.asked.push(place);
        self.by_id.insert(asked.id.clone(), place);
        self.questions.push(Question {
            row: ApprovalRow {
                asked,
                run: run.row.id.clone(),
                skill: run.row.skill.clone(),
                revision: run.row.revision.clone(),
                decision: None,
            },
            run: n,
            closed: false,
            gone: false,
        });
    }

    pub(super) fn close(&mut self, asked: &[usize]) {
        for place in asked {
            let question = &mut self.questions[*place];
            question.closed |= question.is_open();
        }
    }

    pub(super) fn approvals(&self, all: bool) -> Vec<ApprovalRow> {
        let there = self.questions.iter().filter(|question| !question.gone);
        let wanted = there.filter(|question| all || question.is_open());
        wanted.map(|question| question.row.clone()).collect()
    }

    pub(super) fn grant(&mut self, grant: Grant) {
        if self.grants.iter().all(|known| known.id != grant.id) {
            self.grants.push(grant);
        }
    }

    pub(super) fn grants(&self, wanted: impl Fn(&Grant) -> bool) -> Vec<Grant> {
        let wanted = self.grants.iter().filter(|grant| wanted(grant));
        wanted.cloned().collect()
    }

    pub(super) fn revoke(&mut self, id: &str) -> bool {
        let before = self.grants.len();
        self.grants.retain(|grant| grant.id != id);
        self.grants.len() < before
    }

    /// Deletes the questions of a run. They keep their places, because others are addressed by index.
    pub(super) fn forget(&mut self, asked: &[usize]) {
        for place in asked {
            let question = &mut self.questions[*place];
            question.gone = true;
            self.by_id.remove(&question.row.asked.id);
        }
    }
}

impl State {
    pub(super) fn decide(
        &mut self,
        approval: &str,
        decision: Decision,
        grant: Option<Grant>,
    ) -> DecisionResult {
        let Some(place) = self.people.by_id.get(approval) else {
            return DecisionResult::Unknown;
        };
        let question = &mut self.people.questions[*place];
        if !question.is_open() {
            return DecisionResult::Already(question.row.clone());
        }
        let (n, at) = (question.run, Some(decision.at));
        question.row.decision = Some(decision);
        let row = question.row.clone();
        if let Some(grant) = grant {
            self.people.grant(grant);
        }
        self.change(n, |run| match run.row.status {
            RunStatus::Waiting => run.row.wake_at = earlier(run.row.wake_at, at),
            RunStatus::Running => run.nudged = earlier(run.nudged, at),
            RunStatus::Queued | RunStatus::Done => {}
        });
        DecisionResult::Accepted(row)
    }
}
