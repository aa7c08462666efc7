//! The scopes of the ledger and their names.

use std::fmt;

use deft_model::SpendSubject;
use jiff::civil::Date;

/// The subject whose spending is summed, per day unless it is a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendScope {
    /// A run, an agent, a skill, or everything.
    pub subject: SpendSubject,
    /// The day; `None` for a run.
    pub day: Option<Date>,
}

impl SpendScope {
    /// Returns the scope of a subject on a day.
    pub fn on_day(day: Date, subject: SpendSubject) -> Self {
        let day = Some(day);
        Self { subject, day }
    }

    /// Parses the name of a scope; `None` if it is invalid.
    pub fn from_name(name: &str) -> Option<Self> {
        let dated = name.rsplit_once('@');
        let dated = dated.and_then(|(subject, day)| Some((subject, day.parse().ok()?)));
        let (subject, day) = dated.map_or((name, None), |(subject, day)| (subject, Some(day)));
        let subject = SpendSubject::from_name(subject)?;
        Some(Self { subject, day })
    }
}

impl fmt::Display for SpendScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.day {
            Some(day) => write!(f, "{}@{day}", self.subject),
            None => self.subject.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let day = Some("2026-03-01".parse().unwrap());
        let agent = SpendSubject::Agent("a@b".to_owned());
        let skill = SpendSubject::Skill("x:y".to_owned());
        let run = SpendSubject::Run("run_1/step[0]".to_owned());
        let cases = [
            ("all@2026-03-01", SpendSubject::All, day),
            ("agent:a@b@2026-03-01", agent, day),
            ("skill:x:y@2026-03-01", skill, day),
            ("run:run_1/step[0]", run, None),
        ];
        for (name, subject, day) in cases {
            let scope = SpendScope { subject, day };
            assert_eq!(scope.to_string(), name);
            assert_eq!(SpendScope::from_name(name), Some(scope));
        }
        for name in ["", "everything", "all:x", "tool:x@2026-03-01"] {
            assert_eq!(SpendScope::from_name(name), None, "{name}");
        }
    }
}
