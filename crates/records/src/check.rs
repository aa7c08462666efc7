//! Validation of a record before it is stored, with all problems at once.
//!
//! The parser of records reports what would also be wrong in a file. A new record must satisfy more: its
//! instant is in the future, every key is known, and its tools exist (S0.28, S0.59).

use deft_model::{Object, Skill};
use deft_schedule::{FireTime, PhraseClock, parse_future, parse_zone, read_phrase};
use deft_skillfile::{Diagnostic, Document, FileLocation, Moment, Profile, Rule, Severity, parse};
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::names::{PROSE_TIMINGS, is_timing, phrase_field, sets_timing};
use crate::place::{self, WrittenRecord};
use crate::refusal::{Problem, Refusal};

/// Whether a tool exists, as far as known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolState {
    /// The tool exists.
    Known,
    /// Unknown, because the servers have not been asked yet.
    Unknown,
    /// No tool has this name.
    Missing {
        /// Tools with similar names.
        near: Vec<String>,
    },
}

/// A lookup of tools by name.
pub trait Tools {
    /// Returns whether the tool `name` exists.
    fn find(&self, name: &str) -> ToolState;
}

impl<F: Fn(&str) -> ToolState> Tools for F {
    fn find(&self, name: &str) -> ToolState {
        self(name)
    }
}

/// A valid record.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedRecord {
    /// The skill defined by the record.
    pub skill: Skill,
    /// The record as it is stored.
    pub record: Object,
    /// Required tools that do not exist.
    pub missing_tools: Vec<String>,
    /// Whether the skill is disabled with `missing_tools` until those tools exist (X1).
    pub waits: bool,
    /// Oddities that are no reason to reject the record.
    pub warnings: Vec<Problem>,
}

/// Checks a normalised record.
pub fn check(
    record: &Object,
    moment: &Moment,
    tools: &dyn Tools,
) -> Result<CheckedRecord, Refusal> {
    let written = place::write(record);
    let place = FileLocation {
        file: "record.json",
        folder: "",
        domain: None,
    };
    let parsed = parse(written.text.as_bytes(), &place, Profile::Deft, moment);
    let dormant = record.get("enabled") == Some(&Value::Bool(false));
    let reader = Reader {
        record,
        moment,
        written: &written,
        dormant,
    };
    let mut problems = reader.conflicting_timings();
    let delayed = reader.unresolved_delay();
    let reported_field = delayed.as_ref().map(|problem| problem.field.clone());
    problems.extend(delayed);
    let (mut warnings, mut consequences) = (Vec::new(), Vec::new());
    for diagnostic in &parsed.diagnostics {
        match reader.problem(diagnostic) {
            (Weight::Refused, problem) if Some(&problem.field) == reported_field.as_ref() => {}
            (Weight::Refused, problem) => problems.push(problem),
            (Weight::Odd, problem) => warnings.push(problem),
            (Weight::Consequence, problem) => consequences.push(problem),
        }
    }
    // Consequences of another problem are only reported if there is no other problem.
    if problems.is_empty() {
        problems = consequences;
    }
    let missing = missing_tools(record, tools);
    let missing_tools = missing.iter().map(|(name, _)| name.clone()).collect();
    if !dormant {
        problems.extend(missing.into_iter().map(|(_, problem)| problem));
    }
    problems.dedup();
    match (parsed.document, problems.is_empty()) {
        (Some(Document::Skill(skill)), true) => Ok(CheckedRecord {
            skill: *skill,
            record: record.clone(),
            waits: dormant && !Vec::is_empty(&missing_tools),
            missing_tools,
            warnings,
        }),
        (Some(Document::Domain(_) | Document::Agent(_)) | None, true) => Err(Refusal {
            problems: vec![Problem::new("", "this is not a skill")],
        }),
        (_, false) => Err(Refusal { problems }),
    }
}

/// The effect of a problem on the record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// The record is rejected.
    Refused,
    /// The record is accepted with a warning.
    Odd,
    /// The problem disappears together with another one.
    Consequence,
}

/// Converts diagnostics of the record parser to problems of fields.
struct Reader<'a> {
    record: &'a Object,
    moment: &'a Moment,
    written: &'a WrittenRecord,
    dormant: bool,
}

