//! Visits the nodes in execution order and converts each into a step. A branch becomes a condition of the
//! steps after it.

use std::collections::{BTreeSet, HashMap};

use deft_model::Step;

use super::document::{Document, Edge, Node};
use super::expression::{Data, Scope};
use super::nodes::{NodeStep, step};
use super::triggers::{Trigger, trigger};
use super::{NodeProblem, branch};

/// Names that are not allowed for steps: Python keywords, and names that every template has.
const RESERVED: &[&str] = &[
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "try",
    "while",
    "with",
    "yield",
    "inputs",
    "steps",
    "outputs",
    "secrets",
    "execution_id",
    "workspace_uri",
    "loop",
    "item",
    "result",
];

/// The steps of a workflow, and its schedule.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub steps: Vec<Step>,
    pub schedule: Option<String>,
    pub notes: Vec<String>,
    pub problems: Vec<NodeProblem>,
}

/// The result of visiting a node.
struct NodeState {
    data: Data,
    /// The condition under which it runs; `None` if it always runs.
    condition: Option<String>,
    /// The condition of each output of a branch.
    outputs: Vec<String>,
}

struct NodeScope<'a> {
    input: Data,
    earlier: HashMap<&'a str, Data>,
}

impl Scope for NodeScope<'_> {
    fn input(&self) -> &Data {
        &self.input
    }

    fn node(&self, name: &str) -> Option<&Data> {
        self.earlier.get(name)
    }
}

pub(super) fn walk(document: &Document<'_>) -> Flow {
    let mut walk = Walk {
        document,
        visited: HashMap::new(),
        ids: BTreeSet::new(),
        flow: Flow::default(),
    };
    let reachable = reachable(document);
    for at in order(document, &reachable) {
        walk.visit(at);
    }
    for (at, node) in document.nodes.iter().enumerate() {
        match (walk.visited.contains_key(&at), reachable.contains(&at)) {
            (true, _) => {}
            (false, true) => walk.problem(node, "it is part of a loop"),
            (false, false) if node.kind == "stickyNote" => {}
            (false, false) => {
                let note = format!("left out: `{}`, which no trigger leads to", node.name);
                walk.flow.notes.push(note);
            }
        }
    }
    walk.flow
}

