//! Post-conditions: whether a run or a step may call itself a success (`expect:`).
//!
//! What they come to is part of the event that ends the step or the run, so a replay checks
//! nothing. It is not decided here what a breach means for whoever waits; what only the worker can
//! judge is in `verify.rs`.

use std::sync::Arc;

use deft_model::{Expect, Failure, FailureClass, OnError};
use deft_template::{Condition, EvalError, EvalKind, Lookup, Member, Scope, SyntaxError};
use jiff::Timestamp;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::event::{Call, ExpectLevel};
use crate::machine::{Code, Machine};
use crate::plan::Plan;
use crate::scope::{NameScope, mentions};
use crate::state::{Phase, Position, TryState, Verdict};

/// How many problems with a value are told at once.
const MOST_PROBLEMS: usize = 3;

/// Post-conditions made ready.
#[derive(Debug, Default)]
pub(crate) struct Expectation {
    called: Vec<String>,
    that: Option<Condition>,
    schema: Option<Validator>,
}

impl Expectation {
    pub(crate) fn compile(expect: Option<&Expect>) -> Result<Self, SyntaxError> {
        let Some(expect) = expect else {
            return Ok(Self::default());
        };
        let schema = expect.schema.as_ref().map(|schema| {
            let built = jsonschema::options().offline().build(schema);
            built.map_err(|error| SyntaxError {
                message: format!("`expect.schema` cannot be used: {}", error.masked()),
                span: 0..0,
                hint: None,
            })
        });
        Ok(Self {
            called: expect.called.clone(),
            that: expect.that.as_deref().map(Condition::parse).transpose()?,
            schema: schema.transpose()?,
        })
    }

    pub(crate) fn called(&self) -> &[String] {
        &self.called
    }

    pub(crate) fn has_schema(&self) -> bool {
        self.schema.is_some()
    }

    fn mentions(&self, name: &str) -> bool {
        let mut names = self.that.iter().flat_map(Condition::names);
        names.any(|used| used.name == name)
    }

    fn is_empty(&self) -> bool {
        self.called.is_empty() && self.that.is_none() && self.schema.is_none()
    }

    /// True when it is known to need the worker.
    pub(crate) fn is_beyond(&self) -> bool {
        let mut that = self.that.iter();
        that.any(|that| that.beyond().is_some())
    }

    /// The expression.
    pub(crate) fn that(&self) -> &str {
        self.that.as_ref().map_or("", Condition::source).trim()
    }

    /// Checks a value. `what` says what it is, `is_called` which tools have done their part.
    fn check(
        &self,
        what: &str,
        is_called: impl Fn(&str) -> bool,
        scope: &ExpectScope<'_>,
    ) -> Result<(), ExpectProblem> {
        if let Some(tool) = self.called.iter().find(|tool| !is_called(tool)) {
            let message = format!("expected a successful call of `{tool}`, and there was none");
            return Err(Failure::new(FailureClass::Invalid, message).into());
        }
        if let Some(schema) = &self.schema {
            check_schema(what, schema, &scope.value)?;
        }
        match &self.that {
            Some(that) => check_that(that, scope),
            None => Ok(()),
        }
    }
}

/// Why a value cannot be called a success.
#[derive(Debug)]
pub(crate) enum ExpectProblem {
    /// It is not as expected.
    Breach(Failure),
    /// Only the worker can say.
    Beyond(ExpectLevel),
}

impl From<Failure> for ExpectProblem {
    fn from(failure: Failure) -> Self {
        Self::Breach(failure)
    }
}

impl Machine {
    /// `expect:` of a skill, over its outputs and by their names.
    pub(crate) fn check_outputs(&self, index: usize, outputs: &Value) -> Result<(), ExpectProblem> {
        let frame = &self.frames[index];
        match &frame.verdict {
            Verdict::Met => return Ok(()),
            Verdict::Unmet(failure) => return Err(failure.clone().into()),
            Verdict::Open | Verdict::Asked { .. } => {}
        }
        // What was held against the answer of the agent need not be looked at again.
        let kept = frame.plan.is_kept_by_agent() && frame.steps[0].phase == Phase::Success;
        if kept || frame.plan.expect.is_empty() {
            return Ok(());
        }
        let Some(scope) = self.output_scope(index, outputs) else {
            return Ok(());
        };
        let is_called = |tool: &str| frame.called.iter().any(|other| is_same(other, tool));
        let checked = frame.plan.expect.check("the outputs", is_called, &scope);
        checked.map_err(|problem| problem.with_level(ExpectLevel::Skill))
    }

