//! Post-conditions: whether a run or a step may call itself a success (`expect:`).
//!
//! What they come to is part of the event that ends the step or the run, so a replay checks
//! nothing. It is not decided here what a breach means for whoever waits.

use std::sync::Arc;

use deft_model::{Expect, Failure, FailureClass, OnError};
use deft_template::{Condition, EvalError, EvalKind, Lookup, Scope, SyntaxError};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::event::Call;
use crate::machine::Machine;
use crate::scope::View;
use crate::state::{At, TryState};

/// How many problems with a value are told at once.
const MOST_PROBLEMS: usize = 3;

/// Post-conditions made ready.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    called: Vec<String>,
    that: Option<Condition>,
    schema: Option<Validator>,
}

impl Expected {
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

    /// Checks a value. `what` says what it is, `is_called` which tools have done their part.
    fn check(
        &self,
        what: &str,
        is_called: impl Fn(&str) -> bool,
        scope: &Beside<'_>,
    ) -> Result<(), Failure> {
        if let Some(tool) = self.called.iter().find(|tool| !is_called(tool)) {
            let message = format!("expected a successful call of `{tool}`, and there was none");
            return Err(Failure::new(FailureClass::Invalid, message));
        }
        if let Some(schema) = &self.schema {
            check_schema(what, schema, scope.value)?;
        }
        match &self.that {
            Some(that) => check_that(that, scope),
            None => Ok(()),
        }
    }
}

impl Machine {
    /// `expect:` of a skill, over its outputs and by their names.
    pub(crate) fn check_outputs(
        &self,
        index: usize,
        view: &View<'_>,
        outputs: &Value,
    ) -> Result<(), Failure> {
        let frame = &self.frames[index];
        let scope = Beside {
            view,
            value: outputs,
            names: &["outputs"],
            fields: true,
        };
        let is_called = |tool: &str| frame.called.iter().any(|other| is_same(other, tool));
        frame.plan.expect.check("the outputs", is_called, &scope)
    }

    /// `expect:` of a step, and of its skill where that is nothing but an agent: it is the agent that
    /// has to keep it, and that can be asked again. `by_agent` is what it has called.
    pub(crate) fn check_step(
        &self,
        at: At,
        value: &Value,
        by_agent: &[String],
    ) -> Result<(), Failure> {
        let checked = self.check_value(at, value, by_agent);
        if self.is_agent(at) {
            // Nothing is in doubt: what an agent has called is known call by call.
            return checked.and_then(|()| self.check_answer(at, value, by_agent));
        }
        // The call itself has happened.
        checked.map_err(Failure::in_doubt)
    }

    /// `expect:` of a step, over its value as `result` and by its own names.
    fn check_value(&self, at: At, value: &Value, by_agent: &[String]) -> Result<(), Failure> {
        let planned = &self.frames[at.frame].plan.steps[at.step];
        let Some(view) = self
            .view(at.frame, Some(at))
            .filter(|_| !planned.expect.is_empty())
        else {
            return Ok(());
        };
        let output = planned.step.output.as_deref().unwrap_or("result");
        let scope = Beside {
            view: &view,
            value,
            names: &["result", &planned.step.id, output],
            fields: false,
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
        planned.expect.check(&what, is_called, &scope)
    }

    /// `expect:` of a skill that is nothing but its agent, over what it will return.
    fn check_answer(&self, at: At, value: &Value, by_agent: &[String]) -> Result<(), Failure> {
        let plan = &self.frames[at.frame].plan;
        let step = &plan.steps[at.step].step;
        let wrapped = step.output.as_ref().map(|name| json!({ name: value }));
        let names = match wrapped {
            None => &["outputs", step.id.as_str()][..],
            Some(_) => &["outputs"],
        };
        // Steps are to be seen only when they have ended, and what a step tolerates its skill does not.
        let later = step.on_error == OnError::Continue
            || plan.expect.mentions("steps")
            || !names.contains(&step.id.as_str()) && plan.expect.mentions(&step.id);
        let Some(view) = self
            .view(at.frame, None)
            .filter(|_| plan.is_agent_alone() && !later)
        else {
            return Ok(());
        };
        let scope = Beside {
            view: &view,
            value: wrapped.as_ref().unwrap_or(value),
            names,
            fields: true,
        };
        let is_called = |tool: &str| by_agent.iter().any(|other| is_same(other, tool));
        plan.expect.check("the outputs", is_called, &scope)
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

fn check_that(that: &Condition, scope: &dyn Scope) -> Result<(), Failure> {
    let source = that.source().trim();
    match that.is_true(scope) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let message = format!("expected `{source}`, and it is false");
            Err(Failure::new(FailureClass::Invalid, message))
        }
        Err(error) => {
            let failure = invalid(&format!("expected `{source}`"), &error);
            // There is no worker at this point, and what takes one is not always to be seen before.
            let beyond = matches!(error.kind, EvalKind::Unsupported) && failure.hint.is_none();
            Err(if beyond {
                failure.hint("work it out in a `compute` step, and expect what that returns")
            } else {
                failure
            })
        }
    }
}

pub(crate) fn invalid(what: &str, error: &EvalError) -> Failure {
    let message = format!("{what}: {}", error.message);
    let mut failure = Failure::new(FailureClass::Invalid, message);
    failure.hint.clone_from(&error.hint);
    failure
}

/// The names a post-condition sees: what it is about, then everything else.
struct Beside<'a> {
    view: &'a View<'a>,
    value: &'a Value,
    names: &'a [&'a str],
    /// The fields of the value are names too.
    fields: bool,
}

impl Scope for Beside<'_> {
    fn get(&self, name: &str) -> Lookup {
        let field = self.value.get(name).filter(|_| self.fields);
        let value = field.or_else(|| self.names.contains(&name).then_some(self.value));
        match value {
            Some(value) => Lookup::Value(Arc::new(value.clone())),
            None => self.view.get(name),
        }
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
