//! Background jobs (S0.77 to S0.82): one-off work that a caller queues and looks up later.
//!
//! A job is a run like any other, of a skill that exists only for it. Nothing here drives runs.

use std::sync::Arc;

use deft_base::{run_failure, run_outputs};
use deft_library::with_authority;
use deft_model::{Authority, Cause, Object, Outcome, RunOrigin, RunStatus, Skill, SkillId};
use deft_records::NormalisedRecord;
use deft_store::{RunFilter, RunRow};
use deft_wire::job::{JobStatus, JobView};
use jiff::Timestamp;

use crate::{Admission, Engine, Error, Fire, JOB_SKILL};

/// Maximum number of jobs that run at once (S0.80).
const MAX_RUNNING_JOBS: u32 = 10;

impl Engine {
    /// Queues a background job for a person, with the arguments of the `queue_task` tool.
    pub async fn queue_task(&self, args: &Object, origin: RunOrigin) -> Result<RunRow, Error> {
        self.queue_task_as(args, None, origin).await
    }

    /// Queues a background job with the rights of the agent that queues it.
    pub(crate) async fn queue_task_as(
        &self,
        args: &Object,
        by: Option<&Authority>,
        origin: RunOrigin,
    ) -> Result<RunRow, Error> {
        let record = deft_records::job(args).map_err(Error::Refused)?;
        let normalised = NormalisedRecord {
            record,
            applied: Vec::new(),
            zone_added: false,
        };
        let checked = self.library().check(&normalised).await?;
        let skill = with_authority(checked.skill, by.cloned());
        let run = self.queue_job(skill, origin).await?;
        self.inner.base.bells().ring_all();
        Ok(run)
    }

    /// Stores a job for a process that drives runs.
    async fn queue_job(&self, mut skill: Skill, origin: RunOrigin) -> Result<RunRow, Error> {
        skill.id = SkillId::new(JOB_SKILL);
        let mut policy = (*skill.policy).clone();
        policy.concurrency = Some(MAX_RUNNING_JOBS);
        skill.policy = Arc::new(policy);
        let fire = Fire {
            skill: JOB_SKILL.to_owned(),
            content: Some(Arc::new(skill)),
            cause: Cause::Job,
            origin,
            ..Fire::default()
        };
        match self.admit(fire).await? {
            Admission::Run(run) | Admission::Existing(run) => Ok(run),
        }
    }

    /// Returns all jobs, newest first.
    pub async fn jobs(&self, limit: Option<u32>) -> Result<Vec<RunRow>, Error> {
        let filter = RunFilter {
            skill: Some(JOB_SKILL.to_owned()),
            limit,
            ..RunFilter::default()
        };
        Ok(self.store().runs(filter).await?)
    }

    /// Returns a job in the words of the seeds.
    pub async fn job(&self, run: &RunRow) -> Result<JobView, Error> {
        let skill = self
            .inner
            .library
            .find_pinned(&run.skill, &run.revision)
            .await;
        let name = skill.map_or_else(|_| JOB_SKILL.to_owned(), |pinned| pinned.skill.name.clone());
        let duration = run
            .finished_at
            .zip(run.started_at)
            .map(|(end, start)| end.duration_since(start).as_millis());
        Ok(JobView {
            task_id: run.id.clone(),
            name,
            status: status(run),
            result: run_outputs(run)?.unwrap_or_default(),
            error: run_failure(run)?.map(|failure| failure.message),
            duration: duration.map(|ms| u64::try_from(ms).unwrap_or_default()),
            created_at: run.admitted_at,
            started_at: run.started_at,
            completed_at: run.finished_at,
        })
    }

    /// Keeps queued jobs from starting until `resume_jobs` (S0.81). Running jobs continue.
    pub async fn halt_jobs(&self) -> Result<(), Error> {
        Ok(self.store().hold(JOB_SKILL, true, self.inner.now()).await?)
    }

    /// Lets queued jobs start again.
    pub async fn resume_jobs(&self) -> Result<(), Error> {
        self.store()
            .hold(JOB_SKILL, false, self.inner.now())
            .await?;
        self.inner.base.bells().ring_all();
        Ok(())
    }

    /// Returns since when jobs are halted; `None` if they are not.
    pub async fn jobs_halted(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.store().held_since(JOB_SKILL).await?)
    }
}

fn status(run: &RunRow) -> JobStatus {
    match (run.status, run.outcome) {
        (RunStatus::Queued, _) => JobStatus::Queued,
        (RunStatus::Running | RunStatus::Waiting, _) => JobStatus::Running,
        (RunStatus::Done, Some(Outcome::Success)) => JobStatus::Completed,
        (RunStatus::Done, _) => JobStatus::Failed,
    }
}
