//! The health report (S0.76): every six hours the checks of `deft doctor` are made and compared with the
//! last report, and people are told what has changed.
//!
//! The host brings the checks. What people know from elsewhere, such as an outage that a run has met,
//! is not told again: one incident, one message. Not here: what is checked.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use deft_base::{Error, read_setting};
use deft_model::{Failure, Outage};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Scheduler;

/// Where the store keeps the last report.
const SETTING: &str = "health_report";

/// Checks whose findings may be told by a message of their own, or are spoiled by a look ahead.
const FAILING: &str = "skills.failing";
/// Nothing stops working because others can look inside the home; `deft doctor` tells.
const PRIVATE: &str = "home.private";
const CLOCK: &str = "clock.agrees";
const SERVERS: &str = "servers.answer";
const MODELS: &str = "models.answer";

/// The checks of a host.
pub trait Checks: Send + Sync + 'static {
    /// Makes all checks.
    fn check(&self) -> Pin<Box<dyn Future<Output = Result<Vec<Check>, Failure>> + Send + '_>>;
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its stable name.
    pub id: String,
    /// What it is about, where a check is made of several things, such as the server.
    #[serde(default)]
    pub subject: Option<String>,
    /// The verdict.
    pub status: CheckStatus,
    /// What was found, in a sentence.
    pub message: String,
    /// What a person can do about it.
    #[serde(default)]
    pub hint: Option<String>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckStatus {
    /// It is as it should be.
    #[serde(rename = "ok")]
    Good,
    /// It works, and something is worth knowing.
    #[serde(rename = "note")]
    Note,
    /// It does not work.
    #[serde(rename = "bad")]
    Bad,
}

/// The last report, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Report {
    /// When the next one is due.
    next_at: Timestamp,
    /// What does not work, by check and subject.
    bad: BTreeMap<String, Problem>,
}

/// Something that does not work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Problem {
    message: String,
    hint: Option<String>,
    /// The server that it is about.
    #[serde(default)]
    server: Option<String>,
    /// The report has told people of it.
    told: bool,
    /// People know of it from elsewhere.
    #[serde(skip)]
    known: bool,
}

/// What has changed since the last report.
#[derive(Debug, Default, PartialEq, Eq)]
struct Changes {
    new: Vec<Problem>,
    solved: Vec<Problem>,
}

impl Scheduler {
    /// Makes health reports when they are due.
    pub(crate) async fn watch_health(&self) -> Result<(), Error> {
        loop {
            let next = self.report_health(self.now()).await?;
            let Some(next) = next else {
                return Ok(());
            };
            self.clock().sleep_until(next).await;
        }
    }

    /// Makes the health report, if it is due, and tells people what has changed. The first one is due
    /// one interval after the first look. Says when the next one is due; never without checks.
    pub async fn report_health(&self, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        let every = self.engine.options().health_report;
        let every = every.and_then(|every| SignedDuration::try_from(every).ok());
        let (Some(checks), Some(every)) = (self.checks.as_ref(), every) else {
            return Ok(None);
        };
        let limit = after(now, every);
        match self.last_report().await? {
            Some(last) if last.next_at <= now => {
                let report = self.make_report(checks, last, every, now).await?;
                Ok(Some(report.next_at))
            }
            Some(last) if last.next_at <= limit => Ok(Some(last.next_at)),
            // The first look; or a clock that was wrong has planned a report further ahead.
            last => {
                let first = Report {
                    next_at: limit,
                    bad: last.map(|last| last.bad).unwrap_or_default(),
                };
                self.keep_report(&first).await?;
                Ok(Some(limit))
            }
        }
    }

    async fn make_report(
        &self,
        checks: &Arc<dyn Checks>,
        last: Report,
        every: SignedDuration,
        now: Timestamp,
    ) -> Result<Report, Error> {
        let found = checks.check().await;
        // Messages and incidents use the clock, also where schedules are tried out at another time.
        let (planned, now) = (now, self.now());
        let mut bad = self.problems(found, now).await?;
        let mut changes = compare(&last.bad, &mut bad);
        self.leave_out_known(&mut changes, now).await?;
        // The message first: should this process end in between, the next report finds the same
        // changes under the same key.
        if let Some((title, text)) = changes.words() {
            let key = format!("health {}", last.next_at);
            self.tell_health(key, title, text, now).await?;
        }
        // Runs that meet a server which was told of tell nothing more.
        for server in changes.new.into_iter().filter_map(|it| it.server) {
            let outage = Outage::Server(server);
            self.engine.incidents().report(&outage, now).await?;
        }
        let report = Report {
            next_at: next_on_grid(last.next_at, every, planned),
            bad,
        };
        self.keep_report(&report).await?;
        Ok(report)
    }

