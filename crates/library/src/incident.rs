//! Outages that affect several skills: people are told once, not once per skill.
//!
//! An incident begins with the first run that meets an outage and reports it. It ends when an affected skill
//! works again. Incidents are stored, so that other processes and the next start know them. Not here: which
//! failures are outages; the code that detects a failure decides that.

use std::collections::BTreeSet;

use deft_base::{Base, Error, read_setting};
use deft_model::Outage;
use deft_store::{SkillChange, SkillState};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::aftermath::is_folded;

/// Setting that holds the open incidents.
const SETTING: &str = "incidents";

/// Value of `told_by` for incidents that the health report found.
const REPORT: &str = "health report";

/// Skills that fail within this time of each other count as failing together.
const GROUP_WINDOW: SignedDuration = SignedDuration::from_mins(1);

/// An outage that was reported to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Incident {
    outage: Outage,
    since: Timestamp,
    /// What reported it: a run, or a check.
    told_by: String,
    /// Whether a check reports the end, no matter what skills do.
    #[serde(default)]
    watched: bool,
    /// The affected skills.
    skills: BTreeSet<String>,
}

/// The open incidents of a store.
pub struct Incidents {
    base: Base,
    /// Serializes access, so that only one of several runs that fail together reports the outage.
    turn: Mutex<()>,
}

impl Incidents {
    /// Returns the incidents of the store of `base`.
    pub fn new(base: Base) -> Self {
        Self {
            base,
            turn: Mutex::default(),
        }
    }

    /// Records that a run of a skill met an outage. Returns true if a run or a check has already reported it.
    pub async fn join(
        &self,
        outage: &Outage,
        skill: &str,
        run: &str,
        at: Timestamp,
    ) -> Result<bool, Error> {
        let _turn = self.turn.lock().await;
        let mut all = self.read().await?;
        let mut known = false;
        match all.iter_mut().find(|incident| incident.outage == *outage) {
            // A run whose end is stored at the second try sends the same notice as at the first.
            Some(incident) if incident.told_by == run => {}
            Some(incident) if self.is_open(incident, skill, at).await? => {
                known = true;
                incident.skills.insert(skill.to_owned());
            }
            _ => {
                all.retain(|incident| incident.outage != *outage);
                all.push(Incident {
                    outage: outage.clone(),
                    since: at,
                    told_by: run.to_owned(),
                    watched: false,
                    skills: BTreeSet::from([skill.to_owned()]),
                });
            }
        }
        self.keep(&all).await?;
        Ok(known)
    }

    /// Like [`join`](Self::join), for a check that reports the end itself.
    pub async fn watch(&self, outage: &Outage, check: &str, at: Timestamp) -> Result<bool, Error> {
        let _turn = self.turn.lock().await;
        let mut all = self.read().await?;
        if let Some(incident) = all.iter().find(|incident| incident.outage == *outage)
            && incident.told_by != check
            && self.is_open(incident, "", at).await?
        {
            return Ok(true);
        }
        all.retain(|incident| incident.outage != *outage);
        all.push(Incident {
            outage: outage.clone(),
            since: at,
            told_by: check.to_owned(),
            watched: true,
            skills: BTreeSet::new(),
        });
        self.keep(&all).await?;
        Ok(false)
    }

    /// Records that the health report announces an outage. The incident ends when an affected skill works
    /// again.
    pub async fn report(&self, outage: &Outage, at: Timestamp) -> Result<(), Error> {
        let _turn = self.turn.lock().await;
        let mut all = self.read().await?;
        all.retain(|incident| incident.outage != *outage);
        all.push(Incident {
            outage: outage.clone(),
            since: at,
            told_by: REPORT.to_owned(),
            watched: false,
            skills: BTreeSet::new(),
        });
        self.keep(&all).await
    }

    /// Ends an incident that the health report announced. Returns false if it had ended before.
    pub async fn end_reported(&self, outage: &Outage, at: Timestamp) -> Result<bool, Error> {
        let _turn = self.turn.lock().await;
        let mut all = self.read().await?;
        let over: Vec<Incident> = all
            .extract_if(.., |incident| {
                incident.told_by == REPORT && incident.outage == *outage
            })
            .collect();
        self.keep(&all).await?;
        for skill in over.iter().flat_map(|incident| &incident.skills) {
            self.forget_alert(skill, at).await?;
        }
        Ok(!over.is_empty())
    }