struct Walk<'a> {
    document: &'a Document<'a>,
    visited: HashMap<usize, NodeState>,
    ids: BTreeSet<String>,
    flow: Flow,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, at: usize) {
        let document = self.document;
        let node = &document.nodes[at];
        let condition = self.condition(at);
        let scope = self.scope(at);
        let input = scope.input.clone();
        let visited = |data: Data, outputs: Vec<String>| NodeState {
            data,
            condition: condition.clone(),
            outputs,
        };
        let visited = if let Some(trigger) = trigger(node) {
            self.add_trigger(node, trigger);
            visited(Data::None, Vec::new())
        } else if node.is_disabled() || node.kind == "noOp" {
            visited(input, Vec::new())
        } else if let Some(outputs) = branch::outputs(node, &scope) {
            let outputs = outputs.unwrap_or_else(|reason| {
                self.problem(node, reason);
                Vec::new()
            });
            visited(input, outputs)
        } else {
            let id = self.id(node.name);
            match step(node, &id, &scope) {
                Ok(made) => visited(self.add_step(made, condition.clone()), Vec::new()),
                Err(reason) => {
                    self.problem(node, reason);
                    // Treat it as a step, so that the nodes after it are checked too.
                    visited(
                        Data::Step {
                            id,
                            below: None,
                            is_shell: false,
                        },
                        Vec::new(),
                    )
                }
            }
        };
        self.visited.insert(at, visited);
    }

    fn add_step(&mut self, made: NodeStep, condition: Option<String>) -> Data {
        self.flow.notes.extend(made.notes);
        self.flow.steps.push(Step {
            condition,
            ..made.step
        });
        made.data
    }

    fn add_trigger(&mut self, node: &Node<'_>, found: Result<Trigger, String>) {
        if node.is_disabled() {
            return;
        }
        match found {
            Ok(Trigger::Manual) => {}
            Ok(Trigger::Schedule(cron)) => match deft_schedule::Cron::parse(&cron) {
                Ok(_) if self.flow.schedule.is_some() => {
                    self.problem(node, "it is a second schedule; a skill of deft has one");
                }
                Ok(_) => self.flow.schedule = Some(cron),
                Err(error) => self.problem(node, error.to_string()),
            },
            Err(reason) => self.problem(node, reason),
        }
    }

    fn problem(&mut self, node: &Node<'_>, reason: impl Into<String>) {
        self.flow.problems.push(NodeProblem {
            name: node.name.to_owned(),
            kind: node.full_kind.to_owned(),
            reason: reason.into(),
        });
    }

    fn edges_to(&self, at: usize) -> impl Iterator<Item = &'a Edge> + use<'a> {
        self.document.edges.iter().filter(move |edge| edge.to == at)
    }

    /// Returns the condition under which a node runs: a node before it ran and took the output that leads
    /// here.
    fn condition(&self, at: usize) -> Option<String> {
        let mut ways: Vec<String> = Vec::new();
        for edge in self.edges_to(at) {
            let from = self.visited.get(&edge.from)?;
            let output = from.outputs.get(edge.output);
            let way = match (&from.condition, output) {
                (None, None) => return None,
                (Some(one), None) | (None, Some(one)) => one.clone(),
                (Some(before), Some(output)) => format!("({before}) and ({output})"),
            };
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        match ways.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            many => {
                let many: Vec<String> = many.iter().map(|way| format!("({way})")).collect();
                Some(many.join(" or "))
            }
        }
    }

    fn scope(&self, at: usize) -> NodeScope<'a> {
        let before = self
            .edges_to(at)
            .filter_map(|edge| self.visited.get(&edge.from));
        let input = before
            .map(|visited| &visited.data)
            .fold(None, |known: Option<Data>, data| {
                Some(match known {
                    Some(known) if known != *data => Data::Ambiguous,
                    Some(_) | None => data.clone(),
                })
            });
        let earlier = self.visited.iter();
        let earlier = earlier.map(|(at, one)| (self.document.nodes[*at].name, one.data.clone()));
        NodeScope {
            input: input.unwrap_or(Data::None),
            earlier: earlier.collect(),
        }
    }

    /// Derives the id of a step from the name of its node.
    fn id(&mut self, name: &str) -> String {
        let ascii = |c: char| if c.is_ascii_alphanumeric() { c } else { ' ' };
        let words: String = name.to_lowercase().chars().map(ascii).collect();
        let base = words.split_whitespace().collect::<Vec<_>>().join("_");
        let base = match base.chars().next() {
            Some(c) if !c.is_ascii_alphabetic() => format!("node_{base}"),
            None => "node".to_owned(),
            Some(_) if RESERVED.contains(&base.as_str()) => format!("{base}_node"),
            Some(_) => base,
        };
        let numbered = (2..).map(|number: u32| format!("{base}_{number}"));
        let mut ids = std::iter::once(base.clone()).chain(numbered);
        let id = ids.find(|id| !self.ids.contains(id)).unwrap_or(base);
        self.ids.insert(id.clone());
        id
    }
}

/// Returns the nodes that are reachable from a trigger.
fn reachable(document: &Document<'_>) -> BTreeSet<usize> {
    let nodes = document.nodes.iter().enumerate();
    let triggers = nodes.filter(|(_, node)| trigger(node).is_some());
    let mut found: BTreeSet<usize> = triggers.map(|(at, _)| at).collect();
    let mut open: Vec<usize> = found.iter().copied().collect();
    while let Some(at) = open.pop() {
        let next = document.edges.iter().filter(|edge| edge.from == at);
        open.extend(next.map(|edge| edge.to).filter(|to| found.insert(*to)));
    }
    found
}

/// Sorts the nodes topologically; nodes in a loop are left out.
fn order(document: &Document<'_>, reachable: &BTreeSet<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    loop {
        let is_ready = |at: &&usize| {
            let mut before = document.edges.iter().filter(|edge| edge.to == **at);
            !order.contains(*at)
                && before.all(|edge| !reachable.contains(&edge.from) || order.contains(&edge.from))
        };
        match reachable.iter().find(is_ready).copied() {
            Some(at) => order.push(at),
            None => return order,
        }
    }
}
