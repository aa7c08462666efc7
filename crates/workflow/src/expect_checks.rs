//! Checks of the results of steps and runs against their post-conditions (`expect:`).
//!
//! The verdict is part of the event that ends the step or the run, so a replay checks nothing. Not here: what
//! a breach means for dependent steps; conditions that only the worker can evaluate (`verify.rs`).

use std::sync::Arc;

use deft_template::{Lookup, Member, Scope};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::call::ExpectLevel;
use crate::code::{Code, mentions};
use crate::expect::ExpectProblem;
use crate::machine::Machine;
use crate::scope::NameScope;
use crate::state::{Phase, Position, TryState, Verdict};

impl Machine {
    /// Checks the post-condition of a skill against its outputs, which it sees by their names.
    pub(crate) fn check_outputs(&self, index: usize, outputs: &Value) -> Result<(), ExpectProblem> {
        let frame = &self.frames[index];
        match &frame.verdict {
            Verdict::Met => return Ok(()),
            Verdict::Unmet(failure) => return Err(failure.clone().into()),
            Verdict::Open | Verdict::Asked { .. } => {}
        }
        // The same post-condition was checked against the answer of the agent already.
        let kept = frame.plan.is_kept_by_agent() && frame.steps[0].phase == Phase::Success;
        if kept || frame.plan.expect.is_empty() {
            return Ok(());
        }
        let Some(scope) = self.output_scope(index, outputs) else {
            return Ok(());
        };
        let is_called = |tool: &str| frame.called.iter().any(|other| is_same(other, tool));
        let checked = frame
            .plan
            .expect
            .check("the outputs", is_called, &scope.value, &scope);
        checked.map_err(|problem| problem.with_level(ExpectLevel::Skill))
    }

    /// Checks the post-condition of a step, and that of its skill if the skill consists only of an agent:
    /// then the agent has to meet it and can be asked again. `by_agent` lists the tools that the agent
    /// called.
    pub(crate) fn check_step(
        &self,
        at: Position,
        value: &Arc<Value>,
        by_agent: &[String],
    ) -> Result<(), ExpectProblem> {
        self.check_value(at, value, by_agent)?;
        if self.is_agent(at) {
            self.check_answer(at, value, by_agent)?;
        }
        Ok(())
    }

    /// Checks the post-condition of a step.
    fn check_value(
        &self,
        at: Position,
        value: &Arc<Value>,
        by_agent: &[String],
    ) -> Result<(), ExpectProblem> {
        let planned = &self.frames[at.frame].plan.steps[at.step];
        if planned.expect.is_empty() {
            return Ok(());
        }
        let Some(scope) = self.step_scope(at, value) else {
            return Ok(());
        };
        let is_called = |tool: &str| match self.try_state(at) {
            Some(TryState::Calling { call, .. }) => match call.tool() {
                Some((other, _)) => is_same(other, tool),
                None => by_agent.iter().any(|other| is_same(other, tool)),
            },
            Some(TryState::Inside { frame, .. }) => {
                let mut called = self.frames[*frame].called.iter();
                called.any(|other| is_same(other, tool))
            }
            _ => false,
        };
        let what = format!("the result of `{}`", self.path(at));
        let checked = planned.expect.check(&what, is_called, &scope.value, &scope);
        checked.map_err(|problem| problem.with_level(ExpectLevel::Step))
    }

    /// Checks the post-condition of a skill that consists only of its agent against the agent's answer.
    pub(crate) fn check_answer(
        &self,
        at: Position,
        value: &Arc<Value>,
        by_agent: &[String],
    ) -> Result<(), ExpectProblem> {
        let plan = &self.frames[at.frame].plan;
        if plan.expect.is_empty() || !plan.is_kept_by_agent() {
            return Ok(());
        }
        let Some(scope) = self.answer_scope(at, value) else {
            return Ok(());
        };
        let is_called = |tool: &str| by_agent.iter().any(|other| is_same(other, tool));
        let checked = plan
            .expect
            .check("the outputs", is_called, &scope.value, &scope);
        checked.map_err(|problem| problem.with_level(ExpectLevel::Skill))
    }

