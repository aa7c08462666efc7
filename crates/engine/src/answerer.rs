//! Who answered a question. Approvals and journals store it as text, which only this file writes for grants
//! and reads.

use std::fmt::{Display, Formatter, Result};

/// Who answered a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answerer {
    /// A person, by the name of the front end, such as the terminal.
    Person(String),
    /// A flag of the command line, such as `--yes`.
    Flag(String),
    /// A standing grant.
    Grant {
        /// Its id.
        id: String,
        /// Who gave it.
        by: String,
    },
}

/// The beginning of the text for a grant.
const GRANT: &str = "standing grant ";

impl Answerer {
    /// Parses the stored text.
    pub(crate) fn read(text: &str) -> Self {
        if text.starts_with("--") {
            return Self::Flag(text.to_owned());
        }
        let Some(grant) = text.strip_prefix(GRANT) else {
            return Self::Person(text.to_owned());
        };
        let (id, by) = grant.split_once(" of ").unwrap_or((grant, ""));
        Self::Grant {
            id: id.to_owned(),
            by: by.to_owned(),
        }
    }

    /// Whether a person gave the answer, as opposed to a flag or a grant.
    pub(crate) fn is_person(&self) -> bool {
        match self {
            Self::Person(_) => true,
            Self::Flag(_) | Self::Grant { .. } => false,
        }
    }
}

impl Display for Answerer {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Person(name) | Self::Flag(name) => f.write_str(name),
            Self::Grant { id, by } => write!(f, "{GRANT}{id} of {by}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_texts_round_trip() {
        let grant = Answerer::Grant {
            id: "grant_1".to_owned(),
            by: "terminal of me".to_owned(),
        };
        let cases = [
            ("terminal", Answerer::Person("terminal".to_owned()), true),
            ("--yes", Answerer::Flag("--yes".to_owned()), false),
            ("standing grant grant_1 of terminal of me", grant, false),
        ];
        for (text, expected, is_person) in cases {
            let read = Answerer::read(text);
            assert_eq!((&read, read.is_person()), (&expected, is_person));
            assert_eq!(read.to_string(), text);
        }
    }
}
