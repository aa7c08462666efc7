//! What is wrong with a setting, and where.

use std::path::Path;

use super::tree::Origin;
use deft_wire::Failure;
use deft_wire::setting::SettingProblem;

/// One problem of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The line or the variable that it is about.
    pub origin: Option<Origin>,
    /// The setting that it is about; nothing if it is about the whole file.
    pub path: Vec<String>,
}

impl Problem {
    /// Where it is, for people.
    pub fn place(&self, path: &Path) -> String {
        match &self.origin {
            Some(Origin::File { line }) => format!("{}:{line}", path.display()),
            Some(Origin::Variable(name)) => format!("the variable `{name}`"),
            Some(Origin::Default) | None => path.display().to_string(),
        }
    }

    /// The line of the file, if it is about one.
    pub fn line(&self) -> Option<usize> {
        match self.origin {
            Some(Origin::File { line }) => Some(line),
            Some(Origin::Default | Origin::Variable(_)) | None => None,
        }
    }

    /// As the reason why a command could not be carried out.
    pub fn failure(&self, path: &Path) -> Failure {
        let message = format!("{}: {}", self.place(path), self.message);
        Failure::input("config", message).maybe_hint(self.hint.clone())
    }

    /// What programs read about it.
    pub fn view(&self) -> SettingProblem {
        let variable = match &self.origin {
            Some(Origin::Variable(name)) => Some(name.clone()),
            Some(Origin::Default | Origin::File { .. }) | None => None,
        };
        SettingProblem {
            message: self.message.clone(),
            hint: self.hint.clone(),
            line: self.line(),
            variable,
        }
    }
}
