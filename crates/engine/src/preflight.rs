//! The preflight check of scheduled runs (S0.70 to S0.72 under X20): is there anything to do?
//!
//! It calls no model and changes nothing. A failed check is no reason to skip. The run records that it
//! failed; runs without an agent go ahead, and the run of an agent waits until the check succeeds, as it
//! would wait for a tool.

mod calendar;

use std::sync::Arc;

use deft_agents::{Brief, failure_of_error};
use deft_compute::{Job, Kind};
use deft_library::PinnedSkill;
use deft_model::{Authority, Effects, Failure, FailureClass, Object};
use deft_skillfile::Check;
use deft_store::SkillRow;
use deft_template::{Condition, EvalKind, Lookup, Scope};
use deft_tools::{Call, Router, ToolLookup};
use jiff::Timestamp;
use serde_json::Value;

use crate::engine::Inner;
use crate::{Engine, Error};

/// The tool behind the check of mail in the seeds.
const MAIL: &str = "gmail_get_new_emails";

/// Keys under which tools list their results.
const LISTS: [&str; 8] = [
    "events",
    "emails",
    "messages",
    "items",
    "results",
    "busy",
    "data",
    "calendars",
];

/// Words for what tools find, if they say in a text that they found nothing. Singular words are missing: "no
/// email address is configured" is an error.
const THINGS: [&str; 19] = [
    "appointments",
    "calendars",
    "changes",
    "conversations",
    "data",
    "emails",
    "entries",
    "events",
    "items",
    "mails",
    "matches",
    "meetings",
    "messages",
    "notifications",
    "records",
    "results",
    "tasks",
    "threads",
    "updates",
];

/// Words between "no" and the word for what was not found.
const ADJECTIVES: [&str; 8] = [
    "calendar", "email", "matching", "more", "new", "pending", "unread", "upcoming",
];

/// The names that the condition of a check can read.
struct CheckScope(Arc<Value>);

impl Scope for CheckScope {
    fn get(&self, name: &str) -> Lookup {
        match name {
            "result" => Lookup::Value(Arc::clone(&self.0)),
            _ => Lookup::Unknown,
        }
    }
}

impl Engine {
    /// Returns why a scheduled run has nothing to do; `None` if it has work.
    ///
    /// # Errors
    ///
    /// The reason, if the check failed.
    pub async fn check_preflight(
        &self,
        pinned: &PinnedSkill,
        slot: Timestamp,
    ) -> Result<Option<String>, String> {
        self.inner.nothing_to_do(pinned, slot).await
    }

    /// Compiles and stores a skill that is about to fire.
    pub async fn make_ready(&self, row: &SkillRow) -> Result<(), Error> {
        let pinned = self.inner.library.pin_row(row).await?;
        self.inner.keep(&pinned).await
    }
}

impl Inner {
    /// Returns why a scheduled run has nothing to do; `None` if it has work. `Err` means that the check
    /// failed.
    pub(crate) async fn nothing_to_do(
        &self,
        pinned: &PinnedSkill,
        slot: Timestamp,
    ) -> Result<Option<String>, String> {
        let Some(check) = pinned.skill.policy.preflight.as_ref() else {
            return Ok(None);
        };
        let found = match Check::read(check) {
            Ok(check) => {
                let authority = pinned.skill.policy.authority.as_deref();
                self.look(&check, slot, authority).await
            }
            Err(why) => Err(why),
        };
        if let Err(why) = &found {
            tracing::warn!(skill = %pinned.skill.id, %why, "the check before the run failed");
        }
        found
    }

