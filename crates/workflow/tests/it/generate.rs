//! Generated workflows: every kind of step, in every combination that the loader accepts.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use deft_model::{
    Body, Choice, Confirmation, Effects, Expect, FailureClass, Heal, Loop, Object, OnError, Step,
    StepKind, Wait, Workflow,
};
use deft_workflow::Plan;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::script::skill;

/// A workflow and the skills that its steps may run.
#[derive(Clone, Debug)]
pub(crate) struct GeneratedWorkflow {
    pub root: Workflow,
    pub inner: Vec<Workflow>,
    pub max_heals: u32,
    /// Selects the post-condition of the skills.
    pub expect: u8,
}

impl GeneratedWorkflow {
    pub(crate) fn plan(&self) -> Arc<Plan> {
        self.compile("root", &self.root)
    }

    pub(crate) fn skills(&self) -> HashMap<String, Arc<Plan>> {
        let inner = self.inner.iter().enumerate();
        inner
            .map(|(at, workflow)| {
                let id = format!("inner{at}");
                let plan = self.compile(&id, workflow);
                (id, plan)
            })
            .collect()
    }
}

impl GeneratedWorkflow {
    fn compile(&self, id: &str, workflow: &Workflow) -> Arc<Plan> {
        let text = format!(
            "name: {id}\ndescription: x\nmax_heals: {}\nsteps: [{{id: a, tool: log}}]\n",
            self.max_heals
        );
        let mut skill = skill(&text, "generated.yaml");
        skill.body = Body::Steps(Box::new(workflow.clone()));
        Arc::make_mut(&mut skill.policy).expect = expect(self.expect, "outputs");
        Arc::new(Plan::compile(&skill, &format!("rev-{id}")).unwrap())
    }

    /// Returns the same workflow with short timeouts for nested skills, chosen by `seed`.
    pub(crate) fn hurried(mut self, seed: u64) -> Self {
        let workflows = std::iter::once(&mut self.root).chain(&mut self.inner);
        let steps = workflows.flat_map(|workflow| &mut workflow.steps);
        let nested = steps.filter(|step| matches!(step.kind, StepKind::Skill { .. }));
        for (at, step) in nested.enumerate() {
            let draw = (seed >> (4 * (at % 16))) & 15;
            step.timeout = (draw > 4).then(|| Duration::from_millis(draw * draw * 10));
        }
        self
    }
}

fn expect(kind: u8, value: &str) -> Option<Expect> {
    let that = match kind {
        0 => format!("{value} != None"),
        // Needs the worker.
        1 => format!("{value} != 10 ** 60"),
        _ => return None,
    };
    Some(Expect {
        that: Some(that),
        ..Expect::default()
    })
}

pub(crate) fn generated() -> impl Strategy<Value = GeneratedWorkflow> {
    let skills = |names: &'static [&'static str], most| workflow(names, most);
    let inner = (skills(&["nowhere"], 3), skills(&["inner0", "nowhere"], 3));
    let root = skills(&["inner0", "inner1", "nowhere"], 7);
    (root, inner, 0_u32..4, 0_u8..8).prop_map(|(root, (first, second), max_heals, expect)| {
        GeneratedWorkflow {
            root,
            inner: vec![first, second],
            max_heals,
            expect,
        }
    })
}

fn workflow(skills: &'static [&'static str], most: usize) -> impl Strategy<Value = Workflow> {
    let steps = prop::collection::vec(draft(skills), 0..=most);
    (steps, any::<bool>()).prop_map(|(drafts, named)| {
        let steps: Vec<Step> = drafts
            .iter()
            .enumerate()
            .map(|(at, draft)| step(at, draft))
            .collect();
        let asked = drafts.iter().zip(&steps).filter(|(draft, _)| draft.asked);
        let outputs: Object = steps
            .iter()
            .filter(|_| named)
            .map(|step| {
                (
                    step.id.clone(),
                    json!(format!("{{{{ {} | default('none') }}}}", step.id)),
                )
            })
            .collect();
        Workflow {
            inputs: Vec::new(),
            outputs,
            confirmations: asked
                .map(|(_, step)| Confirmation {
                    step: step.id.clone(),
                    message: format!("Do {}?", step.id),
                    default: false,
                })
                .collect(),
            steps,
        }
    })
}

/// Random choices from which a step is built.
#[derive(Clone, Debug)]
struct Draft {
    action: u8,
    skill: &'static str,
    condition: u8,
    on_error: OnError,
    repeat: Option<(u8, Option<u32>)>,
    group: Option<u8>,
    depends: Option<Vec<usize>>,
    effects: Option<Effects>,
    heals: bool,
    max_heals: Option<u32>,
    asked: bool,
    expect: u8,
    reads: usize,
}

