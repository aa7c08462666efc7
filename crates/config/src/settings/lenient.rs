//! Reads a configuration that has mistakes, for commands that only read.
//!
//! Invalid settings are ignored, so that their defaults apply, and reported. The one exception is the address
//! of the database, which is never ignored. Commands that change something refuse an invalid configuration
//! instead.

use std::path::Path;

use deft_model::nearest;

use super::problem::Problem;
use super::tree::{Data, Settings};
use super::{Config, read, text_of};
use crate::env;
use deft_wire::Done;

/// The section that must be valid.
const STORE: &str = "store";

impl Config {
    /// Reads the valid settings, and returns them with the problems of the ignored ones.
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
        // Ignoring a setting may make another one invalid.
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

/// Whether a problem may concern the database address, including a misspelled section name.
fn is_about_store(problem: &Problem) -> bool {
    let first = problem.path.first();
    first.is_some_and(|name| nearest(name, [STORE]).is_some())
}

/// Returns the valid sections of a file that is not valid TOML. `None` if an invalid section may name the
/// database.
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
            // Blank lines keep the line numbers of later problems correct.
            good.push_str(&"\n".repeat(section.matches('\n').count()));
        }
    }
    Settings::parse(&good).ok()
}

/// Splits the text before each line that begins a section.
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
    /// Removes a value or a section. Returns false if it does not exist.
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