    /// Repeats the failed check of an agent's run. As long as it fails, the run waits as it would for a tool,
    /// because the check exists to avoid needless model calls.
    pub(crate) async fn check_again(&self, brief: &Brief) -> Result<Option<String>, Failure> {
        let (run, step) = (&brief.run, &brief.step);
        let pinned = self.library.find_pinned(&step.skill, &step.revision).await;
        let pinned = pinned.map_err(|error| failure_of_error(&error))?;
        let slot = run.slot.unwrap_or(run.admitted_at);
        let found = self.nothing_to_do(&pinned, slot).await;
        found.map_err(|why| {
            let message = format!("the check before the run failed: {why}");
            Failure::new(FailureClass::Other, message)
                .hint("correct `preflight` of the skill, or start it with `deft run`, which skips the check")
                .mark_blocked()
        })
    }

    async fn look(
        &self,
        check: &Check,
        slot: Timestamp,
        authority: Option<&Authority>,
    ) -> Result<Option<String>, String> {
        match check {
            Check::Mail => {
                let mail = self.ask_tool(MAIL, Object::new(), authority).await?;
                Ok(is_empty(&mail).then(|| "there is no new mail".to_owned()))
            }
            Check::Calendar(ahead) => {
                let from = self.now().max(slot);
                let empty = self.calendars_are_empty(ahead, from, authority).await?;
                Ok(empty.then(|| format!("the calendar is empty for the next {ahead}")))
            }
            Check::Tool {
                tool,
                args,
                condition,
            } => {
                let result = self.ask_tool(tool, args.clone(), authority).await?;
                let (go, what) = match condition {
                    Some(text) => {
                        let holds = self.holds(text, result).await?;
                        (holds, format!("`{text}` is not true"))
                    }
                    None => (!is_empty(&result), format!("`{tool}` returned nothing")),
                };
                Ok((!go).then_some(what))
            }
            Check::Compute(code) => {
                let go = self.compute_check(code).await?;
                Ok((!go).then(|| "its check returned false".to_owned()))
            }
        }
    }

    /// Calls a tool. A check cannot ask a person, so it calls only tools that need no approval.
    async fn ask_tool(
        &self,
        tool: &str,
        args: Object,
        authority: Option<&Authority>,
    ) -> Result<Value, String> {
        self.agents
            .refuse_unasked(authority, tool, &args)
            .map_err(|failure| failure.message)?;
        if authority.is_some() && changes_deft(&self.parts.router, tool, &args) {
            return Err(format!(
                "a check may only call read-only tools, and `{tool}` is not read-only"
            ));
        }
        let call = Call {
            authority: authority.cloned().map(Arc::new),
            ..Call::new(tool, args)
        };
        let reply = self.parts.router.call(call).await;
        reply
            .map(|reply| reply.value)
            .map_err(|failure| failure.message)
    }

    async fn compute_check(&self, code: &str) -> Result<bool, String> {
        let value = self.python(Kind::Block, code, Object::new()).await?;
        Ok(!is_empty(&value))
    }

    /// Whether a condition holds; evaluated by the worker if it needs full Python.
    async fn holds(&self, condition: &str, result: Value) -> Result<bool, String> {
        let parsed = Condition::parse(condition).map_err(|error| error.message)?;
        let result = CheckScope(Arc::new(result));
        match parsed.is_true(&result) {
            Ok(holds) => Ok(holds),
            Err(error) if matches!(error.kind, EvalKind::Unsupported) => {
                let result = Arc::unwrap_or_clone(result.0);
                let scope = Object::from_iter([("result".to_owned(), result)]);
                let verdict = self.python(Kind::Condition, condition, scope).await?;
                Ok(verdict == Value::Bool(true))
            }
            Err(error) => Err(error.message),
        }
    }

    async fn python(&self, kind: Kind, code: &str, scope: Object) -> Result<Value, String> {
        let job = Job {
            now: self.now(),
            zone: self.base.zone_name().to_string(),
            ..Job::new(kind, code, scope)
        };
        let mut session = self.parts.compute.session();
        let output = session.run(job, None).await;
        let output = output.map_err(|error| error.to_string())?;
        Ok(output.value)
    }
}