impl Reader<'_> {
    /// Returns the problem for a diagnostic, and its effect on the record.
    fn problem(&self, found: &Diagnostic) -> (Weight, Problem) {
        let field = self.field(found);
        let past = found.rule == Rule::InvalidInstant && found.severity == Severity::Warning;
        let weight = if self.follows(found, &field) {
            Weight::Consequence
        } else if past && self.dormant {
            // A disabled skill cannot miss its time.
            Weight::Odd
        } else if past || found.rule == Rule::UnknownKey || found.severity == Severity::Error {
            Weight::Refused
        } else {
            Weight::Odd
        };
        let mut problem = Problem::new(field, found.message.clone());
        problem.hint.clone_from(&found.help);
        if past {
            problem = Problem {
                message: format!("{}, so it would never fire", past_words(&found.message)),
                ..problem
            }
            .hint("give a time in the future, such as `tomorrow at 09:00` or `in: \"5 minutes\"`");
        }
        (weight, self.explain_time(problem, found.rule))
    }

    /// Replaces the message about a time in prose by one that says more than that it is not a cron
    /// expression.
    fn explain_time(&self, problem: Problem, rule: Rule) -> Problem {
        let timed = matches!(
            rule,
            Rule::InvalidCron | Rule::InvalidInstant | Rule::UnknownKey | Rule::InvalidValue
        );
        let key = problem.field.strip_prefix("trigger_config.");
        let Some(key) = key.filter(|key| timed && sets_timing(key)) else {
            return problem;
        };
        if let Some(refused) = self.unreadable_words(key) {
            return Problem {
                hint: refused.hint,
                ..Problem::new(problem.field, refused.message)
            };
        }
        match self.read(key) {
            Some(Err(refused)) => Problem {
                hint: refused.hint,
                ..Problem::new(problem.field, refused.message)
            },
            Some(Ok(_)) | None if rule == Rule::UnknownKey => {
                let message = match self.timings() {
                    0 | 1 => format!(
                        "{} cannot be read without guessing",
                        self.describe_timing(key)
                    ),
                    _ => format!("`{key}` conflicts with another timing"),
                };
                Problem::new(problem.field, message)
                    .hint("give one of `schedule`, `interval_minutes`, `at` and `in_minutes`")
            }
            Some(Ok(_)) | None => problem,
        }
    }

    /// Returns why the words of `when` cannot be parsed, if `when` is the only timing.
    fn unreadable_words(&self, key: &str) -> Option<deft_schedule::Error> {
        let text = self.config()?.get(key)?.as_str()?;
        let alone = key == "when" && self.timings() == 1;
        let read = || parse_future(text, &self.zone(), self.moment.now).err();
        alone.then(read).flatten()
    }

    /// Parses a timing in prose.
    fn read(&self, key: &str) -> Option<Result<Option<FireTime>, deft_schedule::Error>> {
        let value = self.config()?.get(key)?;
        // A number in quotes is an invalid number and not prose, except in fields for prose.
        let prose = PROSE_TIMINGS.contains(&key) || crate::json::number(value).is_none();
        let text = value.as_str().filter(|_| prose)?;
        let zone = self.zone();
        let clock = PhraseClock {
            now: self.moment.now,
            zone: &zone,
        };
        Some(read_phrase(text, phrase_field(key), &clock))
    }

    /// Returns a timing for messages: its text, or its key if it has no short text.
    fn describe_timing(&self, key: &str) -> String {
        let text = self.config().and_then(|config| config.get(key)?.as_str());
        format!("`{}`", text.filter(|text| text.len() <= 60).unwrap_or(key))
    }

    fn timings(&self) -> usize {
        let keys = self.config().into_iter().flat_map(Object::keys);
        keys.filter(|key| sets_timing(key)).count()
    }

    fn config(&self) -> Option<&Object> {
        self.record.get("trigger_config").and_then(Value::as_object)
    }

    fn zone(&self) -> TimeZone {
        let name = self.config().and_then(|config| config.get("timezone"));
        let zone = name
            .and_then(Value::as_str)
            .and_then(|name| parse_zone(name).ok());
        zone.unwrap_or_else(|| self.moment.zone.clone())
    }

    /// Returns the field of a diagnostic.
    fn field(&self, found: &Diagnostic) -> String {
        let place = found.span.range();
        let field = place.map_or("", |place| self.written.field(&place));
        match (found.missing, field.rsplit_once('.')) {
            (Some(missing), Some((parent, _))) => format!("{parent}.{missing}"),
            (Some(missing), None) => missing.to_owned(),
            (None, _) => field.to_owned(),
        }
    }

    /// Whether the problem is a consequence of another one.
    fn follows(&self, found: &Diagnostic, field: &str) -> bool {
        let is = |rules: &[Rule]| rules.contains(&found.rule);
        if is(&[Rule::UnknownKey, Rule::TriggerConflict]) && is_timing(field) {
            // A timing remains at the root only if `trigger_config` has a different value.
            self.differs(field)
        } else if is(&[Rule::TriggerConflict]) && field == "trigger_config" {
            // There is a timing, but it could not be read.
            self.timings() > 0
        } else if is(&[Rule::InvalidInstant, Rule::InvalidCron]) {
            // Valid prose remains only beside another timing or with an unknown zone, which have problems of
            // their own.
            let key = field.strip_prefix("trigger_config.").unwrap_or(field);
            matches!(self.read(key), Some(Ok(Some(_))))
        } else {
            false
        }
    }

    /// Returns a problem if the record still has a delay that could not be turned into an instant.
    fn unresolved_delay(&self) -> Option<Problem> {
        let (key, value) = self
            .config()?
            .iter()
            .find(|(key, _)| matches!(key.as_str(), "in" | "in_minutes" | "in_hours"))?;
        let count = crate::json::number(value).filter(|count| *count >= 1.0)?;
        if self.timings() > 1 {
            return None;
        }
        // As written: the digits of a huge number would fill the screen.
        let count = crate::json::text_of_scalar(value).unwrap_or_else(|| count.to_string());
        let problem = match key.as_str() {
            "in" => Problem::new("trigger_config.in", format!("`{count}` has no unit"))
                .hint(format!("write `{count}m` for minutes")),
            key => Problem::new(
                format!("trigger_config.{key}"),
                format!("`{count}` is too far in the future"),
            )
            .hint("give a shorter time, or `at` with a date"),
        };
        Some(problem)
    }

    fn differs(&self, key: &str) -> bool {
        let inner = self.config().and_then(|config| config.get(key));
        inner.is_some() && inner != self.record.get(key)
    }

    fn conflicting_timings(&self) -> Vec<Problem> {
        let keys = self
            .record
            .keys()
            .filter(|key| is_timing(key) && self.differs(key));
        keys.map(|key| {
            Problem::new(
                key.as_str(),
                format!("`{key}` differs from the one in `trigger_config`"),
            )
            .hint("keep one of them")
        })
        .collect()
    }
}

