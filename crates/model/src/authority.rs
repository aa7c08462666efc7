//! The rights of a skill, job or run: those of the agent that stored or started it.
//!
//! Not here: which tools there are and which of them are destructive (the engine asks the router),
//! asking a person.

use serde::{Deserialize, Serialize};

use crate::fits;

/// The rights of an agent where it worked. Everything that the agent stores, queues, runs or
/// dispatches carries them, so that none of it may do more than the agent could do by a direct call.
///
/// A skill that a person stored, wrote or imported, and a run that a person or a schedule of such a
/// skill started, carries none: it has the rights of that person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authority {
    /// The agent.
    pub agent: String,
    /// Whether a person could be asked where the agent worked.
    #[serde(default)]
    pub attended: bool,
    /// Lists of names and patterns. Each of them must name a tool that is called; without a list
    /// every tool may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Vec<String>>,
    /// Tools that need a person's yes: names, patterns, or `destructive`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approve: Vec<String>,
    /// Whether a tool whose server does not say that it destroys nothing needs a person's yes too: an
    /// agent in a chat, where a person can be asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_unannotated: bool,
    /// Skills that may be run by name; `None` means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Whether skills and jobs may be stored.
    #[serde(default)]
    pub may_schedule: bool,
    /// Tools that a person has agreed to for this one job or run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreed: Vec<String>,
    /// The revision of the skill that the person agreed to; none where there is no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed_to: Option<String>,
}

impl Authority {
    /// An authority that allows no tool, no skill and no schedule.
    pub fn none() -> Self {
        Self {
            tools: vec![Vec::new()],
            skills: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Whether a tool may be called, given all names it goes by.
    pub fn allows(&self, names: &[&str]) -> bool {
        self.tools.iter().all(|list| names_one(list, names))
    }

    /// Whether a person has agreed to calls of a tool, given all names it goes by.
    pub fn has_agreed(&self, names: &[&str]) -> bool {
        names
            .iter()
            .any(|name| self.agreed.iter().any(|agreed| agreed == name))
    }

    /// Whether a skill may be run by its name.
    pub fn may_run(&self, skill: &str) -> bool {
        let Some(skills) = &self.skills else {
            return true;
        };
        skills.iter().any(|allowed| allowed == skill)
    }

    /// What both allow. A person's yes is for everything in the run it was given for.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.attended &= other.attended;
        both.ask_unannotated |= other.ask_unannotated;
        both.may_schedule &= other.may_schedule;
        for list in &other.tools {
            if !both.tools.contains(list) {
                both.tools.push(list.clone());
            }
        }
        for pattern in &other.approve {
            if !both.approve.contains(pattern) {
                both.approve.push(pattern.clone());
            }
        }
        both.skills = match (both.skills.take(), &other.skills) {
            (Some(mut mine), Some(theirs)) => {
                mine.retain(|skill| theirs.contains(skill));
                Some(mine)
            }
            (mine, theirs) => mine.or_else(|| theirs.clone()),
        };
        both.agreed.extend(other.agreed.iter().cloned());
        both
    }

    /// The same for a skill that a person wrote: which tools it calls is the person's decision, the
    /// approvals of the agent that runs it still apply. The person knows the tools, also those whose
    /// servers say nothing about them.
    #[must_use]
    pub fn over_a_persons_skill(&self) -> Self {
        Self {
            tools: Vec::new(),
            ask_unannotated: false,
            ..self.clone()
        }
    }

    /// The same for a run of a revision: a person's agreement counts only if the question named that
    /// revision.
    #[must_use]
    pub fn agreed_for(&self, revision: &str) -> Self {
        if self.agreed_to.as_deref() == Some(revision) {
            return self.clone();
        }
        self.not_agreed()
    }

    /// The same, without what a person agreed to.
    #[must_use]
    pub fn not_agreed(&self) -> Self {
        Self {
            agreed: Vec::new(),
            agreed_to: None,
            ..self.clone()
        }
    }
}

fn names_one(list: &[String], names: &[&str]) -> bool {
    list.iter()
        .any(|pattern| names.iter().any(|name| fits(pattern, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn both_allow_what_each_allows() {
        let chat = Authority {
            agent: "thinker".to_owned(),
            attended: true,
            tools: vec![owned(&["mail_*", "notify"])],
            approve: owned(&["destructive"]),
            ask_unannotated: true,
            skills: None,
            may_schedule: true,
            agreed: owned(&["mail_send"]),
            agreed_to: None,
        };
        let fired = Authority {
            agent: "night".to_owned(),
            attended: false,
            tools: vec![owned(&["mail_send", "wipe"])],
            approve: owned(&["destructive", "mail_send"]),
            ask_unannotated: false,
            skills: Some(owned(&["digest"])),
            may_schedule: false,
            agreed: Vec::new(),
            agreed_to: None,
        };
        let both = Authority {
            agent: "thinker".to_owned(),
            attended: false,
            tools: vec![owned(&["mail_*", "notify"]), owned(&["mail_send", "wipe"])],
            approve: owned(&["destructive", "mail_send"]),
            ask_unannotated: true,
            skills: Some(owned(&["digest"])),
            may_schedule: false,
            agreed: owned(&["mail_send"]),
            agreed_to: None,
        };
        assert_eq!(chat.and(&fired), both);
        let allowed = ["mail_send", "mail_list", "notify", "wipe"].map(|tool| both.allows(&[tool]));
        assert_eq!(allowed, [true, false, false, false]);
    }

    #[test]
    fn none_allows_nothing() {
        let none = Authority::none();
        assert!(!none.allows(&["notify"]) && !none.may_run("digest") && !none.may_schedule);
    }
}
