//! The world around a run: results of calls, answers, and which call ends next.

use std::collections::HashMap;
use std::sync::Arc;

use deft_model::{Authority, Effects, Failure, FailureClass, Object};
use deft_workflow::{Answer, Ask, Facts, Path, Permit, Plan};
use serde_json::Value;

use crate::script::CallResult;

/// Everything outside the machine.
#[derive(Default)]
pub(crate) struct World {
    pub results: HashMap<String, Vec<CallResult>>,
    pub answers: HashMap<String, Vec<Answer>>,
    pub skills: HashMap<String, Arc<Plan>>,
    pub effects: HashMap<String, Effects>,
    /// The rights of the agent that starts the run.
    pub authority: Option<Arc<Authority>>,
    /// Which call in flight ends next.
    pub pick: Pick,
    /// Calls that end only if they are cut off.
    pub hangs: Vec<String>,
    pub used: HashMap<String, usize>,
    /// Generates results and answers that are not given, from the names and this number alone.
    pub seed: Option<u64>,
}

#[derive(Default)]
pub(crate) enum Pick {
    #[default]
    First,
    Last,
    Named(Vec<String>),
    /// Random, with this seed.
    Random(u64),
}

impl Facts for World {
    fn effects(&self, tool: &str, _: &Object) -> Option<Effects> {
        self.effects.get(tool).copied()
    }

    fn permit(&self, authority: &Authority, tool: &str, _: Option<&Object>) -> Permit {
        if !authority.allows(&[tool]) {
            let message = format!("`{tool}` is not for agent `{}`", authority.agent);
            return Permit::Denied(Failure::new(FailureClass::Invalid, message));
        }
        let asks = authority.approve.iter().any(|name| name == tool);
        if asks && !authority.has_agreed(&[tool]) {
            return Permit::Ask(format!("Call `{tool}`?"));
        }
        Permit::Free
    }
}

impl World {
    fn count(&mut self, key: &str) -> usize {
        let used = self.used.entry(key.to_owned()).or_default();
        *used += 1;
        *used - 1
    }

    /// Returns the result for a key such as `update[2]`, or else for `update`.
    pub(crate) fn result(&mut self, key: &str) -> Option<CallResult> {
        let nth = self.count(key);
        let bare = key.split('[').next().unwrap_or(key);
        match self.results.get(key).or_else(|| self.results.get(bare)) {
            Some(made) => made.get(nth).or(made.last()).cloned(),
            None => self.seed.map(|seed| invent(mix(seed, key, nth), key)),
        }
    }

    pub(crate) fn answer(&mut self, step: &str) -> Option<Answer> {
        let key = format!("ask {step}");
        let nth = self.count(&key);
        match (self.answers.get(step), self.seed) {
            (Some(answers), _) => answers.get(nth).copied(),
            (None, Some(seed)) => Some(match mix(seed, &key, nth) % 8 {
                0 => Answer::No,
                1 => Answer::Skip,
                _ => Answer::Yes,
            }),
            (None, None) => None,
        }
    }

    pub(crate) fn has_answer(&self, step: &str) -> bool {
        self.seed.is_some() || self.answers.contains_key(step)
    }

    pub(crate) fn pick(&mut self, pending: &[Ask]) -> Option<usize> {
        let busy: Vec<usize> = (0..pending.len())
            .filter(|at| matches!(pending[*at], Ask::Call { .. } | Ask::Heal { .. }))
            .filter(|at| !self.hangs.contains(&path(&pending[*at]).to_string()))
            .collect();
        match &mut self.pick {
            Pick::First => busy.first().copied(),
            Pick::Last => busy.last().copied(),
            Pick::Named(order) => {
                let named = order.iter().find_map(|name| {
                    let at = |at: &&usize| path(&pending[**at]).as_str() == name;
                    busy.iter().find(at).copied()
                });
                named.or_else(|| busy.first().copied())
            }
            Pick::Random(seed) => {
                *seed = seed
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695);
                let at = usize::try_from(*seed >> 40).unwrap() % busy.len().max(1);
                busy.get(at).copied()
            }
        }
    }
}

/// Returns the path of the step that an ask belongs to.
pub(crate) fn path(ask: &Ask) -> &Path {
    match ask {
        Ask::Call { path, .. }
        | Ask::Heal { path, .. }
        | Ask::Sleep { path, .. }
        | Ask::Question { path, .. } => path,
    }
}

/// Returns a hash of the arguments.
fn mix(seed: u64, key: &str, nth: usize) -> u64 {
    let bytes = key
        .bytes()
        .chain(nth.to_le_bytes())
        .chain(seed.to_le_bytes());
    let hash = deft_model::scatter(bytes);
    hash ^ (hash >> 29)
}

fn invent(number: u64, key: &str) -> CallResult {
    let class = match number % 16 {
        0 => FailureClass::Network,
        1 => FailureClass::Timeout,
        2 => FailureClass::Auth,
        3 => FailureClass::Invalid,
        4 => FailureClass::Interrupted,
        5 => FailureClass::Other,
        6 => return Ok(serde_json::json!([1, number % 100])),
        7 => return Ok(Value::Null),
        _ if key.ends_with(['?', '!']) => return Ok(Value::Bool(!number.is_multiple_of(3))),
        _ => return Ok(Value::from(format!("{key} {}", number % 100))),
    };
    let mut failure = Failure::new(class, format!("{key} failed"));
    failure.in_doubt = matches!(class, FailureClass::Timeout | FailureClass::Interrupted);
    failure.blocked = class == FailureClass::Other && number.is_multiple_of(3);
    Err(failure)
}
