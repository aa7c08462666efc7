//! deft's own tools: assistants use them to store, change and list skills, and to queue jobs. They are
//! registered in the router like any other tool.

use std::sync::{Arc, Weak};

use deft_agents::{OwnTool, RecordTool};
use deft_library::{NamedSkill, StoredSkill, is_file_removed};
use deft_model::{Body, DisabledReason, Failure, FailureClass, Object};
use deft_records::{Target, target, tool_schemas};
use deft_registry::LoadedSkill;
use deft_store::{SkillFilter, SkillOrigin, SkillRow};
use deft_tools::{Context, Definition, Router};
use deft_wire::own_tools::{SkillDeletedResult, SkillListResult, SkillResult, SkillStoredResult};
use serde_json::{Value, json};

use crate::agent::origin;
use crate::engine::Inner;
use crate::{Engine, Error, JOB_SKILL};

/// Row id of a file skill that the store does not have.
pub(crate) const UNSTORED: i64 = 0;

impl Engine {
    /// Registers deft's own tools in the router.
    pub fn register_tools(&self) {
        self.register_agent_tools();
        self.agents().register_memory_tools();
        for schema in tool_schemas() {
            let Some(tool) = RecordTool::from_name(schema.name) else {
                continue;
            };
            // `deft-records` repairs and reports wrong arguments.
            let definition = Definition::new(
                schema.name,
                schema.description,
                tool.effects(),
                schema.input,
            )
            .skip_check();
            // The router belongs to the engine, so its tools must not keep the engine alive.
            let engine = Arc::downgrade(&self.inner);
            self.router()
                .register_fn(definition, move |args: Object, context: Context| {
                    call(engine.clone(), tool, args, context)
                });
        }
    }
}

/// Whether a tool needs the engine: to do its work, or to deliver its notice.
pub fn needs_engine(tool: &str) -> bool {
    OwnTool::from_name(tool).is_some() || tool == "notify"
}

/// Registers deft's own tools in a router used only for lookups.
pub fn show_own_tools(router: &Router) {
    crate::agent::show_agent_tools(router);
    deft_agents::show_memory_tools(router);
    for schema in tool_schemas() {
        let Some(tool) = RecordTool::from_name(schema.name) else {
            continue;
        };
        let definition = Definition::new(
            schema.name,
            schema.description,
            tool.effects(),
            schema.input,
        );
        router.register_fn(definition, |_: Object, _: Context| async {
            Err(Failure::new(
                FailureClass::Other,
                "the engine is not available",
            ))
        });
    }
}

async fn call(
    engine: Weak<Inner>,
    tool: RecordTool,
    args: Object,
    context: Context,
) -> Result<Value, Failure> {
    let inner = engine
        .upgrade()
        .ok_or_else(|| Failure::new(FailureClass::Cancelled, "deft is shutting down"))?;
    let engine = Engine { inner };
    engine
        .own_tool(tool, &args, &context)
        .await
        .map_err(|error| error.failure())
}

impl Engine {
    async fn own_tool(
        &self,
        tool: RecordTool,
        args: &Object,
        context: &Context,
    ) -> Result<Value, Error> {
        let by = context.authority.as_deref();
        match tool {
            RecordTool::StoreSkill => {
                let stored = self.library().store_skill_as(args, by).await?;
                Ok(json!(self.stored_result(stored).await?))
            }
            RecordTool::UpdateSkill => {
                let (target, changes) = split_target(args)?;
                let stored = self
                    .library()
                    .update_skill_as(&target, &changes, by)
                    .await?;
                Ok(json!(self.stored_result(stored).await?))
            }
            RecordTool::ListSkills => Ok(json!(self.list_result(args).await?)),
            RecordTool::GetSkill => {
                let (target, _) = split_target(args)?;
                let row = match self.inner.library.look_up_target(&target).await? {
                    NamedSkill::Record(row) | NamedSkill::FileMissing(row) => row,
                    NamedSkill::File(loaded, row) => self.inner.row_or_new(&loaded, row),
                };
                Ok(json!(SkillResult {
                    success: true,
                    skill: self.stored_skill(&row).await?,
                }))
            }
            RecordTool::DeleteSkill => {
                let (target, _) = split_target(args)?;
                let row = self.library().delete_skill_as(&target, by).await?;
                let skill = &row.text.skill;
                let note = match row.text.origin {
                    SkillOrigin::Record => None,
                    SkillOrigin::File => Some(format!(
                        "its file stays; a person can restore it with `deft skills enable {skill}`"
                    )),
                };
                Ok(json!(SkillDeletedResult {
                    success: true,
                    deleted: row.text.name,
                    id: row.id,
                    note,
                }))
            }
            RecordTool::QueueTask => {
                let run = self.queue_task_as(args, by, origin(context)).await?;
                Ok(json!(self.job(&run).await?))
            }
            RecordTool::GetJobStatus => {
                let id = args.get("taskId").or_else(|| args.get("task_id"));
                let id = id.and_then(Value::as_str).unwrap_or_default();
                let run = self.find_run(id).await?;
                if run.skill != JOB_SKILL {
                    return Err(Error::UnknownRun { id: id.to_owned() });
                }
                Ok(json!(self.job(&run).await?))
            }
        }
    }