fn draft(skills: &'static [&'static str]) -> impl Strategy<Value = Draft> {
    let on_error = prop_oneof![
        3 => Just(OnError::Fail),
        2 => Just(OnError::Continue),
        2 => (1_u32..3).prop_map(OnError::Retry),
    ];
    let repeat = prop::option::weighted(0.3, (0_u8..5, prop::option::of(1_u32..4)));
    let depends = prop::option::weighted(0.35, prop::collection::vec(0_usize..8, 0..3));
    let effects = prop::option::of(prop::sample::select(
        Effects::WORDS
            .iter()
            .map(|(_, effects)| *effects)
            .collect::<Vec<_>>(),
    ));
    let what = (0_u8..9, prop::sample::select(skills), 0_u8..14, on_error);
    let when = (repeat, prop::option::weighted(0.4, 0_u8..2), depends);
    let how = (
        effects,
        prop::bool::weighted(0.3),
        prop::option::weighted(0.2, 0_u32..3),
        prop::bool::weighted(0.12),
        (0_u8..8, 0_usize..8),
    );
    (what, when, how).prop_map(
        |(
            (action, skill, condition, on_error),
            (repeat, group, depends),
            (effects, heals, max_heals, asked, (expect, reads)),
        )| Draft {
            action,
            skill,
            condition,
            on_error,
            repeat,
            group,
            depends,
            effects,
            heals,
            max_heals,
            asked,
            expect,
            reads,
        },
    )
}

/// Waits for instants before, during and after the run, and one that fails because its template gives no
/// instant. None ends after a duration: its value would depend on when it begins.
fn wait(choice: usize, other: &str) -> Wait {
    Wait::Until(match choice % 4 {
        0 => "2026-11-15T11:00:00Z".to_owned(),
        1 => "2026-11-15T12:00:00.05Z".to_owned(),
        2 => "2026-11-15T12:00:03Z".to_owned(),
        _ => format!("{{{{ {other} | default('never') }}}}"),
    })
}

fn step(at: usize, draft: &Draft) -> Step {
    let other = format!("s{}", draft.reads % (at + 1));
    let args = json!({ "x": format!("{{{{ {other} | default('none') }}}}"), "n": at });
    let action = match draft.action {
        0 => StepKind::Compute {
            code: format!("result = {other}"),
        },
        1 => StepKind::Agent {
            instructions: format!("Look at {{{{ {other} | default('none') }}}}."),
            tools: Vec::new(),
            max_steps: None,
        },
        2 | 3 => StepKind::Skill {
            skill: draft.skill.to_owned(),
            args: Value::Null,
        },
        4 => StepKind::Wait(wait(draft.reads, &other)),
        kind => StepKind::Tool {
            tool: format!("tool{kind}"),
            args,
        },
    };
    let mut step = Step::new(format!("s{at}"), action);
    step.condition = match draft.condition {
        0 => Some("False".to_owned()),
        1 => Some(other.clone()),
        2 => Some(format!("not {other}")),
        3 if draft.repeat.is_some() => Some("item != 1".to_owned()),
        4 => Some(format!("len({other}) > 2")),
        // Needs the worker.
        5 => Some("10 ** 60 > 1".to_owned()),
        6 if draft.repeat.is_some() => Some("item < 10 ** 60".to_owned()),
        _ => None,
    };
    step.expect = expect(draft.expect, "result");
    step.on_error = draft.on_error;
    step.repeat = draft.repeat.map(|(length, concurrency)| Loop {
        over: match length {
            4 => json!(format!("{{{{ {other} | default([]) }}}}")),
            length => (0..length).collect(),
        },
        var: "item".to_owned(),
        concurrency,
    });
    step.parallel_group = draft.group.map(|group| group.to_string());
    let earlier = |ids: &Vec<usize>| {
        ids.iter()
            .filter(|id| **id < at)
            .map(|id| format!("s{id}"))
            .collect()
    };
    step.depends_on = draft.depends.as_ref().map(earlier);
    if let StepKind::Wait(_) = step.kind {
        // The loader refuses keys that do nothing in a wait.
        return step;
    }
    step.effects = draft.effects;
    step.max_heals = draft.max_heals;
    if draft.heals {
        step.heal = vec![Heal {
            when: vec![FailureClass::Network, FailureClass::Auth],
            tool: "mend".to_owned(),
            args: json!({ "x": "{{ item | default('none') }}" }),
        }];
    }
    step
}
