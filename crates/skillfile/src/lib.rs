//! Parser for skill files of every dialect: converts text to a skill and diagnostics.
//!
//! Four formats are parsed into one model: `SKILL.md` folders of the open agentskills format, Markdown man
//! pages, YAML workflows and JSON records. Parsing never fails: it returns whatever could be parsed and a
//! list of [`Diagnostic`]s with spans in the file.
//!
//! This crate does not access the file system or a clock (callers pass a [`Moment`]) and contains no
//! interpreter: compute blocks are parsed and never run.
//!
//! ```
//! use deft_skillfile::{Document, FileLocation, Moment, Profile, parse};
//! use jiff::{Timestamp, tz::TimeZone};
//!
//! let moment = Moment { now: Timestamp::UNIX_EPOCH, zone: TimeZone::UTC };
//! let place = FileLocation { file: "SKILL.md", folder: "greet", domain: None };
//! let file = b"---\nname: greet\ndescription: Says hello.\n---\nSay hello.\n";
//! let parsed = parse(file, &place, Profile::Deft, &moment);
//! let Some(Document::Skill(skill)) = parsed.document else { panic!() };
//! assert_eq!(skill.id.as_str(), "greet");
//! assert!(parsed.diagnostics.is_empty());
//! ```

mod against;
mod agentmd;
mod agentskills;
mod compute;
mod details;
mod diagnostic;
mod document;
mod embedded;
mod expressions;
mod fields;
mod flags;
mod frontmatter;
mod limits;
mod manpage;
mod markdown;
mod markdown_file;
mod names;
mod parse;
mod plain_yaml;
mod plan;
mod policy;
mod preflight;
mod python;
mod python_members;
mod python_names;
mod read;
mod record;
mod reference;
pub mod render;
mod rules;
mod schema;
mod severity;
mod skillmd;
mod source;
mod span;
mod strict;
mod syntax;
mod timetable;
mod trigger;
mod workflow;
mod yaml;

pub use against::{Surroundings, check_against, check_page, skills_run_by};
pub use agentskills::is_host_key;
pub use diagnostic::{Diagnostic, has_errors};
pub use document::{Document, FileKind, FileLocation, Profile};
pub use fields::{Shape, record_keys};
pub use flags::flags;
pub use markdown::sections;
pub use markdown_file::frontmatter;
pub use names::{RESERVED, is_dotted, is_word, slug};
pub use parse::{ParsedFile, parse, parse_record};
pub use plain_yaml::read_yaml;
pub use preflight::Check;
pub use reference::{agent_reference, field_reference};
pub use rules::Rule;
pub use schema::{Schema, schema};
pub use severity::Severity;
pub use span::{Lines, Span};
pub use strict::Properties;
pub use timetable::{schedule, words};
pub use trigger::Moment;
