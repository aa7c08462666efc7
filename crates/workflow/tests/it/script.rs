//! Case files. The part above the last line of `---` is a skill in deft's own format, the part below
//! describes the world around the run.
//!
//! | key | meaning |
//! | --- | --- |
//! | `file` | the name of the file; `case.yaml` by default |
//! | `inputs` | the inputs as given |
//! | `results` | per path, one outcome or one for each call: `{ok: …}` or `{error: …}` |
//! | `answers` | per step, one answer or one for each question |
//! | `skills` | other skills by id, as YAML text |
//! | `effects` | per tool, the effects that it declares |
//! | `authority` | the rights of the agent that starts the run |
//! | `stored_by` | per skill of `skills`, the rights of the agent that stored it |
//! | `rules` | `max_depth`, `max_items`, `max_results`, `heal` of the host |
//! | `order` | paths of calls that end before other calls in flight; or `last` |
//! | `crash_after` | numbers of events after which the process dies and another one continues |
//! | `stop` | `{after, class, late}`: when the run is stopped, and which calls succeed all the same |
//! | `resume` | how often a person resumes the run |
//! | `hangs` | calls that never end unless they are cut off |
//! | `reuse` | steps of an earlier run: `{step: {value, error}}`; null for a skipped step |

use std::collections::HashMap;
use std::sync::Arc;

use deft_model::{Authority, Choice, Effects, Failure, FailureClass, Object, Skill};
use deft_skillfile::{Document, FileLocation, Moment, Profile, parse};
use deft_workflow::{Answer, Plan, Remedy, Rules};
use jiff::tz::TimeZone;
use serde_json::Value;

/// The result of a call in a case.
pub(crate) type CallResult = Result<Value, Failure>;

/// A request to stop the run.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    pub after: usize,
    pub class: FailureClass,
    /// Calls that succeed although the run is being stopped.
    pub late: Vec<String>,
}

/// A parsed case file.
pub(crate) struct Script {
    pub plan: Arc<Plan>,
    pub inputs: Object,
    pub results: HashMap<String, Vec<CallResult>>,
    pub answers: HashMap<String, Vec<Answer>>,
    pub skills: HashMap<String, Arc<Plan>>,
    pub effects: HashMap<String, Effects>,
    pub authority: Option<Arc<Authority>>,
    pub rules: Rules,
    pub order: Vec<String>,
    pub last_first: bool,
    pub crash_after: Vec<usize>,
    pub stop: Option<Stop>,
    pub resumes: usize,
    pub reuse: Object,
    pub hangs: Vec<String>,
}

impl Script {
    pub(crate) fn parse(text: &str) -> Self {
        let (skill, script) = text
            .rsplit_once("\n---\n")
            .expect("a line of --- between the skill and the script");
        let script = script_object(script);
        let file = script.get("file").map_or("case.yaml", as_str);
        let plan = plan_of(skill, file);
        let mut known = vec![
            "file",
            "inputs",
            "results",
            "answers",
            "skills",
            "effects",
            "authority",
            "stored_by",
            "rules",
            "order",
            "crash_after",
            "stop",
            "resume",
            "reuse",
            "hangs",
        ];
        known.retain(|key| script.contains_key(*key));
        assert_eq!(known.len(), script.len(), "unknown keys in {script:?}");
        let nested = object(script.get("skills"));
        let stored_by = object(script.get("stored_by"));
        Self {
            inputs: object(script.get("inputs")),
            results: lists(script.get("results"), made),
            answers: lists(script.get("answers"), answer),
            skills: nested
                .iter()
                .map(|(id, text)| {
                    let by = stored_by.get(id).map(authority);
                    let plan = plan_by(as_str(text), &format!("{id}.yaml"), by);
                    (id.clone(), plan)
                })
                .collect(),
            effects: object(script.get("effects"))
                .iter()
                .map(|(tool, word)| (tool.clone(), Effects::from_word(as_str(word)).unwrap()))
                .collect(),
            authority: script.get("authority").map(authority),
            rules: rules(&object(script.get("rules"))),
            order: list(script.get("order"), |v| as_str(v).to_owned()),
            last_first: script.get("order").is_some_and(Value::is_string),
            crash_after: list(script.get("crash_after"), as_usize),
            stop: script.get("stop").map(stop),
            resumes: script.get("resume").map_or(0, as_usize),
            reuse: object(script.get("reuse")),
            hangs: list(script.get("hangs"), |v| as_str(v).to_owned()),
            plan,
        }
    }
}

