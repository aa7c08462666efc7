//! Which steps a step waits for (X19).

use super::steps::{Draft, check_known};
use crate::diagnostic::Sink;
use crate::rules::Rule;

/// For each step, the steps that have ended before it starts.
pub(crate) struct Graph {
    /// Direct waits, by index.
    waits: Vec<Vec<usize>>,
    /// Everything that has ended before a step starts, by index.
    before: Vec<Vec<bool>>,
}

impl Graph {
    /// Builds the graph; unknown ids and circles are reported.
    pub(crate) fn build(drafts: &[Draft<'_>], sink: &mut Sink) -> Self {
        let waits: Vec<Vec<usize>> = (0..drafts.len())
            .map(|at| waits_of(drafts, at, sink))
            .collect();
        let mut graph = Self {
            before: vec![Vec::new(); waits.len()],
            waits,
        };
        if let Some(circle) = graph.circle() {
            let names: Vec<&str> = circle
                .iter()
                .map(|at| drafts[*at].step.id.as_str())
                .collect();
            let at = circle
                .iter()
                .find(|at| drafts[**at].step.depends_on.is_some());
            let draft = &drafts[*at.unwrap_or(&circle[0])];
            let message = format!("steps wait for each other: {}", names.join(" → "));
            sink.report(Rule::DependencyCycle, draft.key_span("depends_on"), message)
                .help("a step without `depends_on` waits for all steps above it");
        } else {
            graph.before = (0..drafts.len()).map(|at| graph.reach(at)).collect();
        }
        graph
    }

    /// Whether `other` has ended for certain when `step` starts. Where steps
    /// form a circle nothing is certain, and the circle is reported instead.
    pub(crate) fn is_before(&self, other: usize, step: usize) -> bool {
        self.before[step].get(other).copied().unwrap_or(true)
    }

    fn reach(&self, from: usize) -> Vec<bool> {
        let mut seen = vec![false; self.waits.len()];
        let mut open = self.waits[from].clone();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&self.waits[at]);
            }
        }
        seen
    }

    /// The first circle, its start repeated at the end.
    fn circle(&self) -> Option<Vec<usize>> {
        let mut done = vec![false; self.waits.len()];
        (0..self.waits.len()).find_map(|at| self.circle_from(at, &mut done))
    }

    /// Depth first without recursion, as a file may have thousands of steps.
    fn circle_from(&self, root: usize, done: &mut [bool]) -> Option<Vec<usize>> {
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        let mut on_path = vec![false; self.waits.len()];
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            if done[at] {
                path.pop();
                continue;
            }
            on_path[at] = true;
            let Some(&wait) = self.waits[at].get(*next) else {
                done[at] = true;
                on_path[at] = false;
                path.pop();
                continue;
            };
            *next += 1;
            if on_path[wait] {
                let start = path.iter().position(|(step, _)| *step == wait)?;
                let circle = path[start..].iter().map(|(step, _)| *step);
                return Some(circle.chain([wait]).collect());
            }
            path.push((wait, 0));
        }
        None
    }
}

/// What a step waits for: what it says, or everything above it except the
/// neighbours of its own group.
fn waits_of(drafts: &[Draft<'_>], at: usize, sink: &mut Sink) -> Vec<usize> {
    let draft = &drafts[at];
    let Some(named) = &draft.step.depends_on else {
        return (0..group_start(drafts, at)).collect();
    };
    let find = |id: &String| {
        let found = drafts.iter().position(|other| other.step.id == *id);
        if found.is_none() {
            check_known(id, draft.key_span("depends_on"), drafts, sink);
        }
        found
    };
    named.iter().filter_map(find).collect()
}

fn group_start(drafts: &[Draft<'_>], at: usize) -> usize {
    let Some(group) = &drafts[at].step.parallel_group else {
        return at;
    };
    let same = |draft: &&Draft<'_>| draft.step.parallel_group.as_ref() == Some(group);
    at - drafts[..at].iter().rev().take_while(same).count()
}
