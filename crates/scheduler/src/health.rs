//! The health report (S0.76): every six hours the checks of `deft doctor` run, and people get a notice about
//! the differences from the last report.
//!
//! The host provides the checks. Problems that other notices have reported, such as an outage that a run has
//! met, are not reported again: one incident, one message. Not here: what is checked.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use deft_base::{Error, read_setting};
use deft_model::{Failure, Outage};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Scheduler;

/// Setting that holds the last report.
const SETTING: &str = "health_report";

/// Ids of checks whose problems other notices may already report, or whose result `deft tick --now` distorts.
const FAILING: &str = "skills.failing";
/// Not reported: nothing stops working when other users can read the home; `deft doctor` shows it.
const PRIVATE: &str = "home.private";
const CLOCK: &str = "clock.agrees";
const SERVERS: &str = "servers.answer";
const MODELS: &str = "models.answer";

/// The checks of the host.
pub trait Checks: Send + Sync + 'static {
    /// Runs all checks.
    fn check(&self) -> Pin<Box<dyn Future<Output = Result<Vec<Check>, Failure>> + Send + '_>>;
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its stable id.
    pub id: String,
    /// The subject, such as a server, if the check covers several.
    #[serde(default)]
    pub subject: Option<String>,
    /// The verdict.
    pub status: CheckStatus,
    /// The finding, in one sentence.
    pub message: String,
    /// The remedy, if known.
    #[serde(default)]
    pub hint: Option<String>,
}

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckStatus {
    /// The check passed.
    #[serde(rename = "ok")]
    Good,
    /// It works, with a remark.
    #[serde(rename = "note")]
    Note,
    /// It does not work.
    #[serde(rename = "bad")]
    Bad,
}

/// The last report, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Report {
    /// When the next report is due.
    next_at: Timestamp,
    /// Problems by check and subject.
    bad: BTreeMap<String, Problem>,
}

/// A failed check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Problem {
    message: String,
    hint: Option<String>,
    /// The server that the problem is about.
    #[serde(default)]
    server: Option<String>,
    /// Whether a report has notified people about it.
    notified: bool,
    /// Whether another notice has notified people about it.
    #[serde(skip)]
    known: bool,
}

/// Differences from the last report.
#[derive(Debug, Default, PartialEq, Eq)]
struct Changes {
    new: Vec<Problem>,
    solved: Vec<Problem>,
}

impl Scheduler {
    /// Makes health reports when they are due, until cancelled.
    pub(crate) async fn watch_health(&self) -> Result<(), Error> {
        loop {
            let next = self.report_health(self.now()).await?;
            let Some(next) = next else {
                return Ok(());
            };
            self.clock().sleep_until(next).await;
        }
    }

    /// Makes the health report if it is due, and sends a notice about the changes. The first report is due
    /// one interval after the first call. Returns when the next report is due; `None` without checks.
    pub async fn report_health(&self, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        let every = self.engine.options().health_report;
        let every = every.and_then(|every| SignedDuration::try_from(every).ok());
        let (Some(checks), Some(every)) = (self.checks.as_ref(), every) else {
            return Ok(None);
        };
        let limit = next_check(now, every);
        match self.last_report().await? {
            Some(last) if last.next_at <= now => {
                let report = self.make_report(checks, last, every, now).await?;
                Ok(Some(report.next_at))
            }
            Some(last) if last.next_at <= limit => Ok(Some(last.next_at)),
            // No report yet, or a clock that was wrong has planned the next one too far ahead.
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
        // Notices and incidents use the clock, even when schedules are tried out at another time.
        let (planned, now) = (now, self.now());
        let mut bad = self.problems(found, now).await?;
        let mut changes = compare(&last.bad, &mut bad);
        self.leave_out_known(&mut changes, now).await?;
        // Send the notice first: if this process ends before the report is stored, the next report finds the
        // same changes and uses the same key.
        if let Some((title, text)) = changes.words() {
            let key = format!("health {}", last.next_at);
            self.send_health_notice(key, title, text, now).await?;
        }
        // Runs that meet a reported server send no further notice.
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

    /// Returns the failed checks, marked as known if another notice reports them.
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
                message: format!("the checks failed to run: {failure}"),
                hint: failure.hint,
            }]
        });
        let mut bad = BTreeMap::new();
        for check in found {
            if check.status != CheckStatus::Bad {
                continue;
            }
            let known = self.has_other_notice(&check, now).await?;
            let server = check.subject.clone();
            let key = match &check.subject {
                Some(subject) => format!("{} {subject}", check.id),
                None => check.id.clone(),
            };
            let problem = Problem {
                message: check.message,
                hint: check.hint,
                server: server.filter(|_| check.id == SERVERS),
                notified: false,
                known,
            };
            bad.insert(key, problem);
        }
        Ok(bad)
    }

    /// Drops solved problems that a skill has already reported by using the server with success.
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

    /// Whether another notice tells people about the finding.
    async fn has_other_notice(&self, check: &Check, now: Timestamp) -> Result<bool, Error> {
        let subject = check.subject.clone().unwrap_or_default();
        match check.id.as_str() {
            FAILING | PRIVATE => Ok(true),
            // `deft tick --now` decides slots ahead of the clock on purpose.
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

/// Compares two reports. New problems, and solved ones that were reported, are the changes.
fn compare(last: &BTreeMap<String, Problem>, bad: &mut BTreeMap<String, Problem>) -> Changes {
    let mut changes = Changes::default();
    for (key, problem) in bad.iter_mut() {
        match last.get(key) {
            Some(before) => problem.notified = before.notified,
            None if problem.known => {}
            None => {
                problem.notified = true;
                changes.new.push(problem.clone());
            }
        }
    }
    let solved = last.iter();
    let solved = solved.filter(|(key, problem)| problem.notified && !bad.contains_key(*key));
    changes
        .solved
        .extend(solved.map(|(_, problem)| problem.clone()));
    changes
}

impl Changes {
    /// Returns the title and the text of the notice; `None` if nothing has changed.
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

/// Returns the first instant after `now` that is a multiple of `every` away from `slot`.
fn next_on_grid(slot: Timestamp, every: SignedDuration, now: Timestamp) -> Timestamp {
    let passed = now.duration_since(slot).as_secs();
    let step = every.as_secs().max(1);
    let steps = i32::try_from(passed / step + 1).unwrap_or(i32::MAX);
    let ahead = every.saturating_mul(steps);
    slot.saturating_add(ahead).unwrap_or(Timestamp::MAX)
}

fn next_check(now: Timestamp, every: SignedDuration) -> Timestamp {
    now.saturating_add(every).unwrap_or(Timestamp::MAX)
}
