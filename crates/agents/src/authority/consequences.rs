//! The consequences of calls of deft's own tools: the calls of a skill that they run, store, change or queue.
//!
//! Only consequences that are known before the skill runs are found here. A call whose tool a template or a
//! model chooses is decided when it is made, in the run that makes it.

use std::collections::HashSet;
use std::sync::Arc;

use deft_library::grants::StepOperation;
use deft_library::{is_only_off, is_record};
use deft_model::{Authority, Body, Handler, Object, Skill, call_words, fits, is_template};
use deft_records::{merge, normalise, target};
use deft_skillfile::Check;
use deft_store::Grant;
use deft_tools::ToolInfo;
use deft_workflow::{Operation, Path, Plan, PlannedCall};
use serde_json::Value;

use super::Verdict;
use super::changed::target_name;
use crate::Agents;
use crate::tool_names::{AgentTool, RecordTool};

/// Maximum number of characters of arguments in a question.
pub(super) const MAX_SHOWN_CHARS: usize = 200;

/// The consequences of a call.
#[derive(Default)]
pub(super) struct Consequences {
    /// Tools that need a person's approval, each once.
    pub(super) tools: Vec<String>,
    /// The revision of the skill that is run.
    pub(super) revision: Option<String>,
    /// The question that names all of these calls.
    pub(super) question: Option<String>,
    /// Whether it needs an approval although its tools are not known.
    unknown: bool,
}

impl Consequences {
    pub(super) fn is_free(&self) -> bool {
        self.tools.is_empty() && !self.unknown
    }

    fn unknown(question: &str) -> Self {
        Self {
            question: Some(question.to_owned()),
            unknown: true,
            ..Self::default()
        }
    }

    fn add(&mut self, tool: &str) {
        if !self.tools.iter().any(|known| known == tool) {
            self.tools.push(tool.to_owned());
        }
    }
}

/// A call that a skill will make, with its wording in a question.
pub(super) struct PlannedQuestion {
    tool: String,
    words: String,
}

impl Agents {
    /// Returns the consequences of a call. The error says why the call is forbidden.
    pub(super) fn consequences_of_call(
        &self,
        authority: &Authority,
        info: &ToolInfo,
        args: Option<&Object>,
        depth: u32,
    ) -> Result<Consequences, String> {
        let tool = info.name.as_str();
        if !info.builtin {
            return Ok(Consequences::default());
        }
        if let Some(AgentTool::SkillRun | AgentTool::UseSkill) = AgentTool::from_name(tool) {
            return match args {
                Some(args) => self.consequences_of_run(authority, args, depth),
                None => Ok(Consequences::unknown("Run an unknown skill?")),
            };
        }
        let Some(tool) = RecordTool::from_name(tool) else {
            return Ok(Consequences::default());
        };
        if tool.schedules() && !authority.may_schedule {
            return Err(format!(
                "scheduled runs may not call `{}` unless `may_schedule` is true",
                tool.name()
            ));
        }
        match tool {
            RecordTool::StoreSkill | RecordTool::UpdateSkill | RecordTool::QueueTask => {
                match args {
                    Some(args) => self.consequences_of_storing(authority, tool, args, depth),
                    None => Ok(Consequences::unknown(
                        "Store an unknown skill or queue an unknown job?",
                    )),
                }
            }
            RecordTool::DeleteSkill => {
                match args.and_then(|args| self.refuse_target(authority, args)) {
                    Some(out) => Err(out),
                    None => Ok(Consequences::default()),
                }
            }
            RecordTool::ListSkills | RecordTool::GetSkill | RecordTool::GetJobStatus => {
                Ok(Consequences::default())
            }
        }
    }

    fn consequences_of_run(
        &self,
        authority: &Authority,
        args: &Object,
        depth: u32,
    ) -> Result<Consequences, String> {
        let name = args.get("skill").and_then(Value::as_str);
        // An unknown name runs nothing.
        let Some(loaded) = name.and_then(|name| self.library.named_skill(name)) else {
            return Ok(Consequences::default());
        };
        let skill = &loaded.skill;
        let id = skill.id.as_str();
        if !authority.may_run(id) {
            return Err(format!(
                "`{id}` is not one of the skills of agent `{}`",
                authority.agent
            ));
        }
        let mut consequences = Consequences::default();
        let mut planned = Vec::new();
        if let Ok(pinned) = self.library.pin_loaded(&loaded) {
            let inside = inside(&authority.agreed_for(&pinned.revision), skill);
            let mut seen = HashSet::from([id.to_owned()]);
            // A person is not asked again about a call with a standing grant.
            let grants = self.grants.of_skill(id);
            let granted = |call: &PlannedCall<'_>| is_granted(&grants, id, &pinned.revision, call);
            let plan = &pinned.plan;
            self.collect_planned(&inside, plan, &granted, &mut seen, depth, &mut planned)?;
            consequences.revision = Some(pinned.revision);
        }
        planned.iter().for_each(|call| consequences.add(&call.tool));
        consequences.unknown = authority.approve.iter().any(|pattern| fits(pattern, id));
        // The name and flags of a command are those of its tool, so they need no list of calls.
        if !planned.is_empty() && !is_command(skill) {
            let given = args.get("inputs").and_then(Value::as_object);
            let (run, calls) = (call_words(id, given, MAX_SHOWN_CHARS), list(&planned));
            consequences.question = Some(format!("Run {run}, which calls {calls}?"));
        }
        Ok(consequences)
    }

