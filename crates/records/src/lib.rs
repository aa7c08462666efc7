//! Skills stored by assistants: repairs, checks and describes what a model sent.
//!
//! The five management tools and `queue_task` accept what models really send: flattened fields, alternative
//! names, numbers in quotes, JSON in texts, times in prose. [`normalise`] turns that into a record and lists
//! its changes, [`merge`] does the same for an update, [`check`] rejects invalid records and reports all
//! problems at once, and [`describe`] describes the stored skill in words, so that a confusion of "in 5
//! minutes" and "every 5 minutes" is noticed (S0.25, X4).
//!
//! Nothing here stores anything, reads a clock (callers pass a [`Moment`]) or calls a tool (callers pass a
//! [`Tools`]). The meaning of a record's fields is defined in `deft-skillfile`.
//!
//! ```
//! use deft_records::{Moment, ToolState, check, describe, normalise};
//! use serde_json::json;
//!
//! let moment = Moment {
//!     now: "2026-02-14T15:00:00+01:00".parse().unwrap(),
//!     zone: deft_schedule::parse_zone("Europe/Berlin").unwrap(),
//! };
//! let args = json!({
//!     "name": "Dentist",
//!     "instructions": "Remind me to call the dentist",
//!     "inMinutes": "5",
//!     "plan": {"tool": "telegram_send_message", "params": {"message": "Call the dentist"}},
//! });
//! let normalised = normalise(args.as_object().unwrap(), &moment);
//! assert!(normalised.applied.contains(&"turned in_minutes into at".to_owned()));
//!
//! let known = |_: &str| ToolState::Known;
//! let checked = check(&normalised.record, &moment, &known).unwrap();
//! assert_eq!(
//!     describe(&checked.skill, &moment),
//!     "once, today at 15:05 (Europe/Berlin), direct, no model",
//! );
//! ```

mod check;
mod describe;
mod filter;
mod job;
mod json;
mod merge;
mod names;
mod normalise;
mod place;
mod refusal;
mod schemas;
mod target;

pub use check::{CheckedRecord, ToolState, Tools, check};
pub use deft_skillfile::Moment;
pub use describe::{describe, describe_schedule, describe_stored};
pub use filter::{Filter, filter};
pub use job::job;
pub use merge::merge;
pub use normalise::{NormalisedRecord, normalise};
pub use refusal::{Problem, Refusal};
pub use schemas::{ToolSchema, tool_schemas};
pub use target::{Target, target};