    /// `expect:` of a step, and of its skill where that is nothing but an agent: it is the agent that
    /// has to keep it, and that can be asked again. `by_agent` is what it has called.
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

    /// `expect:` of a step.
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
            Some(TryState::Calling { call, .. }) => match &**call {
                Call::Tool { tool: other, .. } => is_same(other, tool),
                _ => by_agent.iter().any(|other| is_same(other, tool)),
            },
            Some(TryState::Inside { frame, .. }) => {
                let mut called = self.frames[*frame].called.iter();
                called.any(|other| is_same(other, tool))
            }
            _ => false,
        };
        let what = format!("the result of `{}`", self.path(at));
        let checked = planned.expect.check(&what, is_called, &scope);
        checked.map_err(|problem| problem.with_level(ExpectLevel::Step))
    }

    /// `expect:` of a skill that is nothing but its agent, over what it will return.
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
        let checked = plan.expect.check("the outputs", is_called, &scope);
        checked.map_err(|problem| problem.with_level(ExpectLevel::Skill))
    }

    /// What the post-condition of a step sees: its value as `result` and by its own names.
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

    /// What the post-condition of a skill sees of an answer that will be all it returns.
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

    /// What the post-condition of a skill sees of its outputs.
    pub(crate) fn output_scope(&self, frame: usize, outputs: &Value) -> Option<ExpectScope<'_>> {
        Some(ExpectScope {
            view: self.view(frame, None)?,
            value: Arc::new(outputs.clone()),
            names: vec!["outputs"],
            fields: true,
        })
    }
}

impl ExpectProblem {
    /// The same, with who expects it.
    fn with_level(self, level: ExpectLevel) -> Self {
        match self {
            Self::Beyond(_) => Self::Beyond(level),
            Self::Breach(failure) => Self::Breach(failure),
        }
    }
}

impl Plan {
    /// True when what the skill expects is held against the answer of its agent, which can be asked
    /// again. Steps are to be seen only when they have ended, and what a step tolerates its skill does
    /// not: both are held against the outputs.
    pub(crate) fn is_kept_by_agent(&self) -> bool {
        let Some(planned) = self.steps.first().filter(|_| self.is_agent_alone()) else {
            return false;
        };
        let step = &planned.step;
        let unseen = step.output.is_some() && self.expect.mentions(&step.id);
        !(unseen || self.expect.mentions("steps") || step.on_error == OnError::Continue)
    }
}

/// Whether two names may mean one tool: `server.tool` is also called `tool`.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|server| server.ends_with('.'))
    };
    one == other || bare(one, other) || bare(other, one)
}

fn check_schema(what: &str, schema: &Validator, value: &Value) -> Result<(), Failure> {
    let problems = schema.iter_errors(value).take(MOST_PROBLEMS);
    // The value itself is left out: it may be long, and is to be seen in the record anyway.
    let problems: Vec<String> = problems
        .map(|error| match error.instance_path().to_string() {
            place if place.is_empty() => error.masked_with("it").to_string(),
            place => format!("`{place}`: {}", error.masked_with("it")),
        })
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!(
        "`expect.schema` is not met by {what}: {}",
        problems.join("; ")
    );
    Err(Failure::new(FailureClass::Invalid, message))
}

fn check_that(that: &Condition, scope: &dyn Scope) -> Result<(), ExpectProblem> {
    match that.is_true(scope) {
        Ok(true) => Ok(()),
        Ok(false) => Err(untrue(that.source()).into()),
        Err(error) if matches!(error.kind, EvalKind::Unsupported) => {
            // Whose it is, the caller knows.
            Err(ExpectProblem::Beyond(ExpectLevel::Step))
        }
        Err(error) => {
            let source = that.source().trim();
            Err(invalid(&format!("expected `{source}`"), &error).into())
        }
    }
}

/// An expression that is not true.
pub(crate) fn untrue(source: &str) -> Failure {
    let message = format!("expected `{}`, and it is false", source.trim());
    Failure::new(FailureClass::Invalid, message)
}

pub(crate) fn invalid(what: &str, error: &EvalError) -> Failure {
    let message = format!("{what}: {}", error.message);
    let mut failure = Failure::new(FailureClass::Invalid, message);
    failure.hint.clone_from(&error.hint);
    failure
}

/// The names a post-condition sees: what it is about, then everything else.
pub(crate) struct ExpectScope<'a> {
    view: NameScope<'a>,
    value: Arc<Value>,
    names: Vec<&'a str>,
    /// The fields of the value are names too.
    fields: bool,
}

impl ExpectScope<'_> {
    /// An expression with the names it mentions, for the worker.
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