    /// Whether an open incident exists for an outage.
    pub async fn is_known(&self, outage: &Outage, at: Timestamp) -> Result<bool, Error> {
        let all = self.read().await?;
        match all.iter().find(|incident| incident.outage == *outage) {
            Some(incident) => self.is_open(incident, "", at).await,
            None => Ok(false),
        }
    }

    /// Ends the incidents that affected a skill which works again, and clears the alerts of the other
    /// affected skills. `None` if the skill was affected by no incident.
    pub async fn end_for(
        &self,
        skill: &str,
        at: Timestamp,
    ) -> Result<Option<EndedIncident>, Error> {
        let _turn = self.turn.lock().await;
        let mut all = self.read().await?;
        let over: Vec<Incident> = all
            .extract_if(.., |incident| {
                !incident.watched && incident.skills.contains(skill)
            })
            .collect();
        let watched = all.iter_mut().filter(|incident| incident.watched);
        let mut is_watched = false;
        for incident in watched {
            is_watched |= incident.skills.remove(skill);
        }
        if over.is_empty() && !is_watched {
            return Ok(None);
        }
        self.keep(&all).await?;
        let mut others: BTreeSet<String> = over
            .into_iter()
            .flat_map(|incident| incident.skills)
            .collect();
        others.remove(skill);
        for other in &others {
            self.forget_alert(other, at).await?;
        }
        Ok(Some(EndedIncident {
            others,
            notified_elsewhere: is_watched,
        }))
    }

    /// Ends an incident that a check reported.
    pub async fn end_watched(&self, outage: &Outage, at: Timestamp) -> Result<(), Error> {
        let _turn = self.turn.lock().await;
        let mut all = self.read().await?;
        let over: Vec<Incident> = all
            .extract_if(.., |incident| {
                incident.watched && incident.outage == *outage
            })
            .collect();
        self.keep(&all).await?;
        for skill in over.iter().flat_map(|incident| &incident.skills) {
            self.forget_alert(skill, at).await?;
        }
        Ok(())
    }

    /// Whether an incident is open: at most a day old, with at least one affected skill that still has an
    /// alert. A person may have enabled the skill that reported it.
    async fn is_open(&self, incident: &Incident, but: &str, at: Timestamp) -> Result<bool, Error> {
        if !is_folded(Some(incident.since), at) {
            return Ok(false);
        }
        // Runs that fail together get here before the alert of the first one is stored.
        if incident.watched || at.duration_since(incident.since) < GROUP_WINDOW {
            return Ok(true);
        }
        if incident.skills.is_empty() {
            // The health report has announced it, and no run has met it yet.
            return Ok(true);
        }
        for skill in incident.skills.iter().filter(|skill| *skill != but) {
            let row = self.base.store().skill(skill).await?;
            if row.is_some_and(|row| row.standing.alerted_at.is_some()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Clears the alert of a skill, so that it sends no recovery notice of its own.
    async fn forget_alert(&self, skill: &str, at: Timestamp) -> Result<(), Error> {
        let store = self.base.store();
        while let Some(row) = store.skill(skill).await? {
            if row.standing.alerted_at.is_none() {
                break;
            }
            let change = SkillChange {
                standing: SkillState {
                    alerted_at: None,
                    ..row.standing.clone()
                },
                timeline: None,
                at,
            };
            if store
                .change_skill(row.id, row.version, change)
                .await?
                .is_some()
            {
                break;
            }
        }
        Ok(())
    }

    async fn read(&self) -> Result<Vec<Incident>, Error> {
        let stored = read_setting(&**self.base.store(), SETTING).await?;
        Ok(stored.unwrap_or_default())
    }

    async fn keep(&self, all: &[Incident]) -> Result<(), Error> {
        let text = serde_json::to_string(all).unwrap_or_default();
        Ok(self.base.store().keep_setting(SETTING, &text).await?)
    }
}

/// The result of ending the incidents of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedIncident {
    /// The other affected skills.
    pub others: BTreeSet<String>,
    /// Whether a check reports the end.
    pub notified_elsewhere: bool,
}
