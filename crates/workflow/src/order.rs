//! The order of steps: which step waits for which (X19).
//!
//! A plain step waits for all earlier ones, members of a group for all before the group, and a step with
//! `depends_on` for exactly those. A step sees the results of the steps it waits for, directly or indirectly,
//! and no others, so its arguments never depend on which of two parallel steps was quicker.

use std::collections::HashMap;

use deft_model::Step;

/// The steps that a step waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Prerequisites {
    /// This many leading steps.
    Leading(usize),
    /// Exactly these steps.
    For(Vec<usize>),
}

/// The steps whose results a step can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VisibleSteps {
    Leading(usize),
    /// One flag for each step.
    Set(Box<[bool]>),
}

impl VisibleSteps {
    pub(crate) fn contains(&self, step: usize) -> bool {
        match self {
            Self::Leading(count) => step < *count,
            Self::Set(flags) => flags.get(step).copied().unwrap_or(false),
        }
    }
}

pub(crate) fn waits(steps: &[Step]) -> Vec<Prerequisites> {
    let by_id: HashMap<&str, usize> = steps
        .iter()
        .enumerate()
        .map(|(at, step)| (step.id.as_str(), at))
        .collect();
    let mut group_start = 0;
    let mut waits = Vec::with_capacity(steps.len());
    for (at, step) in steps.iter().enumerate() {
        if !joins(steps, at) {
            group_start = at;
        }
        waits.push(match &step.depends_on {
            Some(ids) => Prerequisites::For(
                ids.iter()
                    .filter_map(|id| by_id.get(id.as_str()).copied())
                    .collect(),
            ),
            None => Prerequisites::Leading(group_start),
        });
    }
    waits
}

/// Whether a step continues the group of the step before it.
fn joins(steps: &[Step], at: usize) -> bool {
    let group = steps[at].parallel_group.as_ref();
    group.is_some() && at > 0 && steps[at - 1].parallel_group.as_ref() == group
}

/// Groups the steps into waves, each of which waits only for earlier waves. The loader refuses cycles; steps
/// in a cycle are in no wave.
pub(crate) fn waves(waits: &[Prerequisites]) -> Vec<Vec<usize>> {
    let mut over = vec![false; waits.len()];
    let mut open: Vec<usize> = (0..waits.len()).collect();
    let mut leading = 0;
    let mut waves = Vec::new();
    loop {
        let is_ready = |step: &usize| match &waits[*step] {
            Prerequisites::Leading(count) => *count <= leading,
            Prerequisites::For(others) => others.iter().all(|other| over[*other]),
        };
        let (ready, rest): (Vec<usize>, Vec<usize>) = open.into_iter().partition(is_ready);
        if ready.is_empty() {
            return waves;
        }
        ready.iter().for_each(|step| over[*step] = true);
        while over.get(leading) == Some(&true) {
            leading += 1;
        }
        waves.push(ready);
        open = rest;
    }
}

/// Returns the steps that each step can see: those it waits for, directly or indirectly.
pub(crate) fn visible(waits: &[Prerequisites]) -> Vec<VisibleSteps> {
    let mut seen = vec![VisibleSteps::Leading(0); waits.len()];
    // For each step: whether it and all steps above it see only steps above themselves.
    let mut reach = Vec::new();
    for step in waves(waits).into_iter().flatten() {
        seen[step] = match &waits[step] {
            Prerequisites::Leading(count) => leading_steps(*count, waits, &seen, &mut reach),
            Prerequisites::For(others) => union(others.iter().copied(), &seen),
        };
    }
    seen
}

/// Returns the first `count` steps and the steps that those see, since a step may wait for one below it.
fn leading_steps(
    count: usize,
    waits: &[Prerequisites],
    seen: &[VisibleSteps],
    plain: &mut Vec<bool>,
) -> VisibleSteps {
    while plain.len() < count {
        let step = plain.len();
        let before = step == 0 || plain[step - 1];
        let reaches_down = matches!(&waits[step], Prerequisites::For(_))
            && (step..seen.len()).any(|other| seen[step].contains(other));
        plain.push(before && !reaches_down);
    }
    if count == 0 || plain[count - 1] {
        VisibleSteps::Leading(count)
    } else {
        union(0..count, seen)
    }
}

fn union(others: impl Iterator<Item = usize>, seen: &[VisibleSteps]) -> VisibleSteps {
    let mut flags = vec![false; seen.len()];
    for other in others {
        flags[other] = true;
        match &seen[other] {
            VisibleSteps::Leading(count) => flags[..*count].fill(true),
            VisibleSteps::Set(more) => {
                for (flag, more) in flags.iter_mut().zip(more) {
                    *flag |= more;
                }
            }
        }
    }
    VisibleSteps::Set(flags.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use deft_model::{Step, StepKind};

    use super::{Prerequisites, VisibleSteps, visible, waits};

    fn step(id: &str, group: Option<&str>, depends: Option<&[&str]>) -> Step {
        let mut step = Step::new(
            id,
            StepKind::Compute {
                code: String::new(),
            },
        );
        step.parallel_group = group.map(str::to_owned);
        step.depends_on = depends.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect());
        step
    }

    #[test]
    fn x19_order() {
        let steps = [
            step("a", None, None),
            step("b", Some("g"), None),
            step("c", Some("g"), None),
            step("d", None, Some(&["b"])),
            step("e", None, None),
            step("f", None, Some(&[])),
        ];
        let waits = waits(&steps);
        let expected = [
            Prerequisites::Leading(0),
            Prerequisites::Leading(1),
            Prerequisites::Leading(1),
            Prerequisites::For(vec![1]),
            Prerequisites::Leading(4),
            Prerequisites::For(vec![]),
        ];
        assert_eq!(waits, expected);
        let visible = visible(&waits);
        assert_eq!(visible[1], VisibleSteps::Leading(1));
        let seen: Vec<usize> = (0..6).filter(|at| visible[3].contains(*at)).collect();
        assert_eq!(seen, [0, 1]);
        assert!(!visible[5].contains(0));
    }

    #[test]
    fn a_step_may_depend_on_a_later_one() {
        let steps = [
            step("a", None, Some(&["c"])),
            step("b", None, Some(&["a"])),
            step("c", None, Some(&[])),
        ];
        let visible = visible(&waits(&steps));
        let seen: Vec<usize> = (0..3).filter(|at| visible[1].contains(*at)).collect();
        assert_eq!(seen, [0, 2]);
    }
}
