//! The dependency graph of steps: which steps a step waits for (X19).

use std::cell::RefCell;
use std::collections::HashMap;

use super::steps::{Draft, check_known};
use crate::diagnostic::Sink;
use crate::rules::Rule;

/// The direct dependencies of a step.
enum Waits {
    /// All steps before this index. Most steps are like this; for a file of thousands of steps, separate
    /// lists would have millions of entries.
    Above(usize),
    /// Exactly these steps.
    Named(Vec<usize>),
}

impl Waits {
    /// Returns the dependency with index `at`.
    fn get(&self, at: usize) -> Option<usize> {
        match self {
            Self::Above(end) => (at < *end).then_some(at),
            Self::Named(steps) => steps.get(at).copied(),
        }
    }
}

/// The dependency graph of a workflow.
pub(crate) struct Graph {
    waits: Vec<Waits>,
    has_circle: bool,
    /// The last queried step with all steps that end before it, because the names in one step are checked
    /// together.
    last: RefCell<Option<(usize, Vec<bool>)>>,
}

impl Graph {
    /// Builds the graph; reports unknown ids and cycles.
    pub(crate) fn build(drafts: &[Draft<'_>], sink: &mut Sink) -> Self {
        let ids = drafts.iter().enumerate().rev();
        let ids: HashMap<&str, usize> = ids
            .map(|(at, draft)| (draft.step.id.as_str(), at))
            .collect();
        let waits = (0..drafts.len()).map(|at| waits_of(drafts, &ids, at, sink));
        let mut graph = Self {
            waits: waits.collect(),
            has_circle: false,
            last: RefCell::new(None),
        };
        let circles = graph.circles();
        graph.has_circle = !circles.is_empty();
        for circle in circles {
            report_circle(drafts, &circle, sink);
        }
        graph
    }

    /// Returns whether `other` has certainly ended when `step` starts. Always true in a graph with a cycle,
    /// where only the cycle is reported.
    pub(crate) fn is_before(&self, other: usize, step: usize) -> bool {
        if self.has_circle || matches!(self.waits[step], Waits::Above(end) if other < end) {
            return true;
        }
        let mut last = self.last.borrow_mut();
        if last.as_ref().is_none_or(|(at, _)| *at != step) {
            *last = Some((step, self.reach(step)));
        }
        last.as_ref().is_some_and(|(_, before)| before[other])
    }

    fn reach(&self, from: usize) -> Vec<bool> {
        let mut seen = vec![false; self.waits.len()];
        let mut open = vec![from];
        // All steps below this index have been visited.
        let mut floor = 0;
        while let Some(at) = open.pop() {
            let new: Vec<usize> = match &self.waits[at] {
                Waits::Above(end) => (floor..*end).collect(),
                Waits::Named(steps) => steps.clone(),
            };
            if let Waits::Above(end) = self.waits[at] {
                floor = floor.max(end);
            }
            let unseen = new
                .into_iter()
                .filter(|at| !std::mem::replace(&mut seen[*at], true));
            open.extend(unseen);
        }
        seen
    }

    /// Returns the cycles, each with its start repeated at the end.
    fn circles(&self) -> Vec<Vec<usize>> {
        let mut search = Search {
            done: vec![false; self.waits.len()],
            on_path: vec![false; self.waits.len()],
            reported: vec![false; self.waits.len()],
            circles: Vec::new(),
            floor: 0,
        };
        for at in 0..self.waits.len() {
            search.visit_from(&self.waits, at);
        }
        search.circles
    }
}

/// An iterative depth-first search for cycles. Not recursive, because a file may have thousands of steps.
struct Search {
    done: Vec<bool>,
    on_path: Vec<bool>,
    /// Steps of cycles that were found. One wrong `depends_on` closes many cycles over the same steps, so
    /// each step is reported only once.
    reported: Vec<bool>,
    circles: Vec<Vec<usize>>,
    /// All steps below this index are done.
    floor: usize,
}

impl Search {
    fn visit_from(&mut self, waits: &[Waits], root: usize) {
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            if matches!(waits[at], Waits::Above(_)) {
                *next = (*next).max(self.floor);
            }
            let wait = waits[at].get(*next).filter(|_| !self.done[at]);
            let Some(wait) = wait else {
                self.finish(at);
                path.pop();
                continue;
            };
            *next += 1;
            self.on_path[at] = true;
            if self.on_path[wait] {
                self.close(&path, wait);
            } else if !self.done[wait] {
                path.push((wait, 0));
            }
        }
    }

    /// Records the cycle from `start` to the end of the path and back.
    fn close(&mut self, path: &[(usize, usize)], start: usize) {
        if self.reported[start] {
            return;
        }
        let steps = path.iter().map(|(step, _)| *step);
        let mut circle: Vec<usize> = steps.skip_while(|step| *step != start).collect();
        if circle.iter().any(|step| self.reported[*step]) {
            return;
        }
        circle.iter().for_each(|step| self.reported[*step] = true);
        circle.push(start);
        self.circles.push(circle);
    }

    fn finish(&mut self, at: usize) {
        self.done[at] = true;
        self.on_path[at] = false;
        while self.done.get(self.floor) == Some(&true) {
            self.floor += 1;
        }
    }
}

fn report_circle(drafts: &[Draft<'_>], circle: &[usize], sink: &mut Sink) {
    let names: Vec<&str> = circle
        .iter()
        .map(|at| drafts[*at].step.id.as_str())
        .collect();
    let at = circle
        .iter()
        .find(|at| drafts[**at].step.depends_on.is_some());
    let draft = &drafts[*at.unwrap_or(&circle[0])];
    let message = match names.as_slice() {
        [one, _] => format!("the step `{one}` waits for itself"),
        _ => format!("steps wait for each other: {}", names.join(" → ")),
    };
    sink.report(Rule::DependencyCycle, draft.key_span("depends_on"), message)
        .help("a step without `depends_on` waits for all steps above it");
}

/// Returns the dependencies of a step: those in `depends_on`, or all earlier steps except those of its own
/// parallel group.
fn waits_of(drafts: &[Draft<'_>], ids: &HashMap<&str, usize>, at: usize, sink: &mut Sink) -> Waits {
    let draft = &drafts[at];
    let Some(named) = &draft.step.depends_on else {
        return Waits::Above(group_start(drafts, at));
    };
    let find = |id: &String| {
        let found = ids.get(id.as_str()).copied();
        if found.is_none() {
            check_known(id, draft.item_span("depends_on", id), drafts, sink);
        }
        found
    };
    Waits::Named(named.iter().filter_map(find).collect())
}

fn group_start(drafts: &[Draft<'_>], at: usize) -> usize {
    let Some(group) = &drafts[at].step.parallel_group else {
        return at;
    };
    let same = |draft: &&Draft<'_>| draft.step.parallel_group.as_ref() == Some(group);
    at - drafts[..at].iter().rev().take_while(same).count()
}
