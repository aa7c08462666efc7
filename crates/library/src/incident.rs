//! Outages that affect several skills: people are told once, not once per skill.
//!
//! An incident begins with the first run that meets an outage and reports it. It ends when an affected skill
//! works again. Incidents are stored, so that other processes and the next start know them; of several
//! processes whose runs fail together, one reports the outage. Not here: which failures are outages; the code
//! that detects a failure decides that.

use std::collections::BTreeSet;

use deft_base::{Base, Error, read_stored};
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

/// The incidents with the text that they were read from.
struct StoredIncidents {
    text: Option<String>,
    all: Vec<Incident>,
}

/// The open incidents of a store.
pub struct Incidents {
    base: Base,
    /// Serializes the changes of this process, so that they need no second attempt.
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
        loop {
            let mut stored = self.load().await?;
            let all = &mut stored.all;
            let known = match all.iter_mut().find(|incident| incident.outage == *outage) {
                // A run whose end is stored at the second try sends the same notice as at the first.
                Some(incident) if incident.told_by == run => false,
                Some(incident) if self.is_open(incident, skill, at).await? => {
                    incident.skills.insert(skill.to_owned());
                    true
                }
                _ => {
                    let skills = BTreeSet::from([skill.to_owned()]);
                    replace_incident(all, Incident::new(outage, run, skills, at));
                    false
                }
            };
            if self.save(&stored).await? {
                return Ok(known);
            }
        }
    }

    /// Like [`join`](Self::join), for a check that reports the end itself.
    pub async fn watch(&self, outage: &Outage, check: &str, at: Timestamp) -> Result<bool, Error> {
        let _turn = self.turn.lock().await;
        loop {
            let mut stored = self.load().await?;
            let mut all = stored.all.iter();
            if let Some(incident) = all.find(|incident| incident.outage == *outage)
                && incident.told_by != check
                && self.is_open(incident, "", at).await?
            {
                return Ok(true);
            }
            let mut incident = Incident::new(outage, check, BTreeSet::new(), at);
            incident.watched = true;
            replace_incident(&mut stored.all, incident);
            if self.save(&stored).await? {
                return Ok(false);
            }
        }
    }

    /// Records that the health report announces an outage. The incident ends when an affected skill works
    /// again.
    pub async fn report(&self, outage: &Outage, at: Timestamp) -> Result<(), Error> {
        let _turn = self.turn.lock().await;
        loop {
            let mut stored = self.load().await?;
            let incident = Incident::new(outage, REPORT, BTreeSet::new(), at);
            replace_incident(&mut stored.all, incident);
            if self.save(&stored).await? {
                return Ok(());
            }
        }
    }

    /// Ends an incident that the health report announced. Returns false if it had ended before.
    pub async fn end_reported(&self, outage: &Outage, at: Timestamp) -> Result<bool, Error> {
        let is_over =
            |incident: &Incident| incident.told_by == REPORT && incident.outage == *outage;
        self.end_all(is_over, at).await
    }

    /// Whether an open incident exists for an outage.
    pub async fn is_known(&self, outage: &Outage, at: Timestamp) -> Result<bool, Error> {
        let all = self.load().await?.all;
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
        loop {
            let mut stored = self.load().await?;
            let is_over =
                |incident: &mut Incident| !incident.watched && incident.skills.contains(skill);
            let ended: Vec<Incident> = stored.all.extract_if(.., is_over).collect();
            let mut is_watched = false;
            for incident in stored.all.iter_mut().filter(|incident| incident.watched) {
                is_watched |= incident.skills.remove(skill);
            }
            let mut others = affected_skills(&ended);
            others.remove(skill);
            if self.end(&stored, &others, at).await? {
                return Ok((!ended.is_empty() || is_watched).then_some(EndedIncident {
                    others,
                    notified_elsewhere: is_watched,
                }));
            }
        }
    }

    /// Ends an incident that a check reported.
    pub async fn end_watched(&self, outage: &Outage, at: Timestamp) -> Result<(), Error> {
        let is_over = |incident: &Incident| incident.watched && incident.outage == *outage;
        self.end_all(is_over, at).await.map(drop)
    }

    /// Ends incidents and clears the alerts of all affected skills. Returns whether there were any.
    async fn end_all(
        &self,
        is_over: impl Fn(&Incident) -> bool,
        at: Timestamp,
    ) -> Result<bool, Error> {
        let _turn = self.turn.lock().await;
        loop {
            let mut stored = self.load().await?;
            let ended = stored.all.extract_if(.., |incident| is_over(incident));
            let ended: Vec<Incident> = ended.collect();
            if self.end(&stored, &affected_skills(&ended), at).await? {
                return Ok(!ended.is_empty());
            }
        }
    }

    /// Clears the alerts of the skills of ended incidents, and stores the remaining incidents like
    /// [`save`](Self::save). The alerts come first: a skill that works again in the meantime must find the
    /// incident or no alert, or it would send a notice of its own.
    async fn end(
        &self,
        remaining: &StoredIncidents,
        skills: &BTreeSet<String>,
        at: Timestamp,
    ) -> Result<bool, Error> {
        for skill in skills {
            self.forget_alert(skill, at).await?;
        }
        self.save(remaining).await
    }

    async fn load(&self) -> Result<StoredIncidents, Error> {
        let text = self.base.store().setting(SETTING).await?;
        let read = |text: &String| read_stored(text, || format!("the setting `{SETTING}`"));
        let all = text.as_ref().map(read).transpose()?.unwrap_or_default();
        Ok(StoredIncidents { text, all })
    }

    /// Stores changed incidents. Returns false if another process has changed them since they were loaded.
    async fn save(&self, stored: &StoredIncidents) -> Result<bool, Error> {
        let after = serde_json::to_string(&stored.all).unwrap_or_default();
        let before = stored.text.as_deref();
        if before.unwrap_or("[]") == after {
            return Ok(true);
        }
        let replaced = self.base.store().replace_setting(SETTING, before, &after);
        Ok(replaced.await?)
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
}

impl Incident {
    /// Returns an incident whose end no check reports.
    fn new(outage: &Outage, told_by: &str, skills: BTreeSet<String>, since: Timestamp) -> Self {
        Self {
            outage: outage.clone(),
            since,
            told_by: told_by.to_owned(),
            watched: false,
            skills,
        }
    }
}

/// Adds an incident in the place of an older one of the same outage.
fn replace_incident(all: &mut Vec<Incident>, new: Incident) {
    all.retain(|incident| incident.outage != new.outage);
    all.push(new);
}

fn affected_skills(incidents: &[Incident]) -> BTreeSet<String> {
    let skills = incidents.iter().flat_map(|incident| &incident.skills);
    skills.cloned().collect()
}

/// The result of ending the incidents of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedIncident {
    /// The other affected skills.
    pub others: BTreeSet<String>,
    /// Whether a check reports the end.
    pub notified_elsewhere: bool,
}
