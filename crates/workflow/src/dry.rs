//! Dry runs: what a run would do, as far as that is known before it begins. Nothing is called.
//!
//! A template that reads the result of a step cannot be rendered yet: it is shown as written, and its
//! position is listed as unknown. Results of tools are not guessed.

use std::collections::HashMap;
use std::sync::Arc;

use deft_model::Object;
use deft_template::{Condition, Lookup, Member, NameUse, Scope, Template};
use deft_wire::dry_run::{DryHeal, DryLoop, DryStep, DryVerdict};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::facts::Facts;
use crate::kinds::{CompiledStep, Preview};
use crate::machine::Rules;
use crate::order;
use crate::plan::Plan;
use crate::planned::{PlannedStep, Remedy};
use crate::tree::Tree;
use crate::wait;

/// Returns what a run with `inputs` would do, in the order in which its steps begin.
pub fn dry_run(
    plan: &Plan,
    inputs: &Object,
    rules: &Rules,
    facts: &dyn Facts,
    now: Timestamp,
) -> Vec<DryStep> {
    let waits: Vec<order::Prerequisites> =
        plan.steps.iter().map(|step| step.waits.clone()).collect();
    let mut scope = DryScope {
        plan,
        rules,
        inputs: Arc::new(Value::Object(inputs.clone())),
        skipped: HashMap::new(),
        now,
    };
    let mut steps = Vec::with_capacity(plan.steps.len());
    for (wave, members) in order::waves(&waits).into_iter().enumerate() {
        for at in members {
            let step = scope.step(at, wave + 1, facts);
            scope.skipped.insert(at, step.verdict == DryVerdict::Skip);
            steps.push(step);
        }
    }
    steps
}

/// The names that have a value before any step has run.
struct DryScope<'a> {
    plan: &'a Plan,
    rules: &'a Rules,
    inputs: Arc<Value>,
    /// Steps checked so far, and whether each is certain to be skipped.
    skipped: HashMap<usize, bool>,
    now: Timestamp,
}

impl Scope for DryScope<'_> {
    fn get(&self, name: &str) -> Lookup {
        if name == "inputs" {
            return Lookup::Value(Arc::clone(&self.inputs));
        }
        if self.plan.providers.contains_key(name) {
            return Lookup::Absent;
        }
        match self.inputs.get(name) {
            Some(value) => Lookup::Value(Arc::new(value.clone())),
            None if self.plan.inputs.iter().any(|input| input.name == name) => Lookup::Absent,
            None => Lookup::Unknown,
        }
    }

    fn member(&self, name: &str, member: &str) -> Member {
        let declared = || self.plan.inputs.iter().any(|input| input.name == member);
        match name {
            "inputs" if self.inputs.get(member).is_none() && declared() => Member::Absent,
            _ => Member::Held,
        }
    }

    fn secret(&self, name: &str) -> Option<String> {
        let known = self.plan.secrets.iter().any(|secret| secret == name);
        known.then(|| format!("[secret {name}]"))
    }
}

impl DryScope<'_> {
    /// Whether the value of a name is known: it is not a result, or only a result of skipped steps.
    fn knows(&self, at: usize, used: &NameUse) -> bool {
        let planned = &self.plan.steps[at];
        if planned.loop_var() == Some(used.name.as_str()) {
            return false;
        }
        match used.name.as_str() {
            "inputs" | "secrets" => true,
            "steps" | "outputs" | "execution_id" | "workspace_uri" => false,
            "loop" if planned.list.is_some() => false,
            name => {
                let providers = self.plan.providers.get(name).into_iter().flatten();
                let mut seen = providers.filter(|step| planned.visible.contains(**step));
                seen.all(|step| self.skipped.get(step) == Some(&true))
            }
        }
    }

    fn knows_all(&self, at: usize, names: &[NameUse]) -> bool {
        names.iter().all(|used| self.knows(at, used))
    }

    fn step(&self, at: usize, wave: usize, facts: &dyn Facts) -> DryStep {
        let planned = &self.plan.steps[at];
        let mut looking = DryCheck {
            scope: self,
            at,
            unknown: Vec::new(),
            problems: Vec::new(),
        };
        let verdict = looking.verdict(planned.condition.as_ref());
        let repeat = looking.repeat(planned);
        looking.unknown.clear();
        let question = planned
            .question
            .as_ref()
            .filter(|_| verdict != DryVerdict::Skip);
        let confirm = question.map(|(text, _)| looking.text("confirmation", text));
        looking.unknown.clear();
        let (name, args) = planned.work.preview(&mut looking);
        let until = looking.wait_end(&planned.work, args.as_ref());
        let (unknown, problems) = (looking.unknown, looking.problems);
        let given = args.as_ref().and_then(Value::as_object).cloned();
        let given = given.unwrap_or_default();
        let tool = name.as_deref().map(|name| (name, &given));
        DryStep {
            id: planned.step.id.clone(),
            kind: planned.step.kind.step_type(),
            wave,
            verdict,
            condition: planned.step.condition.clone(),
            effects: planned.effects(self.plan.effects, tool, facts),
            name,
            args,
            until,
            unknown,
            confirm,
            repeat,
            on_error: planned.step.on_error.to_string(),
            heals: planned
                .heals
                .iter()
                .chain(&self.plan.heals)
                .chain(&self.rules.heals)
                .map(dry_heal)
                .collect(),
            problems,
        }
    }
}