    fn consequences_of_storing(
        &self,
        authority: &Authority,
        tool: RecordTool,
        args: &Object,
        depth: u32,
    ) -> Result<Consequences, String> {
        let changes = tool == RecordTool::UpdateSkill;
        if changes && let Some(out) = self.refuse_target(authority, args) {
            return Err(out);
        }
        // Disabling a skill has no consequences. Arguments that cannot be read are refused by the tool
        // itself, with a list of all mistakes.
        let only_off = changes && is_only_off(&target(args).1);
        let described = self.described_skill(tool, args).filter(|_| !only_off);
        let Some(skill) = described else {
            return Ok(Consequences::default());
        };
        if !skill.policy.secrets.is_empty() {
            let names = skill.policy.secrets.join("`, `");
            return Err(format!(
                "a skill that an agent stores gets no secrets (`{names}`); a person can store it"
            ));
        }
        let planned = self.stored_calls(authority, &skill, depth)?;
        let mut consequences = Consequences::default();
        planned.iter().for_each(|call| consequences.add(&call.tool));
        if !planned.is_empty() {
            let (name, calls) = (&skill.name, list(&planned));
            consequences.question = match tool {
                RecordTool::QueueTask => {
                    Some(format!("Queue the job `{name}`, which calls {calls}?"))
                }
                RecordTool::UpdateSkill => Some(format!(
                    "Change the skill `{name}`? On every run it will call {calls} without asking"
                )),
                RecordTool::StoreSkill => Some(format!(
                    "Store the skill `{name}`? On every run it will call {calls} without asking"
                )),
                RecordTool::ListSkills
                | RecordTool::GetSkill
                | RecordTool::DeleteSkill
                | RecordTool::GetJobStatus => None,
            };
        }
        Ok(consequences)
    }

    /// Returns the skill that a call would store, change or queue.
    fn described_skill(&self, tool: RecordTool, args: &Object) -> Option<Skill> {
        let record = match tool {
            RecordTool::QueueTask => deft_records::job(args).ok()?,
            RecordTool::UpdateSkill => {
                let (_, changes) = target(args);
                let known = self.library.named_skill(&target_name(args)?)?;
                if !is_record(&known) {
                    return Some(self.changed_file_skill(&known.skill, &changes));
                }
                let existing = deft_skillfile::render::record(&known.skill);
                let existing = existing.as_ref().and_then(Value::as_object)?;
                merge(existing, &changes, &self.base.moment()).record
            }
            RecordTool::StoreSkill => normalise(args, &self.base.moment()).record,
            RecordTool::ListSkills
            | RecordTool::GetSkill
            | RecordTool::DeleteSkill
            | RecordTool::GetJobStatus => return None,
        };
        let text = Value::Object(record).to_string();
        self.library.read_record(&text).ok()
    }

    /// Returns the calls of a skill that need a person's approval. The error names a forbidden call.
    pub(super) fn stored_calls(
        &self,
        authority: &Authority,
        skill: &Skill,
        depth: u32,
    ) -> Result<Vec<PlannedQuestion>, String> {
        let Ok(plan) = Plan::compile(skill, "") else {
            return Ok(Vec::new());
        };
        let mut calls = Vec::new();
        for call in plan.calls() {
            let Some(tool) = call.tool else {
                return Err("a skill that an agent stores must name its tools".to_owned());
            };
            let args = call.args.and_then(Value::as_object);
            let words = || call_words(tool, args, MAX_SHOWN_CHARS);
            self.add_call(authority, tool, args, depth, words, &mut calls)?;
        }
        if let Some(Ok(Check::Tool { tool, args, .. })) =
            skill.policy.preflight.as_ref().map(Check::read)
        {
            let words = || format!("`{tool}` before each run");
            self.add_call(authority, &tool, Some(&args), depth, words, &mut calls)?;
        }
        if matches!(
            skill.body,
            Body::Instructions(_) | Body::Manual { handler: None, .. }
        ) {
            for tool in &skill.required_tools {
                let words = || format!("`{tool}` with arguments that a model chooses");
                self.add_call(
                    authority,
                    tool,
                    Some(&Object::new()),
                    depth,
                    words,
                    &mut calls,
                )?;
            }
        }
        Ok(calls)
    }