/// Whether a call is one of deft's own tools that do more than read, such as storing, queueing and running
/// skills.
fn changes_deft(router: &Router, tool: &str, args: &Object) -> bool {
    let builtin = matches!(router.find(tool), ToolLookup::Tool(info) if info.builtin);
    builtin && router.effects_of(tool, args) != Some(Effects::None)
}

/// Whether a text in lower case begins with words such as "no new emails". Other texts that begin with "no",
/// such as "no route to host", are errors.
fn reports_no_items(text: &str) -> bool {
    let mut words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    if words.next() != Some("no") {
        return false;
    }
    let mut things = words.skip_while(|word| ADJECTIVES.contains(word));
    things.next().is_some_and(|thing| THINGS.contains(&thing))
}

/// Whether the result of a tool is empty: an empty list at any level, a zero, or a text that says so.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => {
            let text = text.trim().to_lowercase();
            text.is_empty() || text == "none" || text == "[]" || reports_no_items(&text)
        }
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(map) => {
            let lists = LISTS.iter().filter_map(|key| Some((*key, map.get(*key)?)));
            let mut lists = lists.peekable();
            match lists.peek() {
                Some(_) => lists.all(|(key, list)| match list {
                    // Calendars by name, each with its busy times.
                    Value::Object(all) if key == "calendars" => all.values().all(is_empty),
                    other @ (Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_)
                    | Value::Array(_)
                    | Value::Object(_)) => is_empty(other),
                }),
                None => match map.get("count").or_else(|| map.get("total")) {
                    Some(count) => is_empty(count),
                    None => map.is_empty(),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn empty_results_of_tools_are_recognised() {
        let empty = [
            json!(null),
            json!([]),
            json!({"events": []}),
            json!({"success": true, "data": {"emails": []}}),
            json!({"calendars": {"a": {"busy": []}, "b": {"busy": [], "errors": []}}}),
            json!({"count": 0}),
            json!("No new emails."),
            json!("no events"),
            json!("No unread messages since 9:00"),
            json!("No upcoming calendar events found"),
            json!("No results"),
            json!({}),
        ];
        for value in empty {
            assert!(is_empty(&value), "{value}");
        }
        let full = [
            json!([{"id": 1}]),
            json!({"events": [{"id": 1}]}),
            json!({"calendars": {"a": {"busy": []}, "b": {"busy": [{"start": "x"}]}}}),
            json!("3 new emails"),
            json!("no route to host"),
            json!("No space left on device"),
            json!("no such calendar"),
            json!("No email address is configured"),
            json!("no new"),
            json!("nova events"),
            json!({"count": 2}),
            json!({"anything": 1}),
        ];
        for value in full {
            assert!(!is_empty(&value), "{value}");
        }
    }

    #[test]
    fn checks_are_read_in_every_form() {
        let read = |value: Value| Check::read(&value);
        assert_eq!(
            read(json!({"calendar": "90m"})),
            Ok(Check::Calendar("90m".to_owned()))
        );
        assert_eq!(read(json!({"email": "new"})), Ok(Check::Mail));
        assert_eq!(
            read(json!({"compute": "result = 1"})),
            Ok(Check::Compute("result = 1".to_owned()))
        );
        assert_eq!(
            read(json!({"tool": "t", "args": {"a": 1}, "condition": "result > 1"})),
            Ok(Check::Tool {
                tool: "t".to_owned(),
                args: Object::from_iter([("a".to_owned(), json!(1))]),
                condition: Some("result > 1".to_owned()),
            })
        );
        for wrong in [
            json!(3),
            json!({}),
            json!("weather"),
            json!("calendar"),
            json!("email"),
            json!({"email": "old"}),
            json!({"email": null}),
            json!({"calendar": 2}),
            json!({"calendar": "2h", "email": "new"}),
            json!({"compute": "result = 1", "condition": "result"}),
            json!({"tool": 3}),
            json!({"tool": "t", "condition": "("}),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
