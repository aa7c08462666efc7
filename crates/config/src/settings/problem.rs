//! Problems of settings, with their origin.

use std::path::Path;

use super::tree::Origin;
use deft_wire::Failure;
use deft_wire::setting::SettingProblem;

/// A problem of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The description of the problem.
    pub message: String,
    /// The remedy.
    pub hint: Option<String>,
    /// The line or variable with the problem.
    pub origin: Option<Origin>,
    /// The affected setting; empty if the problem affects the whole file.
    pub path: Vec<String>,
}

impl Problem {
    /// Formats the origin for messages.
    pub fn place(&self, path: &Path) -> String {
        match &self.origin {
            Some(Origin::File { line }) => format!("{}:{line}", path.display()),
            Some(Origin::Variable(name)) => format!("the variable `{name}`"),
            Some(Origin::Default) | None => path.display().to_string(),
        }
    }

    /// Returns the line of the file, if the problem is in one.
    pub fn line(&self) -> Option<usize> {
        match self.origin {
            Some(Origin::File { line }) => Some(line),
            Some(Origin::Default | Origin::Variable(_)) | None => None,
        }
    }

    /// Converts the problem into the failure of a command.
    pub fn failure(&self, path: &Path) -> Failure {
        let message = format!("{}: {}", self.place(path), self.message);
        Failure::input("config", message).maybe_hint(self.hint.clone())
    }

    /// Converts the problem for output as JSON.
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
