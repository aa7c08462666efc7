//! Checks of a skill against its surroundings: tools, their arguments, and other skills.
//!
//! Unknown facts are not reported: a server that never listed its tools may have any tool. Only a name that
//! is similar to that of a known tool is reported. These checks never keep a skill from loading, because
//! tools and skills come and go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deft_model::{Body, Handler, Skill, Step, nearest, nearest_name};
use deft_template::has_markup;
use serde_json::Value;

use crate::diagnostic::{Diagnostic, Sink};
use crate::rules::Rule;
use crate::span::Span;
use crate::yaml::{self, Mapping, Node};

mod arguments;
mod pages;

pub use pages::check_page;

/// The known surroundings of a skill.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Tools under every name by which they can be called, with the schemas of their arguments.
    pub tools: BTreeMap<String, Arc<Value>>,
    /// Servers that have listed their tools.
    pub servers: BTreeSet<String>,
    /// Whether all servers have listed their tools, so that any other tool is unknown.
    pub complete: bool,
    /// Skills by id, with the skills that they run; `None` if not known.
    pub skills: Option<BTreeMap<String, Vec<String>>>,
}

/// Returns the skills that the steps of a skill run, except those named by a template.
pub fn skills_run_by(skill: &Skill) -> Vec<String> {
    let mut run: Vec<String> = Vec::new();
    let steps = match &skill.body {
        Body::Steps(workflow) => workflow.steps.as_slice(),
        Body::Call { .. } | Body::Instructions(_) | Body::Manual { .. } => &[],
    };
    for step in steps {
        if let Some(skill) = step.kind.called_skill()
            && !has_markup(skill)
        {
            run.push(skill.trim().to_owned());
        }
    }
    if let Body::Manual {
        handler: Some(handler),
        ..
    } = &skill.body
        && let Handler::Skill(skill) = Handler::from_text(handler)
    {
        run.push(skill);
    }
    run
}

/// Checks a skill against its surroundings. `text` is its file, used for spans.
pub fn check_against(text: &str, skill: &Skill, known: &Surroundings) -> Vec<Diagnostic> {
    let tree = yaml::parse(text, 0).ok().flatten();
    let mut check = Check {
        text,
        steps: tree
            .as_ref()
            .and_then(|tree| tree.as_mapping()?.get("steps")),
        known,
        sink: Sink::default(),
    };
    check.skill(skill);
    check.sink.finish()
}

struct Check<'a> {
    text: &'a str,
    steps: Option<&'a Node>,
    known: &'a Surroundings,
    sink: Sink,
}

