//! What can be read of a configuration with mistakes in it, for commands that only look.
//!
//! What cannot be read is left out, so that its default counts, and is told. One thing is never left
//! out: where the database is. Commands that act do not come here; they refuse.

use std::path::Path;

use deft_model::nearest;

use super::problem::Problem;
use super::tree::{Data, Settings};
use super::{Config, read, text_of};
use crate::env;
use deft_wire::Done;

/// The section that has to be right.
const STORE: &str = "store";

impl Config {
    /// Reads what can be read, and says what was left out.
    pub fn read_leniently(path: &Path) -> Done<(Self, Vec<Problem>)> {
        let text = text_of(path)?;
        let (mut settings, mut left_out) = match Settings::parse(&text) {
            Ok(settings) => (settings, Vec::new()),
            Err(problem) => match salvage(&text) {
                Some(settings) => (settings, vec![problem]),
                None => return Err(problem.failure(path)),
            },
        };
        settings.overlay(env::overrides());
        // What is left out may leave something behind that makes no sense without it.
        loop {
            let problems = settings.check();
            if let Some(problem) = problems.iter().find(|one| is_about_store(one)) {
                return Err(problem.failure(path));
            }
            let before = left_out.len();
            for problem in problems {
                if settings.remove(&problem.path) {
                    left_out.push(problem);
                }
            }
            if left_out.len() == before {
                break;
            }
        }
        let home = path.parent().unwrap_or(Path::new(""));
        let config = read::config(settings, home).map_err(|problem| problem.failure(path))?;
        Ok((config, left_out))
    }
}

/// Whether a mistake may be about where the database is, also by a slip in the name.
fn is_about_store(problem: &Problem) -> bool {
    let first = problem.path.first();
    first.is_some_and(|name| nearest(name, [STORE]).is_some())
}

/// The sections of a file that is not TOML as a whole; none if one that may name the database is
/// among those that cannot be read.
fn salvage(text: &str) -> Option<Settings> {
    let given = |(name, value): (String, String)| name == "STORE__URL" && !value.is_empty();
    let is_given = env::overrides().into_iter().any(given);
    let mut good = String::new();
    for section in sections(text) {
        if Settings::parse(&section).is_ok() {
            good.push_str(&section);
        } else if section.to_lowercase().contains(STORE) && !is_given {
            return None;
        } else {
            // Lines stay where they are, for what else is to be said.
            good.push_str(&"\n".repeat(section.matches('\n').count()));
        }
    }
    Settings::parse(&good).ok()
}

/// The text cut before each line that begins a section.
fn sections(text: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            sections.push(String::new());
        }
        if let Some(last) = sections.last_mut() {
            last.push_str(line);
        }
    }
    sections
}

impl Settings {
    /// Takes a value or a section out. False if it is not there.
    fn remove(&mut self, path: &[String]) -> bool {
        let Some((last, above)) = path.split_last() else {
            return false;
        };
        let mut section = &mut self.root;
        for name in above {
            match section.get_mut(name).map(|node| &mut node.data) {
                Some(Data::Table(below)) => section = below,
                Some(Data::List(_) | Data::Value(_)) | None => return false,
            }
        }
        section.remove(last).is_some()
    }
}