fn stop(value: &Value) -> Stop {
    Stop {
        after: as_usize(&value["after"]),
        class: value.get("class").map_or(FailureClass::Cancelled, class),
        late: list(value.get("late"), |v| as_str(v).to_owned()),
    }
}

fn rules(given: &Object) -> Rules {
    let mut rules = Rules::default();
    if let Some(most) = given.get("max_depth") {
        rules.max_depth = u32::try_from(as_usize(most)).unwrap();
    }
    if let Some(most) = given.get("max_items") {
        rules.max_items = as_usize(most);
    }
    if let Some(most) = given.get("max_results") {
        rules.max_results = as_usize(most);
    }
    rules.heals = list(given.get("heal"), |heal| {
        let heal = deft_model::Heal {
            when: vec![class(&heal["when"])],
            tool: as_str(&heal["tool"]).to_owned(),
            args: heal.get("args").cloned().unwrap_or_default(),
        };
        Remedy::compile(&heal).unwrap()
    });
    rules
}

fn made(value: &Value) -> CallResult {
    if let Some(ok) = value.get("ok") {
        return Ok(ok.clone());
    }
    let Some(error) = value.get("error") else {
        return Ok(value.clone());
    };
    let message = error.get("message").unwrap_or(error);
    let class = error.get("class").map_or(FailureClass::Other, class);
    let mut failure = Failure::new(class, message.as_str().unwrap_or("it failed"));
    failure.in_doubt = error.get("in_doubt") == Some(&Value::Bool(true));
    failure.blocked = error.get("blocked") == Some(&Value::Bool(true));
    Err(failure)
}

fn answer(value: &Value) -> Answer {
    match value {
        Value::Bool(true) => Answer::Yes,
        Value::Bool(false) => Answer::No,
        other => serde_json::from_value(other.clone()).unwrap(),
    }
}

fn class(value: &Value) -> FailureClass {
    FailureClass::from_word(as_str(value)).unwrap()
}

fn as_str(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}

fn as_usize(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn object(value: Option<&Value>) -> Object {
    value
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

fn list<T>(value: Option<&Value>, read: impl Fn(&Value) -> T) -> Vec<T> {
    match value {
        Some(Value::Array(items)) => items.iter().map(read).collect(),
        Some(Value::String(_)) | None => Vec::new(),
        Some(one) => vec![read(one)],
    }
}

fn lists<T>(value: Option<&Value>, read: impl Fn(&Value) -> T + Copy) -> HashMap<String, Vec<T>> {
    let entries = object(value).into_iter();
    entries
        .map(|(key, value)| match &value {
            Value::Array(items) => (key, items.iter().map(read).collect()),
            one => (key, vec![read(one)]),
        })
        .collect()
}

/// Parses YAML with the only reader available: as the metadata of a skill.
fn script_object(text: &str) -> Object {
    if text.trim().is_empty() {
        return Object::new();
    }
    let mut file =
        String::from("name: script\ndescription: x\nsteps: [{id: none, tool: log}]\nmetadata:\n");
    for line in text.lines() {
        file += &format!("  {line}\n");
    }
    skill(&file, "script.yaml").open.metadata
}

pub(crate) fn skill(text: &str, file: &str) -> Skill {
    let moment = Moment {
        now: "2026-11-15T12:00:00Z".parse().unwrap(),
        zone: TimeZone::UTC,
    };
    let location = FileLocation {
        file,
        folder: "case",
        domain: None,
    };
    let parsed = parse(text.as_bytes(), &location, Profile::Deft, &moment);
    match parsed.document {
        Some(Document::Skill(skill)) => *skill,
        _ => panic!("{file}: {:#?}", parsed.diagnostics),
    }
}

fn authority(value: &Value) -> Arc<Authority> {
    Arc::new(serde_json::from_value(value.clone()).unwrap())
}

pub(crate) fn plan_of(text: &str, file: &str) -> Arc<Plan> {
    plan_by(text, file, None)
}

/// Compiles a skill that an agent stored; the revision is `rev-` and its id.
fn plan_by(text: &str, file: &str, by: Option<Arc<Authority>>) -> Arc<Plan> {
    let mut skill = skill(text, file);
    let mut policy = (*skill.policy).clone();
    policy.authority = by;
    skill.policy = Arc::new(policy);
    let revision = format!("rev-{}", skill.id);
    Arc::new(Plan::compile(&skill, &revision).unwrap())
}