    fn add_call(
        &self,
        authority: &Authority,
        tool: &str,
        args: Option<&Object>,
        depth: u32,
        words: impl Fn() -> String,
        calls: &mut Vec<PlannedQuestion>,
    ) -> Result<(), String> {
        let authority = &authority.not_agreed();
        match self.judge_nested(authority, tool, args, depth + 1) {
            // A tool that no server has listed yet is asked about when the skill runs.
            Verdict::Free | Verdict::Absent => {}
            Verdict::Ask(consent) => {
                calls.push(PlannedQuestion {
                    tool: tool.to_owned(),
                    words: words(),
                });
                let covered = consent
                    .covers
                    .map(|covers| covers.tools)
                    .unwrap_or_default();
                calls.extend(covered.into_iter().map(|tool| PlannedQuestion {
                    words: format!("`{tool}`"),
                    tool,
                }));
            }
            Verdict::Denied(why) => return Err(why),
        }
        Ok(())
    }

    /// Collects the calls of a plan, and of the skills it runs, that need a person's approval. Calls of the
    /// plan itself that are `granted` do not.
    fn collect_planned(
        &self,
        authority: &Authority,
        plan: &Arc<Plan>,
        granted: &dyn Fn(&PlannedCall<'_>) -> bool,
        seen: &mut HashSet<String>,
        depth: u32,
        found: &mut Vec<PlannedQuestion>,
    ) -> Result<(), String> {
        for call in plan.calls() {
            let Some(tool) = call.tool else {
                continue;
            };
            if granted(&call) {
                continue;
            }
            let literal = call.args.filter(|args| !is_template(&args.to_string()));
            let args = literal.and_then(Value::as_object);
            let judged = self.judge_nested(authority, tool, args, depth + 1);
            let Verdict::Ask(consent) = judged else {
                // A forbidden call fails in the run that makes it.
                continue;
            };
            let covered = consent
                .covers
                .map(|covers| covers.tools)
                .unwrap_or_default();
            for tool in std::iter::once(tool.to_owned()).chain(covered) {
                let words = format!("`{tool}`");
                found.push(PlannedQuestion { tool, words });
            }
        }
        for name in plan.skills().flatten() {
            if !seen.insert(name.to_owned()) {
                continue;
            }
            let Some(loaded) = self.library.named_skill(name) else {
                continue;
            };
            if let Ok(pinned) = self.library.pin_loaded(&loaded) {
                let inside = inside(authority, &loaded.skill);
                self.collect_planned(&inside, &pinned.plan, &|_| false, seen, depth, found)?;
            }
        }
        Ok(())
    }
}

/// Whether a standing grant covers a call of a revision of a skill.
fn is_granted(grants: &[Grant], skill: &str, revision: &str, call: &PlannedCall<'_>) -> bool {
    let (Some(step), Some(tool), Some(args)) = (call.step, call.tool, call.args) else {
        return false;
    };
    let operation = Operation {
        kind: "tool".to_owned(),
        name: Some(tool.to_owned()),
        args: Some(args.clone()),
        remember: None,
    };
    let place = StepOperation {
        skill,
        revision,
        path: &Path::from_text(step.to_owned()),
        operation: &operation,
    };
    grants.iter().any(|grant| place.is_covered(grant))
}

/// Returns the rights inside a skill that a caller with these rights runs.
pub fn inside(authority: &Authority, skill: &Skill) -> Authority {
    match &skill.policy.authority {
        Some(stored_by) => authority.and(stored_by),
        None => authority.over_a_persons_skill(),
    }
}

fn is_command(skill: &Skill) -> bool {
    let Body::Manual {
        handler: Some(handler),
        ..
    } = &skill.body
    else {
        return false;
    };
    !matches!(Handler::from_text(handler), Handler::Skill(_))
}

/// Lists each call once.
fn list(planned: &[PlannedQuestion]) -> String {
    let mut words: Vec<&str> = Vec::new();
    for call in planned {
        if !words.contains(&call.words.as_str()) {
            words.push(&call.words);
        }
    }
    words.join(", ")
}
