//! Background jobs (S0.77 to S0.82): one-off work that a caller queues and looks up later.
//!
//! A job is a run like any other, of a skill that exists only for it. Nothing here drives runs.

use std::sync::Arc;

use deft_library::with_authority;
use deft_model::{Authority, Body, Dialect, Object, Outcome, RunStatus, Skill, SkillId};
use deft_records::NormalisedRecord;
use deft_store::{RunFilter, RunRow};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{Admission, Engine, Error, Fire, JOB_SKILL};

/// How many jobs may be running at once (S0.80).
const AT_ONCE: u32 = 10;

impl Engine {
    /// Queues a background job of a person, as `queue_task` takes it.
    pub async fn queue_task(&self, args: &Object) -> Result<RunRow, Error> {
        self.queue_task_as(args, None).await
    }

    /// Queues a background job with the rights of the agent that queues it.
    pub(crate) async fn queue_task_as(
        &self,
        args: &Object,
        by: Option<&Authority>,
    ) -> Result<RunRow, Error> {
        let record = deft_records::job(args).map_err(Error::Refused)?;
        let normalised = NormalisedRecord {
            record,
            applied: Vec::new(),
        };
        let checked = self.library().check(&normalised).await?;
        let skill = with_authority(checked.skill, by.cloned());
        let run = self.queue_job(skill, "job").await?;
        self.inner.base.bells().ring_all();
        Ok(run)
    }

    /// Stores a job for a process that drives runs.
    pub async fn queue_job(&self, mut skill: Skill, cause: &str) -> Result<RunRow, Error> {
        skill.id = SkillId::new(JOB_SKILL);
        // A plan returns the result of every step; a workflow needs outputs for that.
        if let Body::Steps(workflow) = &mut skill.body
            && workflow.outputs.is_empty()
            && skill.dialect != Dialect::Record
        {
            let outputs = workflow.steps.iter();
            let outputs = outputs.map(|step| (step.id.clone(), format!("{{{{ {} }}}}", step.id)));
            workflow.outputs = outputs.map(|(id, text)| (id, text.into())).collect();
        }
        let mut policy = (*skill.policy).clone();
        policy.concurrency = Some(AT_ONCE);
        skill.policy = Arc::new(policy);
        let fire = Fire {
            skill: JOB_SKILL.to_owned(),
            content: Some(Arc::new(skill)),
            cause: cause.to_owned(),
            ..Fire::default()
        };
        match self.admit(fire).await? {
            Admission::Run(run) | Admission::Existing(run) => Ok(run),
        }
    }

    /// All jobs, newest first.
    pub async fn jobs(&self, limit: Option<u32>) -> Result<Vec<RunRow>, Error> {
        let filter = RunFilter {
            skill: Some(JOB_SKILL.to_owned()),
            limit,
            ..RunFilter::default()
        };
        Ok(self.store().runs(filter).await?)
    }

    /// A job in the words of the seeds.
    pub async fn job_json(&self, run: &RunRow) -> Value {
        let skill = self.inner.library.pinned(&run.skill, &run.revision).await;
        let name = skill.map_or_else(|_| JOB_SKILL.to_owned(), |pinned| pinned.skill.name.clone());
        let read = |text: &Option<String>| {
            let value = text.as_deref().map(serde_json::from_str::<Value>);
            value.and_then(Result::ok)
        };
        let error = read(&run.error);
        let duration = run
            .finished_at
            .zip(run.started_at)
            .map(|(end, start)| end.duration_since(start).as_millis());
        json!({
            "taskId": run.id.as_str(),
            "name": name,
            "status": word(run),
            "result": read(&run.outputs),
            "error": error.map(|error| error["message"].clone()),
            "duration": duration.map(|ms| u64::try_from(ms).unwrap_or_default()),
            "createdAt": run.admitted_at.to_string(),
            "startedAt": run.started_at.map(|at| at.to_string()),
            "completedAt": run.finished_at.map(|at| at.to_string()),
        })
    }

    /// Lets no job begin until `resume_jobs` (S0.81). What runs goes on.
    pub async fn halt_jobs(&self) -> Result<(), Error> {
        Ok(self.store().hold(JOB_SKILL, true, self.inner.now()).await?)
    }

    /// Lets jobs begin again.
    pub async fn resume_jobs(&self) -> Result<(), Error> {
        self.store()
            .hold(JOB_SKILL, false, self.inner.now())
            .await?;
        self.inner.base.bells().ring_all();
        Ok(())
    }

    /// Since when jobs are halted.
    pub async fn jobs_halted(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.store().held(JOB_SKILL).await?)
    }
}

/// The seeds' word for where a job stands (S0.79).
fn word(run: &RunRow) -> &'static str {
    match (run.status, run.outcome) {
        (RunStatus::Queued, _) => "queued",
        (RunStatus::Running | RunStatus::Waiting, _) => "running",
        (RunStatus::Done, Some(Outcome::Success)) => "completed",
        (RunStatus::Done, _) => "failed",
    }
}
