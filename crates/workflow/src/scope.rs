//! The meaning of names inside a step (S3.8, S3.10, S3.11).
//!
//! A step sees the results of the steps it waits for and no others, even if others have ended. The loop item
//! hides all other names; the fixed names hide steps, and steps hide inputs.

use std::sync::Arc;

use deft_model::{Failure, Object};
use deft_template::{Lookup, Member, Scope};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::code::{Code, mentions};
use crate::placeholder::placeholder;
use crate::planned::PlannedStep;
use crate::public_form::seconds;
use crate::sources::names_of;
use crate::state::{Frame, Origin, Phase, Position, StepState};

/// The names visible to a step, an item or the outputs.
pub(crate) struct NameScope<'a> {
    pub(crate) origin: &'a Origin,
    pub(crate) frame: &'a Frame,
    /// `None` for the outputs, which see every step.
    pub(crate) at: Option<Position>,
}

impl NameScope<'_> {
    fn sees(&self, step: usize) -> bool {
        match self.at {
            Some(at) => self.frame.plan.steps[at.step].visible.contains(step),
            None => true,
        }
    }

    fn item(&self, name: &str) -> Option<Arc<Value>> {
        let at = self.at?;
        let var = self.frame.plan.steps[at.step].loop_var()?;
        if var != name {
            return None;
        }
        self.frame.steps[at.step]
            .items
            .as_ref()?
            .get(at.item?)
            .cloned()
    }

    /// Returns the position of an item in its loop, as `loop` (S3.16). A step or an input may have this name.
    fn position(&self, name: &str) -> Option<Lookup> {
        let at = self.at.filter(|_| name == "loop")?;
        let (item, items) = (at.item?, self.frame.steps[at.step].items.as_ref()?);
        Some(Lookup::Value(Arc::new(json!({
            "index": item + 1,
            "index0": item,
            "length": items.len(),
            "first": item == 0,
            "last": item + 1 == items.len(),
        }))))
    }

    /// Returns the value of a step's name: that of the last step in order that has a value. The name of a
    /// step that is not visible here has no meaning here, so that a step may be called `sum` and still use
    /// Python's.
    fn result(&self, name: &str) -> Option<Lookup> {
        let providers = self.frame.plan.providers.get(name)?;
        let mut seen = providers
            .iter()
            .rev()
            .filter(|step| self.sees(**step))
            .map(|step| self.frame.steps[*step].value.as_ref())
            .peekable();
        seen.peek()?;
        Some(match seen.flatten().next() {
            Some(value) => Lookup::Value(Arc::clone(value)),
            None => Lookup::Absent,
        })
    }

    /// Whether a name stands for the value of a step here.
    pub(crate) fn is_result(&self, name: &str) -> bool {
        self.result(name).is_some()
    }

    fn input(&self, name: &str) -> Option<Lookup> {
        let value = self.frame.inputs.get(name);
        let declared = || {
            self.frame
                .plan
                .inputs
                .iter()
                .any(|input| input.name == name)
        };
        match value {
            Some(value) => Some(Lookup::Value(Arc::new(value.clone()))),
            None => declared().then_some(Lookup::Absent),
        }
    }

    /// Returns all inputs; an optional one that was not given is null.
    fn inputs(&self) -> Arc<Value> {
        let given = &self.frame.inputs;
        let declared = self.frame.plan.inputs.iter();
        let mut absent = declared.filter(|input| given.get(&input.name).is_none());
        let (Value::Object(map), Some(first)) = (&**given, absent.next()) else {
            return Arc::clone(given);
        };
        let mut map = map.clone();
        for input in std::iter::once(first).chain(absent) {
            map.insert(input.name.clone(), Value::Null);
        }
        Arc::new(Value::Object(map))
    }

    fn steps(&self) -> Value {
        let steps = self.frame.plan.steps.iter().zip(&self.frame.steps);
        let seen = steps.enumerate().filter(|(at, _)| self.sees(*at));
        let map: Object = seen
            .map(|(_, (planned, state))| (planned.step.id.clone(), report(&planned.step.id, state)))
            .collect();
        Value::Object(map)
    }

    fn outputs(&self) -> Value {
        let mut map = Object::new();
        for (at, planned) in self.frame.plan.steps.iter().enumerate() {
            let value = self.frame.steps[at].value.as_ref();
            let Some(name) = planned.step.output.as_ref().filter(|_| self.sees(at)) else {
                continue;
            };
            match value {
                Some(value) => drop(map.insert(name.clone(), (**value).clone())),
                // A skipped step does not replace the value of a step with the same name.
                None => drop(map.entry(name.clone()).or_insert(Value::Null)),
            }
        }
        Value::Object(map)
    }

    /// Returns code with the names it mentions, for the worker.
    pub(crate) fn code(&self, source: &str, now: Timestamp) -> Code {
        let scope = self.mentioned_in(source);
        let skipped = scope.keys().filter(|name| self.is_skipped(name));
        Code {
            skipped: skipped.cloned().collect(),
            source: source.to_owned(),
            scope,
            now,
        }
    }

    /// Whether a name stands for a step without a value.
    fn is_skipped(&self, name: &str) -> bool {
        matches!(self.get(name), Lookup::Absent) && self.is_result(name)
    }

    fn mentioned_in(&self, code: &str) -> Object {
        let mut map = Object::new();
        let inputs = self
            .frame
            .plan
            .inputs
            .iter()
            .map(|input| input.name.as_str());
        let steps = self.frame.plan.steps.iter();
        let steps = steps.flat_map(|planned| {
            let output = planned.step.output.as_deref();
            std::iter::once(planned.step.id.as_str()).chain(output)
        });
        let var = self
            .at
            .and_then(|at| self.frame.plan.steps[at.step].loop_var());
        let fixed = FIXED.iter().copied().chain(["loop"]);
        for name in fixed.chain(inputs).chain(steps).chain(var) {
            if map.contains_key(name) || !mentions(code, name) {
                continue;
            }
            let value = match self.get(name) {
                Lookup::Value(value) => (*value).clone(),
                Lookup::Absent => Value::Null,
                Lookup::Unknown => continue,
            };
            map.insert(name.to_owned(), value);
        }
        map
    }

    /// Whether the value of a name, or of a member of it, is untrusted.
    fn reads_untrusted(&self, name: &str, member: Option<&str>) -> bool {
        let planned = self.at.map(|at| &self.frame.plan.steps[at.step]);
        if planned.and_then(PlannedStep::loop_var) == Some(name) {
            let list = planned.and_then(|planned| planned.list.as_ref());
            return list.is_some_and(|list| self.frame.renders_untrusted(list, None));
        }
        match (name, member) {
            ("inputs", Some(input)) => self.frame.untrusted_inputs.contains(input),
            ("inputs", None) => !self.frame.untrusted_inputs.is_empty(),
            ("steps" | "outputs", Some(member)) => self.gives_untrusted(Some(member)),
            ("steps" | "outputs", None) => self.gives_untrusted(None),
            _ if self.is_result(name) => self.gives_untrusted(Some(name)),
            _ => self.frame.untrusted_inputs.contains(name),
        }
    }

    /// Whether a step with this name has an untrusted value; without a name, whether any step has.
    fn gives_untrusted(&self, name: Option<&str>) -> bool {
        let plan = &self.frame.plan;
        let mut steps = plan.steps.iter().zip(&plan.sources);
        steps.any(|(planned, sources)| {
            let gives = name.is_none_or(|name| names_of(&planned.step).any(|own| own == name));
            gives && self.frame.is_untrusted(sources)
        })
    }
}

