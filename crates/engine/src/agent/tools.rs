//! Tools of deft for skills and agents. They are registered in the router like any other tool, so that
//! agents, people and programs call the same thing.

use std::sync::{Arc, Weak};

use deft_agent::prompt;
use deft_agents::{AgentTool, inside};
use deft_base::{run_failure, run_outputs};
use deft_command::{CommandResult, Problem};
use deft_library::{Command, PinnedSkill, denied_failure, handler};
use deft_model::{
    Authority, Cause, Failure, FailureClass, Object, Outcome, RunId, RunOrigin, RunStatus, Skill,
    ToolSpec,
};
use deft_registry::discovery::{Topic, get_skill_with, load_skill};
use deft_store::RunRow;
use deft_tools::{Context, Definition, Router};
use deft_wire::own_tools::UnfinishedRun;
use serde_json::{Value, json};

use crate::Engine;
use crate::engine::Inner;
use crate::fire::{Admission, Fire};

fn definition(tool: AgentTool) -> Definition {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let object = |properties: Value, required: &[&str]| {
        json!({ "type": "object", "properties": properties, "required": required,
            "additionalProperties": false })
    };
    let (about, schema) = match tool {
        AgentTool::SkillRun => (
            "Run a skill by its name and return its outputs.".to_owned(),
            object(
                json!({ "skill": text("The skill's id"),
                    "inputs": { "type": "object", "description": "Its inputs" } }),
                &["skill"],
            ),
        ),
        AgentTool::Skill => (
            "Load a specialized skill: its text is the result.".to_owned(),
            object(
                json!({ "skill_name": text("The name of the skill to load") }),
                &["skill_name"],
            ),
        ),
        // These have the definitions that are used in the prompts of agents.
        AgentTool::GetSkill => parts(prompt::get_skill()),
        AgentTool::UseSkill => parts(prompt::use_skill()),
        AgentTool::DispatchAgent => parts(prompt::dispatch_agent([])),
    };
    Definition::new(tool.name(), &about, tool.effects(), schema)
}

fn parts(spec: ToolSpec) -> (String, Value) {
    (spec.description, spec.schema)
}

impl Engine {
    /// Registers these tools in the router.
    pub(crate) fn register_agent_tools(&self) {
        for &tool in AgentTool::ALL {
            // The router belongs to the engine, so its tools must not keep the engine alive.
            let engine = Arc::downgrade(&self.inner);
            self.router()
                .register_fn(definition(tool), move |args: Object, context: Context| {
                    call(engine.clone(), tool, args, context)
                });
        }
    }
}

/// Returns the origin of the runs that a call starts.
pub(crate) fn origin(context: &Context) -> RunOrigin {
    RunOrigin {
        request_id: context.request_id.clone(),
        trace: context.trace.clone().map(Arc::new),
    }
}

/// Registers these tools in a router used only for lookups.
pub(crate) fn show_agent_tools(router: &Router) {
    for &tool in AgentTool::ALL {
        router.register_fn(definition(tool), |_: Object, _: Context| async {
            Err(Failure::new(
                FailureClass::Other,
                "the engine is not available",
            ))
        });
    }
}

async fn call(
    engine: Weak<Inner>,
    tool: AgentTool,
    args: Object,
    context: Context,
) -> Result<Value, Failure> {
    let inner = engine
        .upgrade()
        .ok_or_else(|| Failure::new(FailureClass::Cancelled, "deft is shutting down"))?;
    let engine = Engine { inner };
    let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default();
    match tool {
        AgentTool::SkillRun => {
            let inputs = args.get("inputs").and_then(Value::as_object).cloned();
            let inputs = inputs.unwrap_or_default();
            engine.skill_run(text("skill"), inputs, &context).await
        }
        AgentTool::Skill | AgentTool::GetSkill if let Some(id) = engine.served_skill(&args) => {
            let authority = context.authority.as_deref();
            let text = engine.agents().load_served_skill(&id, authority).await?;
            Ok(Value::String(text))
        }
        AgentTool::Skill => {
            let skills = engine.library().all_skills().await;
            Ok(Value::String(load_skill(&skills.all, text("skill_name"))))
        }
        AgentTool::GetSkill => engine.page(text("topic")).await,
        AgentTool::UseSkill => engine.use_skill(&Value::Object(args), &context).await,
        // A call by an agent is part of its run and never gets here.
        AgentTool::DispatchAgent if context.authority.is_none() => {
            engine.dispatch_agent(args, &context).await
        }
        AgentTool::DispatchAgent => Err(Failure::new(
            FailureClass::Invalid,
            "an agent can dispatch other agents only from its own turn",
        )),
    }
}

impl Engine {
    /// Returns the skill of a server, or the file of it, that a call for a text names.
    fn served_skill(&self, args: &Object) -> Option<String> {
        let names = ["skill_name", "topic"].map(|key| args.get(key).and_then(Value::as_str));
        let name = names.into_iter().flatten().next()?;
        self.router()
            .is_skill_of_server(name)
            .then(|| name.to_owned())
    }

    /// Returns a text about skills, with the availability of the tools that handle them.
    async fn page(&self, topic: &str) -> Result<Value, Failure> {
        let skills = self.library().all_skills().await;
        let commands = self.inner.library.commands(&skills.all);
        let unavailable = |skill: &Skill| commands.unavailable(skill, false);
        let page = get_skill_with(&skills.all, &Topic::parse(topic), &unavailable);
        page.map(Value::String).map_err(|unknown| {
            let failure = Failure::new(FailureClass::NotFound, unknown.to_string());
            let failure = failure.code(unknown.code());
            match unknown.near() {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure,
            }
        })
    }