    async fn stored_result(&self, stored: StoredSkill) -> Result<SkillStoredResult, Error> {
        let mut skill = self.stored_skill(&stored.row).await?;
        // A model cannot change its own rights, and every word of a result costs.
        skill.authority = None;
        skill.grants = None;
        Ok(SkillStoredResult {
            success: true,
            id: stored.row.id,
            stored: stored.words,
            normalised: stored.normalised,
            waits_for: stored.missing_tools,
            skill,
        })
    }

    async fn list_result(&self, args: &Object) -> Result<SkillListResult, Error> {
        let wanted = deft_records::filter(args).map_err(Error::Refused)?;
        let filter = SkillFilter {
            enabled: wanted.enabled,
            trigger: wanted.trigger,
            agent_id: wanted.agent_id,
            origin: Some(SkillOrigin::Record),
            ..SkillFilter::default()
        };
        let records = self.library().list_skills(filter.clone()).await?;
        let files = self.list_files(&filter).await?;
        let mut skills = Vec::new();
        for row in records.iter().chain(&files) {
            skills.push(self.stored_skill(row).await?);
        }
        Ok(SkillListResult {
            success: true,
            count: skills.len(),
            skills,
        })
    }

    /// Returns the rows of file skills that match, timed ones first, including skills that the store does not
    /// have and skills whose file was removed. Man pages are excluded: they are commands, which `get_skill`
    /// lists.
    async fn list_files(&self, filter: &SkillFilter) -> Result<Vec<SkillRow>, Error> {
        self.inner.library.read_overlays().await?;
        let snapshot = self.inner.library.snapshot();
        let gone = SkillFilter {
            origin: Some(SkillOrigin::File),
            disabled: Some(DisabledReason::FileRemoved),
            ..SkillFilter::default()
        };
        let mut rows = self.library().list_skills(gone).await?;
        rows.retain(|row| snapshot.skill(&row.text.skill).is_none());
        for loaded in snapshot.skills() {
            if matches!(loaded.skill.body, Body::Manual { .. }) {
                continue;
            }
            let row = self.store().skill(loaded.skill.id.as_str()).await?;
            if row
                .as_ref()
                .is_none_or(|row| row.text.origin == SkillOrigin::File)
            {
                rows.push(self.inner.row_or_new(loaded, row));
            }
        }
        rows.retain(|row| {
            let enabled = row.standing.disabled.is_none();
            let trigger = filter.trigger;
            let agent = filter.agent_id.as_ref();
            filter.enabled.is_none_or(|wanted| wanted == enabled)
                && trigger.is_none_or(|wanted| wanted == row.text.trigger)
                && agent.is_none_or(|wanted| *wanted == row.text.agent_id)
        });
        rows.sort_by_key(|row| row.text.timing.is_none());
        Ok(rows)
    }
}

impl Inner {
    /// Returns the row of a file skill; if the store has none, a new one that is not stored.
    fn row_or_new(&self, loaded: &LoadedSkill, row: Option<SkillRow>) -> SkillRow {
        if let Some(row) = row.filter(|row| !is_file_removed(row)) {
            return row;
        }
        let new = self.library.new_file(loaded, self.now());
        SkillRow {
            id: UNSTORED,
            text: new.text,
            standing: new.standing,
            timeline: new.timeline,
            created_at: new.at,
            updated_at: new.at,
            version: 0,
        }
    }
}

/// Returns the skill that the arguments name, and the other arguments.
fn split_target(args: &Object) -> Result<(Target, Object), Error> {
    match target(args) {
        (Some(target), rest) => Ok((target, rest)),
        (None, _) => Err(Error::NoTarget),
    }
}