/// Names with a fixed meaning. `secrets` is not among them: code never sees a secret.
const FIXED: [&str; 5] = [
    "inputs",
    "steps",
    "outputs",
    "execution_id",
    "workspace_uri",
];

impl Scope for NameScope<'_> {
    fn get(&self, name: &str) -> Lookup {
        if let Some(item) = self.item(name) {
            return Lookup::Value(item);
        }
        let text = |text: &str| Lookup::Value(Arc::new(Value::String(text.to_owned())));
        match name {
            "inputs" => Lookup::Value(self.inputs()),
            "steps" => Lookup::Value(Arc::new(self.steps())),
            "outputs" => Lookup::Value(Arc::new(self.outputs())),
            "execution_id" => text(&self.origin.started.execution_id),
            "workspace_uri" => text(&self.origin.started.workspace_uri),
            _ => self
                .result(name)
                .or_else(|| self.input(name))
                .or_else(|| self.position(name))
                .unwrap_or(Lookup::Unknown),
        }
    }

    fn member(&self, name: &str, member: &str) -> Member {
        if self.item(name).is_some() {
            return Member::Held;
        }
        let is_absent = match name {
            "inputs" => matches!(self.input(member), Some(Lookup::Absent)),
            "outputs" => {
                let planned = &self.frame.plan.steps;
                let named = |planned: &PlannedStep| planned.step.output.as_deref() == Some(member);
                planned.iter().any(named) && matches!(self.result(member), Some(Lookup::Absent))
            }
            // `{{ a.result }}` is the value of `a`, as assistants write it in plans (S0.50).
            _ if member == "result" && self.result(name).is_some() => return Member::Itself,
            _ => false,
        };
        if is_absent {
            Member::Absent
        } else {
            Member::Held
        }
    }

    fn is_untrusted(&self, name: &str, member: Option<&str>) -> bool {
        self.reads_untrusted(name, member)
    }

    fn secret(&self, name: &str) -> Option<String> {
        let known = self.frame.plan.secrets.iter().any(|secret| secret == name);
        known.then(|| placeholder(&self.origin.started.nonce, name))
    }
}

/// Converts a failure for `steps.ID.error`. Secrets stay placeholders, because arguments are rendered from
/// it.
fn failure(failure: &Failure) -> Value {
    json!({ "class": failure.class, "message": failure.message })
}

/// Converts a step for `steps.ID` (S3.9).
fn report(id: &str, state: &StepState) -> Value {
    json!({
        "step_id": id,
        "status": status(state.phase),
        "success": state.phase == Phase::Success,
        "result": state.value.as_deref(),
        "error": state.error.as_ref().map(failure),
        "duration": seconds(state.ms),
    })
}

pub(crate) fn status(phase: Phase) -> &'static str {
    match phase {
        Phase::Pending => "pending",
        Phase::Asking => "waiting",
        Phase::Open => "running",
        Phase::Success => "success",
        Phase::Error | Phase::Failed => "error",
        Phase::Skipped | Phase::Refused => "skipped",
    }
}
