//! The rights of a skill, job or run: those of the agent that stored or started it.
//!
//! Not here: which tools exist and which of them are destructive (the engine asks the router), and asking a
//! person for approval.

use serde::{Deserialize, Serialize};

use crate::fits;

/// The rights of an agent in the place where it worked. Everything that the agent stores, queues, runs or
/// dispatches carries them and may therefore do no more than the agent could do by a direct call.
///
/// A skill that a person stored, wrote or imported has no authority and runs with the rights of that person;
/// so does a run started by a person or by a schedule of such a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authority {
    /// The id of the agent.
    pub agent: String,
    /// Whether a person could be asked for approval where the agent worked.
    #[serde(default)]
    pub attended: bool,
    /// Lists of names and patterns. A tool may be called only if every list contains it; no list allows every
    /// tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Vec<String>>,
    /// Tools that require an approval: names, patterns, or `destructive`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approve: Vec<String>,
    /// Whether tools without a non-destructive annotation require an approval too. Set for an agent in a
    /// chat, where a person can be asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_unannotated: bool,
    /// Skills that may be run by name; `None` allows all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Whether storing skills and queueing jobs is allowed.
    #[serde(default)]
    pub may_schedule: bool,
    /// Tools that a person has approved for this one job or run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreed: Vec<String>,
    /// The revision of the skill that the person approved, if the approval was for a skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed_to: Option<String>,
}

impl Authority {
    /// Creates an authority that allows no tool, no skill and no schedule.
    pub fn none() -> Self {
        Self {
            tools: vec![Vec::new()],
            skills: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Returns whether a tool may be called. `names` are all names of the tool.
    pub fn allows(&self, names: &[&str]) -> bool {
        self.tools.iter().all(|list| names_one(list, names))
    }

    /// Returns whether a person has approved calls of a tool. `names` are all names of the tool.
    pub fn has_agreed(&self, names: &[&str]) -> bool {
        names
            .iter()
            .any(|name| self.agreed.iter().any(|agreed| agreed == name))
    }

    /// Returns whether the skill named `skill` may be run.
    pub fn may_run(&self, skill: &str) -> bool {
        let Some(skills) = &self.skills else {
            return true;
        };
        skills.iter().any(|allowed| allowed == skill)
    }

    /// Returns the intersection of both rights. Tools approved in either count as approved in the result,
    /// because an approval covers everything in the run it was given for.
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

    /// Returns these rights without the restrictions that do not apply to a skill written by a person. The
    /// author decided which tools the skill calls and knows them, also those without annotations; the
    /// approvals of the agent that runs the skill still apply.
    #[must_use]
    pub fn over_a_persons_skill(&self) -> Self {
        Self {
            tools: Vec::new(),
            ask_unannotated: false,
            ..self.clone()
        }
    }

    /// Returns these rights for a run of `revision`: keeps a person's approval only if it names that
    /// revision.
    #[must_use]
    pub fn agreed_for(&self, revision: &str) -> Self {
        if self.agreed_to.as_deref() == Some(revision) {
            return self.clone();
        }
        self.not_agreed()
    }

    /// Returns these rights without the approvals of a person.
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

    fn to_strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn an_intersection_allows_only_common_calls() {
        let chat = Authority {
            agent: "thinker".to_owned(),
            attended: true,
            tools: vec![to_strings(&["mail_*", "notify"])],
            approve: to_strings(&["destructive"]),
            ask_unannotated: true,
            skills: None,
            may_schedule: true,
            agreed: to_strings(&["mail_send"]),
            agreed_to: None,
        };
        let fired = Authority {
            agent: "night".to_owned(),
            attended: false,
            tools: vec![to_strings(&["mail_send", "wipe"])],
            approve: to_strings(&["destructive", "mail_send"]),
            ask_unannotated: false,
            skills: Some(to_strings(&["digest"])),
            may_schedule: false,
            agreed: Vec::new(),
            agreed_to: None,
        };
        let both = Authority {
            agent: "thinker".to_owned(),
            attended: false,
            tools: vec![
                to_strings(&["mail_*", "notify"]),
                to_strings(&["mail_send", "wipe"]),
            ],
            approve: to_strings(&["destructive", "mail_send"]),
            ask_unannotated: true,
            skills: Some(to_strings(&["digest"])),
            may_schedule: false,
            agreed: to_strings(&["mail_send"]),
            agreed_to: None,
        };
        assert_eq!(chat.and(&fired), both);
        let allowed = ["mail_send", "mail_list", "notify", "wipe"].map(|tool| both.allows(&[tool]));
        assert_eq!(allowed, [true, false, false, false]);
    }

    #[test]
    fn an_empty_authority_allows_nothing() {
        let none = Authority::none();
        assert!(!none.allows(&["notify"]) && !none.may_run("digest") && !none.may_schedule);
    }
}