fn dry_heal(remedy: &Remedy) -> DryHeal {
    DryHeal {
        when: remedy.when.clone(),
        tool: remedy.tool.clone(),
    }
}

/// The check of one step.
struct DryCheck<'a> {
    scope: &'a DryScope<'a>,
    at: usize,
    unknown: Vec<String>,
    problems: Vec<String>,
}

impl DryCheck<'_> {
    fn verdict(&mut self, condition: Option<&Condition>) -> DryVerdict {
        let Some(condition) = condition else {
            return DryVerdict::Run;
        };
        if !self.scope.knows_all(self.at, condition.names()) {
            return DryVerdict::Depends;
        }
        match condition.is_true(self.scope) {
            Ok(true) => DryVerdict::Run,
            Ok(false) => DryVerdict::Skip,
            Err(error) => {
                self.problems.push(format!("condition: {}", error.message));
                DryVerdict::Depends
            }
        }
    }

    fn repeat(&mut self, planned: &PlannedStep) -> Option<DryLoop> {
        let (repeat, list) = planned.step.repeat.as_ref().zip(planned.list.as_ref())?;
        let over = self.tree("loop", list);
        Some(DryLoop {
            var: repeat.var.clone(),
            concurrency: repeat.concurrency.unwrap_or(1),
            items: match over {
                Value::Array(items) if self.unknown.is_empty() => Some(items),
                Value::Object(map) if self.unknown.is_empty() => {
                    let entry = |(key, value)| json!({ "key": key, "value": value });
                    Some(map.into_iter().map(entry).collect())
                }
                Value::Null if self.unknown.is_empty() => Some(Vec::new()),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)
                | Value::Object(_) => None,
            },
        })
    }

    /// Returns the end of a wait that would begin now.
    fn wait_end(&mut self, work: &CompiledStep, args: Option<&Value>) -> Option<Timestamp> {
        let CompiledStep::Wait { until, .. } = work else {
            return None;
        };
        let args = args.filter(|_| self.unknown.is_empty())?;
        let named = self.scope.plan.timezone.as_deref();
        let zone = named.and_then(|name| TimeZone::get(name).ok());
        let zone = zone.unwrap_or_else(|| self.scope.rules.zone.clone());
        let found = if *until {
            wait::instant(&args["until"], &zone)
        } else {
            let later = |length| self.scope.now.saturating_add(length);
            wait::length(&args["for"]).map(|length| later(length).unwrap_or(Timestamp::MAX))
        };
        found
            .map_err(|failure| self.problems.push(failure.message))
            .ok()
    }
}

impl Preview for DryCheck<'_> {
    fn text(&mut self, place: &str, template: &Template) -> String {
        if !self.scope.knows_all(self.at, template.names()) {
            self.unknown.push(place.to_owned());
            return template.source().to_owned();
        }
        template.render_text(self.scope).unwrap_or_else(|error| {
            self.problems.push(format!("{place}: {}", error.message));
            template.source().to_owned()
        })
    }

    fn tree(&mut self, place: &str, tree: &Tree) -> Value {
        match tree {
            Tree::Literal(value) => value.clone(),
            Tree::Template(template) => self.template(place, template),
            Tree::List(items) => {
                let items = items.iter().enumerate();
                let shown = items.map(|(at, item)| self.tree(&format!("{place}[{at}]"), item));
                Value::Array(shown.collect())
            }
            Tree::Map(entries) => {
                let mut map = Object::with_capacity(entries.len());
                for (key, tree) in entries {
                    let place = format!("{place}.{key}");
                    map.insert(key.clone(), self.tree(&place, tree));
                }
                Value::Object(map)
            }
        }
    }

    fn template(&mut self, place: &str, template: &Template) -> Value {
        let as_written = || Value::String(template.source().to_owned());
        if !self.scope.knows_all(self.at, template.names()) {
            self.unknown.push(place.to_owned());
            return as_written();
        }
        template.render(self.scope).unwrap_or_else(|error| {
            self.problems.push(format!("{place}: {}", error.message));
            as_written()
        })
    }
}
