//! Subjects of the spending ledger.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A subject whose spending the ledger counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SpendSubject {
    /// All calls together.
    #[default]
    All,
    /// An agent.
    Agent(String),
    /// A skill.
    Skill(String),
    /// A run, or the skill that one of its steps runs: `RUN/STEP`.
    Run(String),
}

impl SpendSubject {
    /// Parses a subject written by `Display`. Returns `None` for any other text.
    pub fn from_name(name: &str) -> Option<Self> {
        match name.split_once(':') {
            None => (name == "all").then_some(Self::All),
            Some(("agent", agent)) => Some(Self::Agent(agent.to_owned())),
            Some(("skill", skill)) => Some(Self::Skill(skill.to_owned())),
            Some(("run", run)) => Some(Self::Run(run.to_owned())),
            Some(_) => None,
        }
    }
}

impl fmt::Display for SpendSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Agent(agent) => write!(f, "agent:{agent}"),
            Self::Skill(skill) => write!(f, "skill:{skill}"),
            Self::Run(run) => write!(f, "run:{run}"),
        }
    }
}

impl Serialize for SpendSubject {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SpendSubject {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        Self::from_name(&name)
            .ok_or_else(|| de::Error::custom(format!("`{name}` is not the name of a scope")))
    }
}