    /// Returns the names for the post-condition of a step: its value as `result` and by the names of the
    /// step.
    pub(crate) fn step_scope(&self, at: Position, value: &Arc<Value>) -> Option<ExpectScope<'_>> {
        let step = &self.frames[at.frame].plan.steps[at.step].step;
        let output = step.output.as_deref().unwrap_or("result");
        Some(ExpectScope {
            view: self.view(at.frame, Some(at))?,
            value: Arc::clone(value),
            names: vec!["result", &step.id, output],
            fields: false,
        })
    }

    /// Returns the names for the post-condition of a skill whose outputs will be this answer.
    pub(crate) fn answer_scope(&self, at: Position, value: &Arc<Value>) -> Option<ExpectScope<'_>> {
        let step = &self.frames[at.frame].plan.steps[at.step].step;
        let (value, names) = match &step.output {
            None => (Arc::clone(value), vec!["outputs", step.id.as_str()]),
            Some(name) => (Arc::new(json!({ name: **value })), vec!["outputs"]),
        };
        Some(ExpectScope {
            view: self.view(at.frame, None)?,
            value,
            names,
            fields: true,
        })
    }

    /// Returns the names for the post-condition of a skill with these outputs.
    pub(crate) fn output_scope(&self, frame: usize, outputs: &Value) -> Option<ExpectScope<'_>> {
        Some(ExpectScope {
            view: self.view(frame, None)?,
            value: Arc::new(outputs.clone()),
            names: vec!["outputs"],
            fields: true,
        })
    }
}

/// Whether two names may mean the same tool: `server.tool` is also called `tool`.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|server| server.ends_with('.'))
    };
    one == other || bare(one, other) || bare(other, one)
}

/// The names that a post-condition sees: the checked value first, then everything that its step or skill
/// sees.
pub(crate) struct ExpectScope<'a> {
    view: NameScope<'a>,
    value: Arc<Value>,
    names: Vec<&'a str>,
    /// Whether the fields of the value are names too.
    fields: bool,
}

impl ExpectScope<'_> {
    /// Returns an expression with the names it mentions, for the worker.
    pub(crate) fn code(&self, source: &str, now: Timestamp) -> Code {
        let mut code = self.view.code(source, now);
        let own = self.names.iter().map(|name| (*name, &*self.value));
        let fields = self.value.as_object().filter(|_| self.fields);
        let fields = fields.into_iter().flatten();
        for (name, value) in own.chain(fields.map(|(name, value)| (name.as_str(), value))) {
            if mentions(source, name) {
                code.skipped.retain(|skipped| skipped != name);
                code.scope.insert(name.to_owned(), value.clone());
            }
        }
        code
    }
}

impl Scope for ExpectScope<'_> {
    fn get(&self, name: &str) -> Lookup {
        let field = self.value.get(name).filter(|_| self.fields);
        match field {
            Some(field) => Lookup::Value(Arc::new(field.clone())),
            None if self.names.contains(&name) => Lookup::Value(Arc::clone(&self.value)),
            None => self.view.get(name),
        }
    }

    fn member(&self, name: &str, member: &str) -> Member {
        let field = self.value.get(name).filter(|_| self.fields);
        if field.is_some() || self.names.contains(&name) {
            return Member::Held;
        }
        self.view.member(name, member)
    }
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn a_tool_has_a_full_and_a_bare_name() {
        for (one, other, same) in [
            ("act", "act", true),
            ("world.act", "act", true),
            ("act", "world.act", true),
            ("world.act", "other.act", false),
            ("react", "act", false),
        ] {
            assert_eq!(is_same(one, other), same, "{one} {other}");
        }
    }
}