    /// What does not work. People know some of it already.
    async fn problems(
        &self,
        found: Result<Vec<Check>, Failure>,
        now: Timestamp,
    ) -> Result<BTreeMap<String, Problem>, Error> {
        let found = found.unwrap_or_else(|failure| {
            vec![Check {
                id: "doctor.runs".to_owned(),
                subject: None,
                status: CheckStatus::Bad,
                message: format!("the checks could not be made: {failure}"),
                hint: failure.hint,
            }]
        });
        let mut bad = BTreeMap::new();
        for check in found {
            if check.status != CheckStatus::Bad {
                continue;
            }
            let known = self.is_told_elsewhere(&check, now).await?;
            let server = check.subject.clone();
            let key = match &check.subject {
                Some(subject) => format!("{} {subject}", check.id),
                None => check.id.clone(),
            };
            let problem = Problem {
                message: check.message,
                hint: check.hint,
                server: server.filter(|_| check.id == SERVERS),
                told: false,
                known,
            };
            bad.insert(key, problem);
        }
        Ok(bad)
    }

    /// A server that a skill uses with success again was told of by that skill.
    async fn leave_out_known(&self, changes: &mut Changes, now: Timestamp) -> Result<(), Error> {
        let mut solved = Vec::new();
        for problem in std::mem::take(&mut changes.solved) {
            let open = match problem.server.clone() {
                Some(server) => {
                    let outage = Outage::Server(server);
                    self.engine.incidents().end_reported(&outage, now).await?
                }
                None => true,
            };
            solved.extend(open.then_some(problem));
        }
        changes.solved = solved;
        Ok(())
    }

    /// Whether people are told of a finding by a message of its own.
    async fn is_told_elsewhere(&self, check: &Check, now: Timestamp) -> Result<bool, Error> {
        let subject = check.subject.clone().unwrap_or_default();
        match check.id.as_str() {
            FAILING | PRIVATE => Ok(true),
            // `deft tick --now` settles slots ahead of the clock on purpose.
            CLOCK => Ok(self.engine.base().held_schedule_time().is_some()),
            SERVERS => {
                self.engine
                    .incidents()
                    .is_known(&Outage::Server(subject), now)
                    .await
            }
            MODELS => {
                self.engine
                    .incidents()
                    .is_known(&Outage::Model(subject), now)
                    .await
            }
            _ => Ok(false),
        }
    }

    async fn last_report(&self) -> Result<Option<Report>, Error> {
        read_setting(&**self.store(), SETTING).await
    }

    async fn keep_report(&self, report: &Report) -> Result<(), Error> {
        let text = serde_json::to_string(report).unwrap_or_default();
        Ok(self.store().keep_setting(SETTING, &text).await?)
    }
}

/// Compares two reports. New problems, and reported ones that are solved, are reported now.
fn compare(last: &BTreeMap<String, Problem>, bad: &mut BTreeMap<String, Problem>) -> Changes {
    let mut changes = Changes::default();
    for (key, problem) in bad.iter_mut() {
        match last.get(key) {
            Some(before) => problem.told = before.told,
            None if problem.known => {}
            None => {
                problem.told = true;
                changes.new.push(problem.clone());
            }
        }
    }
    let solved = last.iter();
    let solved = solved.filter(|(key, problem)| problem.told && !bad.contains_key(*key));
    changes
        .solved
        .extend(solved.map(|(_, problem)| problem.clone()));
    changes
}

impl Changes {
    /// The heading and the text of the message; none if nothing has changed.
    fn words(&self) -> Option<(String, String)> {
        let counts = [(self.new.len(), "new"), (self.solved.len(), "solved")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(n, word)| format!("{n} {word}")).collect();
        if counts.is_empty() {
            return None;
        }
        let new = self.new.iter().map(|problem| {
            let hint = problem.hint.as_deref();
            let hint = hint.map_or(String::new(), |hint| format!("\n  hint: {hint}"));
            format!("new: {}{hint}", problem.message)
        });
        let solved = self.solved.iter();
        let solved = solved.map(|problem| format!("solved: {}", problem.message));
        let lines: Vec<String> = new.chain(solved).collect();
        let title = format!("health report: {}", counts.join(", "));
        let text = format!("{}\n`deft doctor` shows all checks", lines.join("\n"));
        Some((title, text))
    }
}

/// The first instant of the grid that lies ahead.
fn next_on_grid(slot: Timestamp, every: SignedDuration, now: Timestamp) -> Timestamp {
    let passed = now.duration_since(slot).as_secs();
    let step = every.as_secs().max(1);
    let steps = i32::try_from(passed / step + 1).unwrap_or(i32::MAX);
    let ahead = every.saturating_mul(steps);
    slot.saturating_add(ahead).unwrap_or(Timestamp::MAX)
}

fn after(now: Timestamp, every: SignedDuration) -> Timestamp {
    now.saturating_add(every).unwrap_or(Timestamp::MAX)
}