    async fn use_skill(&self, call: &Value, context: &Context) -> Result<Value, Failure> {
        let skills = self.library().all_skills().await;
        let resolved = self.inner.library.commands(&skills.all).json(call);
        match resolved.map_err(|problems| invalid(&problems))? {
            Command::Page { topic } => self.page(&topic).await,
            Command::Template(result) => Ok(json!(result)),
            Command::Run { skill, inputs } => {
                let skill = skill.skill.id.as_str();
                self.run_for_agent(skill, inputs, context).await
            }
        }
    }

    /// Runs a skill by name. No model reads the result here, so a page without a handler runs like any other
    /// skill.
    async fn skill_run(
        &self,
        name: &str,
        inputs: Object,
        context: &Context,
    ) -> Result<Value, Failure> {
        let skills = self.library().all_skills().await;
        let resolved = match skills.all.find(name) {
            Some(_) => self
                .inner
                .library
                .commands(&skills.all)
                .resolve_named(name, inputs.clone()),
            // The name may be the number of a stored skill.
            None => return self.run_for_agent(name, inputs, context).await,
        };
        match resolved.map_err(|problems| invalid(&problems))? {
            Command::Page { topic } => self.page(&topic).await,
            Command::Template(_) => self.run_for_agent(name, inputs, context).await,
            Command::Run { skill, inputs } => {
                let skill = skill.skill.id.as_str();
                self.run_for_agent(skill, inputs, context).await
            }
        }
    }

    /// Runs a skill under the key of the call: the same call never runs it twice, and a call that was cut off
    /// finds the run it started.
    async fn run_for_agent(
        &self,
        skill: &str,
        inputs: Object,
        context: &Context,
    ) -> Result<Value, Failure> {
        let found = self.inner.library.find(skill).await;
        let found = found.map_err(|error| error.failure())?;
        let authority = match &context.authority {
            Some(by) => Some(Arc::new(rights_inside(by, &found)?)),
            None => None,
        };
        let fire = Fire {
            skill: skill.to_owned(),
            authority,
            inputs,
            cause: match &context.request_id {
                Some(_) => Cause::Api,
                None => Cause::Agent,
            },
            key: (!context.key.is_empty()).then(|| context.key.clone()),
            origin: origin(context),
            ..Fire::default()
        };
        let row = self.run_below(fire, context).await?;
        let value = outcome(&row)?;
        let worked = row.outcome == Some(Outcome::Success);
        Ok(if worked && handler(&found.skill).is_some() {
            json!(self.library().command_result(&found.skill, &value))
        } else {
            value
        })
    }

    /// Runs a fire below the calling run, if any. A call that was cut off finds the run it started.
    pub(super) async fn run_below(&self, fire: Fire, context: &Context) -> Result<RunRow, Failure> {
        let above = context.key.split_once('/').map(|(run, _)| RunId::new(run));
        let attention = above.map(|run| self.inner.attention_below(&run));
        let attention = attention.unwrap_or_default();
        let admission = Box::pin(self.run(fire, attention.clone())).await;
        match admission.map_err(|error| error.failure())? {
            Admission::Run(row) => Ok(row),
            Admission::Existing(row) if row.status == RunStatus::Done => Ok(row),
            Admission::Existing(row) => {
                let driven = Box::pin(self.drive_when_due(&row.id, attention)).await;
                driven.map_err(|error| error.failure())?;
                let row = self.finished_row(&row.id).await;
                Ok(row.map_err(|error| error.failure())?.run().clone())
            }
        }
    }
}

/// Returns the failure of an invalid command: all problems, with the code of the first.
fn invalid(problems: &[Problem]) -> Failure {
    let code = problems.first().map(Problem::problem_code);
    let text = match problems {
        [only] => only.to_string(),
        several => CommandResult::from_problems(several).content,
    };
    let failure = Failure::new(FailureClass::Invalid, text);
    let failure = Failure { code, ..failure };
    match problems {
        [only] => match only.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        },
        _ => failure,
    }
}

/// Returns the rights of a run that an agent with the rights `by` starts. A person's agreement counts only
/// for the revision that the question named.
fn rights_inside(by: &Authority, found: &PinnedSkill) -> Result<Authority, Failure> {
    let skill = &found.skill;
    if !by.may_run(skill.id.as_str()) {
        let (id, agent) = (&skill.id, &by.agent);
        let why = format!("`{id}` is not one of the skills of agent `{agent}`");
        return Err(denied_failure(why));
    }
    Ok(inside(&by.agreed_for(&found.revision), skill))
}

/// Returns the result of a run as that of the call that started it.
pub(super) fn outcome(row: &RunRow) -> Result<Value, Failure> {
    if row.status != RunStatus::Done {
        return Ok(json!(UnfinishedRun::Waiting {
            run: row.id.clone(),
            status: row.status,
            waiting_for: row.waits_for().map(str::to_owned),
        }));
    }
    match row.outcome {
        Some(Outcome::Success) => {
            let outputs = run_outputs(row).map_err(|error| error.failure())?;
            Ok(outputs.unwrap_or_default())
        }
        Some(Outcome::Skipped) => {
            let reason = run_failure(row).map_err(|error| error.failure())?;
            Ok(json!(UnfinishedRun::Skipped {
                run: row.id.clone(),
                outcome: Outcome::Skipped,
                reason: reason.map(|why| why.message),
            }))
        }
        outcome => {
            let known = run_failure(row).map_err(|error| error.failure())?;
            let mut why = known.unwrap_or_else(|| {
                let word = outcome.map_or_else(String::new, |outcome| outcome.to_string());
                Failure::new(FailureClass::Other, format!("run {} ended {word}", row.id))
            });
            // The failed run has ended, so waiting for it does not help.
            why.blocked = false;
            why.in_doubt = outcome == Some(Outcome::Interrupted);
            Err(why)
        }
    }
}