impl Check<'_> {
    fn skill(&mut self, skill: &Skill) {
        match &skill.body {
            Body::Steps(workflow) => {
                for step in &workflow.steps {
                    self.step(step);
                }
            }
            Body::Call { step, kind, .. } => self.step(&Step::new(step, kind.clone())),
            Body::Manual {
                handler: Some(handler),
                ..
            } => match Handler::from_text(handler) {
                Handler::Tool(tool) => self.tool(&tool, self.place(handler)),
                Handler::Skill(skill) => self.known_skill(&skill, self.place(handler)),
                Handler::BuiltIn(_) => {}
            },
            Body::Instructions(_) | Body::Manual { .. } => {}
        }
        for heal in &skill.policy.heal {
            self.tool(&heal.tool, self.place(&heal.tool));
        }
        for tool in &skill.required_tools {
            self.tool(tool, self.place(tool));
        }
        self.cycle(skill);
    }

    fn step(&mut self, step: &Step) {
        if let Some((tool, args)) = step.kind.tool_call()
            && !has_markup(tool)
        {
            self.tool(tool, self.key(step, step.kind.key()));
            self.arguments(step, tool, args);
        }
        if let Some(skill) = step.kind.called_skill()
            && !has_markup(skill)
        {
            self.known_skill(skill.trim(), self.key(step, step.kind.key()));
        }
        for tool in step.kind.offered_tools().unwrap_or_default() {
            self.tool(tool, self.key(step, "tools"));
        }
        for heal in &step.heal {
            self.tool(&heal.tool, self.key(step, "heal"));
        }
    }

    /// Reports a tool that no server provides.
    fn tool(&mut self, tool: &str, span: Span) {
        if self.known.tools.contains_key(tool) {
            return;
        }
        if self.sink.has(Rule::UnknownTool, span) {
            return;
        }
        let server = tool.split_once('.').map(|(server, _)| server);
        let listed = server.is_some_and(|server| self.known.servers.contains(server));
        let names = self.known.tools.keys().map(String::as_str);
        let (message, help) = if self.known.complete || listed {
            let near = nearest(tool, names).map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| "`deft tools list` shows all tools".to_owned());
            (format!("no server provides `{tool}`"), help)
        } else if let Some(near) = nearest_name(tool, names) {
            // A server that has not listed its tools may have it, but a misspelling is more likely.
            (
                format!("no known tool is called `{tool}`"),
                format!("did you mean `{near}`?"),
            )
        } else {
            return;
        };
        self.sink
            .report(Rule::UnknownTool, span, message)
            .help(help);
    }

    fn known_skill(&mut self, skill: &str, span: Span) {
        let Some(skills) = &self.known.skills else {
            return;
        };
        if skills.contains_key(skill) {
            return;
        }
        let near = nearest(skill, skills.keys().map(String::as_str));
        let help = near.map_or("`deft skills list` shows all skills".to_owned(), |near| {
            format!("did you mean `{near}`?")
        });
        let message = format!("unknown skill `{skill}`");
        self.sink
            .report(Rule::UnknownSkill, span, message)
            .help(help);
    }

    /// Reports a skill that runs itself through other skills. A skill that runs itself directly does not
    /// load.
    fn cycle(&mut self, skill: &Skill) {
        let Some(skills) = &self.known.skills else {
            return;
        };
        let own = skill.id.as_str();
        let mut seen = BTreeSet::new();
        let first = skills_run_by(skill).into_iter().filter(|next| next != own);
        let mut open: Vec<Vec<String>> = first.map(|next| vec![next]).collect();
        while let Some(path) = open.pop() {
            let Some(last) = path.last().filter(|last| seen.insert((*last).clone())) else {
                continue;
            };
            for next in skills.get(last).into_iter().flatten() {
                if next != own {
                    open.push(path.iter().cloned().chain([next.clone()]).collect());
                    continue;
                }
                let through: Vec<String> = path.iter().map(|name| format!("`{name}`")).collect();
                let message = format!("`{own}` runs itself through {}", through.join(", "));
                let span = self.place(&path[0]);
                self.sink
                    .report(Rule::SkillCycle, span, message)
                    .help("remove one of the steps to break the cycle");
                return;
            }
        }
    }

    /// Returns the mapping of a step in a workflow.
    fn map(&self, id: &str) -> Option<&Mapping> {
        let items = self.steps?.as_sequence()?.iter();
        let mut maps = items.filter_map(Node::as_mapping);
        maps.find(|map| {
            let own = map.get("id").and_then(Node::as_scalar);
            own.is_some_and(|own| own.text == id)
        })
    }

    /// Returns the span of a key of a step.
    fn key(&self, step: &Step, key: &str) -> Span {
        match self.map(&step.id).and_then(|map| map.get(key)) {
            Some(node) => node.span,
            None => {
                let tool = step.kind.tool_call();
                tool.map_or(Span::NONE, |(tool, _)| self.place(tool))
            }
        }
    }

    /// Returns the span of the first occurrence of `word` in the file.
    fn place(&self, word: &str) -> Span {
        match self.text.find(word).filter(|_| !word.is_empty()) {
            Some(at) => Span::new(at, at + word.len()),
            None => Span::NONE,
        }
    }
}
