//! Strategies for workflows and records.

use deft_model::{
    Body, Choice, Confirmation, Dialect, Effects, Input, InputType, Loop, Object, OnError,
    OpenSpec, Skill, SkillId, Step, StepKind, Text, Trigger, Wait, Workflow,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::{duration, expect, heals, object, prose, skill, value, word};

/// A workflow whose templates use only inputs.
pub(crate) fn workflow() -> impl Strategy<Value = Skill> {
    let all = (
        skill(Dialect::Workflow, word()),
        vec(input(), 0..3),
        vec(step(), 1..5),
        vec((prose(), value()), 0..3),
        vec((any::<prop::sample::Index>(), prose(), any::<bool>()), 0..2),
        object(),
    );
    all.prop_map(|(skill, inputs, steps, outputs, asked, metadata)| {
        let inputs = numbered(inputs, |input, at| input.name = format!("input{at}"));
        let mut steps = numbered(steps, |step, at| step.id = format!("do_{at}"));
        wire(&mut steps);
        let confirmations = asked
            .into_iter()
            .map(|(at, message, default)| Confirmation {
                step: steps[at.index(steps.len())].id.clone(),
                message,
                default,
            });
        let confirmations = confirmations.collect();
        Skill {
            body: Body::Steps(Box::new(Workflow {
                inputs,
                steps,
                outputs: outputs.into_iter().collect(),
                confirmations,
            })),
            open: OpenSpec {
                metadata: metadata.as_object().cloned().unwrap_or_default(),
                ..skill.open
            },
            ..skill
        }
    })
}

fn numbered<T>(mut items: Vec<T>, name: impl Fn(&mut T, usize)) -> Vec<T> {
    for (at, item) in items.iter_mut().enumerate() {
        name(item, at);
    }
    items
}

/// Makes steps depend only on earlier ones, and gives outputs unique names.
fn wire(steps: &mut [Step]) {
    for at in 0..steps.len() {
        let before = steps[at].depends_on.take().map(|wanted| {
            let earlier = steps[..at].iter().map(|step| step.id.clone());
            earlier.take(wanted.len()).collect()
        });
        steps[at].depends_on = before;
        if let Some(output) = &mut steps[at].output {
            *output = format!("out_{at}");
        }
    }
}

fn input() -> impl Strategy<Value = Input> {
    let kind = select(
        InputType::WORDS
            .iter()
            .map(|(_, kind)| *kind)
            .collect::<Vec<_>>(),
    );
    let all = (
        kind,
        any::<bool>(),
        any::<bool>(),
        option::of(prose()),
        option::of(1000..5000_u64),
        prose(),
    );
    all.prop_map(
        |(kind, required, with_default, description, max_length, text)| {
            let sample = match kind {
                InputType::String => json!(text),
                InputType::Date => json!("2026-03-01"),
                InputType::Integer => json!(-3),
                InputType::Number => json!(0.5),
                InputType::Boolean => json!(true),
                InputType::Array => json!([]),
                InputType::Object => json!({}),
                InputType::Any => json!({"a": [null, text]}),
            };
            Input {
                name: String::new(),
                kind,
                required,
                default: with_default.then(|| sample.clone()),
                description,
                pattern: (!matches!(kind, InputType::String | InputType::Date))
                    .then(|| r"^[a-z]+\d*$".to_owned()),
                choices: if required { vec![sample] } else { Vec::new() },
                max_length,
            }
        },
    )
}

fn kind() -> impl Strategy<Value = StepKind> {
    prop_oneof![
        (prose(), object()).prop_map(|(tool, args)| StepKind::Tool { tool, args }),
        // Not the workflow itself, whose id may be a single letter.
        (prose(), object()).prop_map(|(skill, args)| StepKind::Skill {
            skill: format!("other {skill}"),
            args
        }),
        // A JSON text is also a valid Python string.
        prose().prop_map(|text| StepKind::Compute {
            code: format!("result = {}", Value::from(text)),
        }),
        (prose(), vec(prose(), 0..3), option::of(any::<u32>())).prop_map(
            |(instructions, tools, max_steps)| StepKind::Agent {
                instructions,
                tools,
                max_steps,
            }
        ),
        (1..100_u32, any::<bool>()).prop_map(|(seconds, until)| {
            StepKind::Wait(if until {
                Wait::Until(format!("2026-03-01T10:00:{:02}Z", seconds % 60))
            } else {
                Wait::For(format!("{seconds}s"))
            })
        }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let on_error = prop_oneof![
        Just(OnError::Fail),
        Just(OnError::Continue),
        (1..=100_u32).prop_map(OnError::Retry),
    ];
    let condition = select(vec![
        "True",
        "False",
        "len(str(1)) > 0",
        "'é' in \"x\"\n  or not None",
    ]);
    let effects = select(
        Effects::WORDS
            .iter()
            .map(|(_, one)| *one)
            .collect::<Vec<_>>(),
    );
    let repeat = (value(), word(), option::of(1..9_u32));
    // A loop over a text must be a template.
    let repeat = repeat.prop_map(|(over, var, most)| {
        let over = Some(over).filter(Value::is_array);
        (over.unwrap_or_else(|| json!("{{ [1, 2] }}")), var, most)
    });
    let first = (
        kind(),
        option::of(prose()),
        option::of(word()),
        option::of(condition),
        on_error,
    );
    let second = (
        option::of(duration()),
        option::of(repeat),
        option::of(prose()),
        option::of(vec(word(), 0..3)),
        option::of(duration()),
    );
    let third = (
        option::of(effects),
        heals(),
        option::of(any::<u32>()),
        expect(),
    );
    let step = (first, second, third).prop_map(|(first, second, third)| Step {
        id: String::new(),
        kind: first.0,
        description: first.1,
        output: first.2,
        condition: first.3.map(str::to_owned),
        on_error: first.4,
        timeout: second.0,
        repeat: second.1.map(|(over, var, concurrency)| Loop {
            over,
            var,
            concurrency,
        }),
        parallel_group: second.2,
        depends_on: second.3,
        cache: second.4,
        effects: third.0,
        heal: third.1,
        max_heals: third.2,
        expect: third.3,
    });
    step.prop_map(|step| match step.kind {
        // The loader refuses keys that do nothing in a wait.
        StepKind::Wait(_) => Step {
            timeout: None,
            cache: None,
            effects: None,
            heal: Vec::new(),
            max_heals: None,
            ..step
        },
        StepKind::Tool { .. }
        | StepKind::Compute { .. }
        | StepKind::Agent { .. }
        | StepKind::Skill { .. } => step,
    })
}

/// A record: a call, instructions, or a plan with data flow.
pub(crate) fn record() -> impl Strategy<Value = Skill> {
    let name = "[A-Z][a-z]{1,8}( [a-z0-9]{1,8}){0,2}[!?]?";
    let all = (skill(Dialect::Record, name), plan(), any::<i32>(), prose());
    all.prop_map(|(skill, (calls, flow), priority, text)| {
        let mut required_tools = skill.required_tools;
        for (tool, _) in &calls {
            if !required_tools.contains(tool) {
                required_tools.push(tool.clone());
            }
        }
        Skill {
            id: SkillId::new(deft_skillfile::slug(&skill.name)),
            priority: priority.into(),
            trigger: match &skill.timing {
                Some(timing) if timing.is_by_event() => Trigger::Event,
                Some(_) => Trigger::Cron,
                None if priority < 0 => Trigger::Event,
                None => Trigger::Manual,
            },
            body: body(calls, flow, &text),
            required_tools,
            open: OpenSpec::default(),
            ..skill
        }
    })
}

/// The calls of a plan, and whether later ones use the first.
fn plan() -> impl Strategy<Value = (Vec<(String, Value)>, bool)> {
    let call = || (prose(), object());
    prop_oneof![
        Just((Vec::new(), false)),
        call().prop_map(|call| (vec![call], false)),
        vec(call(), 2..4).prop_map(|calls| (calls, true)),
    ]
}

fn body(mut calls: Vec<(String, Value)>, flow: bool, text: &str) -> Body {
    if flow {
        let step = |(at, (tool, mut args)): (usize, (String, Value))| {
            if at > 0 {
                args["text"] = json!("{{ step0.result }}");
            }
            Step::new(format!("step{at}"), StepKind::Tool { tool, args })
        };
        return Body::Steps(Box::new(Workflow {
            steps: calls.into_iter().enumerate().map(step).collect(),
            outputs: Object::new(),
            ..Workflow::default()
        }));
    }
    match calls.pop() {
        Some((tool, args)) => Body::Call {
            step: "only".to_owned(),
            kind: StepKind::Tool { tool, args },
            on_error: OnError::Fail,
            timeout: None,
            instructions: Text::from(text),
        },
        None => Body::Instructions(Text::from(text)),
    }
}
