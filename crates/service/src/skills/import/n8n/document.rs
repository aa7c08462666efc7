//! The parts of an exported n8n workflow that are imported.

use std::collections::HashMap;

use serde_json::Value;

/// A node of the workflow.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub name: &'a str,
    /// The type without its package, such as `httpRequest`; the full type for other packages.
    pub kind: &'a str,
    pub full_kind: &'a str,
    pub version: f64,
    value: &'a Value,
}

/// A connection from an output of one node to another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub from: usize,
    pub output: usize,
    pub to: usize,
}

#[derive(Debug)]
pub(super) struct Document<'a> {
    pub name: Option<&'a str>,
    pub nodes: Vec<Node<'a>>,
    pub edges: Vec<Edge>,
    pub zone: Option<&'a str>,
    pub has_error_workflow: bool,
}

/// Whether a JSON document is a workflow of n8n.
pub(in crate::skills::import) fn is_workflow(value: &Value) -> bool {
    value["nodes"].is_array() && value["connections"].is_object()
}

impl<'a> Document<'a> {
    pub(super) fn read(value: &'a Value) -> Self {
        let nodes: Vec<Node<'a>> = value["nodes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(node)
            .collect();
        let settings = &value["settings"];
        Self {
            name: value["name"].as_str(),
            edges: edges(&value["connections"], &nodes),
            nodes,
            zone: settings["timezone"]
                .as_str()
                .filter(|zone| *zone != "DEFAULT"),
            has_error_workflow: settings["errorWorkflow"].is_string(),
        }
    }
}

fn node(value: &Value) -> Node<'_> {
    let full_kind = value["type"].as_str().unwrap_or_default();
    Node {
        name: value["name"].as_str().unwrap_or_default(),
        kind: full_kind
            .strip_prefix("n8n-nodes-base.")
            .unwrap_or(full_kind),
        full_kind,
        version: value["typeVersion"].as_f64().unwrap_or(1.0),
        value,
    }
}

/// Parses the connections of type `main`. They refer to nodes by name; names are unique in a workflow.
fn edges(connections: &Value, nodes: &[Node<'_>]) -> Vec<Edge> {
    let places: HashMap<&str, usize> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (node.name, at))
        .collect();
    let mut edges = Vec::new();
    for (from, node) in nodes.iter().enumerate() {
        let outputs = connections[node.name]["main"].as_array();
        for (output, targets) in outputs.into_iter().flatten().enumerate() {
            for target in targets.as_array().into_iter().flatten() {
                let to = target["node"].as_str().and_then(|name| places.get(name));
                edges.extend(to.map(|to| Edge {
                    from,
                    output,
                    to: *to,
                }));
            }
        }
    }
    edges
}

impl<'a> Node<'a> {
    pub(super) fn is_disabled(&self) -> bool {
        self.value["disabled"] == true
    }

    pub(super) fn has_credentials(&self) -> bool {
        self.value["credentials"]
            .as_object()
            .is_some_and(|all| !all.is_empty())
    }

    /// Returns a setting of the node, outside its parameters.
    pub(super) fn setting(&self, name: &str) -> &'a Value {
        &self.value[name]
    }

    /// Returns the parameter at a path.
    pub(super) fn parameter(&self, path: &[&str]) -> &'a Value {
        let mut value = &self.value["parameters"];
        for key in path {
            value = &value[*key];
        }
        value
    }

    /// Returns the parameter at a path if it is a string.
    pub(super) fn text(&self, path: &[&str]) -> Option<&'a str> {
        self.parameter(path).as_str()
    }

    /// Returns the items of the parameter at a path; empty if it is not a list.
    pub(super) fn list(&self, path: &[&str]) -> &'a [Value] {
        self.parameter(path).as_array().map_or(&[], Vec::as_slice)
    }
}