/// Removes the second half of `X is in the past; it will not fire`.
fn past_words(message: &str) -> &str {
    message.split(';').next().unwrap_or(message)
}

/// Returns the tools that a record requires and that do not exist, with a problem each.
fn missing_tools(record: &Object, tools: &dyn Tools) -> Vec<(String, Problem)> {
    let mut found: Vec<(String, Problem)> = Vec::new();
    for (field, name) in named_tools(record) {
        if found.iter().any(|(other, _)| *other == name) {
            continue;
        }
        let problem = match tools.find(&name) {
            ToolState::Known => continue,
            ToolState::Unknown => Problem::new(
                field,
                format!(
                    "cannot tell whether the tool `{name}` exists: some servers have not been \
                     queried yet"
                ),
            )
            .hint("try again later, or set `enabled` to false and the skill waits for it"),
            ToolState::Missing { near } => {
                let near: Vec<String> = near.iter().map(|near| format!("`{near}`")).collect();
                let hint = if near.is_empty() {
                    "`get_tool_catalog` lists all tools; or set `enabled` to false and the skill waits for it".to_owned()
                } else {
                    format!("did you mean {}?", near.join(" or "))
                };
                Problem::new(field, format!("unknown tool `{name}`")).hint(hint)
            }
        };
        found.push((name, problem));
    }
    found
}

/// Returns the tools of a plan and the required tools, with their fields.
fn named_tools(record: &Object) -> Vec<(String, String)> {
    let list = |key: &str| {
        record
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let required = list("required_tools").enumerate().filter_map(|(at, name)| {
        Some((format!("required_tools[{at}]"), name.as_str()?.to_owned()))
    });
    let planned = list("execution_plan").enumerate().filter_map(|(at, step)| {
        let name = step.get("toolName")?.as_str()?.to_owned();
        Some((format!("execution_plan[{at}].toolName"), name))
    });
    let named = |(_, name): &(String, String)| !name.trim().is_empty();
    planned.chain(required).filter(named).collect()
}
