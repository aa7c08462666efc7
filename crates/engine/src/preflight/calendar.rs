//! The calendar check: whether any calendar has an event in the next hours (S0.70).
//!
//! A server with a tool for free and busy times is asked for all calendars at once. Otherwise the events of
//! each calendar are listed; a server without a tool that lists calendars has one calendar.

use deft_model::{Authority, Object};
use deft_schedule::parse_duration;
use deft_tools::{ToolInfo, ToolLookup};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::is_empty;
use crate::engine::Inner;

/// The tool in the seeds.
const EVENTS: &str = "gmail_list_events";

/// Parameter names for the start and the end of an interval.
const STARTS: [&str; 6] = [
    "time_min",
    "timeMin",
    "start",
    "start_time",
    "from",
    "after",
];
const ENDS: [&str; 6] = ["time_max", "timeMax", "end", "end_time", "to", "before"];

/// Parameter names for one calendar, and for several.
const CALENDAR: [&str; 3] = ["calendar_id", "calendarId", "calendar"];
const CALENDARS: [&str; 5] = ["calendar_ids", "calendarIds", "calendars", "ids", "items"];

/// Keys under which tools list calendars, and under which a calendar has its name.
const LISTS: [&str; 4] = ["calendars", "items", "data", "results"];
const NAMES: [&str; 4] = ["id", "calendar_id", "calendarId", "email"];

/// Maximum number of calendars that are checked.
const MAX_CALENDARS: usize = 50;

impl Inner {
    /// Whether all calendars are empty from `from` on, for the duration `ahead`.
    pub(super) async fn calendars_are_empty(
        &self,
        ahead: &str,
        from: Timestamp,
        authority: Option<&Authority>,
    ) -> Result<bool, String> {
        let ahead = parse_duration(ahead).map_err(|error| error.message)?;
        let until = from.saturating_add(ahead).unwrap_or(Timestamp::MAX);
        if matches!(self.parts.router.find(EVENTS), ToolLookup::Unknown { .. }) {
            // A server that cannot be started is reported when its tool is called.
            drop(self.parts.router.list_servers().await);
        }
        let ToolLookup::Tool(events) = self.parts.router.find(EVENTS) else {
            return Ok(is_empty(
                &self.ask_tool(EVENTS, Object::new(), authority).await?,
            ));
        };
        let tools = CalendarTools::new(self, &events, authority);
        let calendars = match &tools.calendars {
            Some(tool) => names(&self.ask_tool(tool, Object::new(), authority).await?),
            None => Vec::new(),
        };
        if let Some(free_busy) = &tools.free_busy {
            let mut args = stretch(free_busy, from, until);
            if let Some(key) = property(free_busy, &CALENDARS)
                && (!calendars.is_empty() || requires(free_busy, &key))
            {
                args.insert(key.clone(), several(free_busy, &key, &calendars));
            }
            let busy = self
                .ask_tool(&free_busy.full_name(), args, authority)
                .await?;
            return Ok(is_empty(&busy));
        }
        let Some(key) = property(&events, &CALENDAR).filter(|_| !calendars.is_empty()) else {
            let args = stretch(&events, from, until);
            return Ok(is_empty(&self.ask_tool(EVENTS, args, authority).await?));
        };
        for calendar in calendars {
            let mut args = stretch(&events, from, until);
            args.insert(key.clone(), json!(calendar));
            if !is_empty(&self.ask_tool(EVENTS, args, authority).await?) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Other tools of the calendar's server that the check may use.
struct CalendarTools {
    free_busy: Option<ToolInfo>,
    /// The full name of the tool that lists calendars.
    calendars: Option<String>,
}

impl CalendarTools {
    fn new(inner: &Inner, events: &ToolInfo, authority: Option<&Authority>) -> Self {
        let catalog = inner.parts.router.list();
        let find = |word: &str| {
            let fits = |tool: &&ToolInfo| {
                let allowed = || {
                    let args = Object::new();
                    inner
                        .agents
                        .refuse_unasked(authority, &tool.full_name(), &args)
                        .is_ok()
                };
                tool.server == events.server && plain(&tool.name).contains(word) && allowed()
            };
            catalog.iter().find(fits).cloned()
        };
        Self {
            free_busy: find("freebusy"),
            calendars: find("listcalendars").map(|tool| tool.full_name()),
        }
    }
}

/// Returns a name in lower case, without separators.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns the arguments of a tool for an interval of time.
fn stretch(tool: &ToolInfo, from: Timestamp, until: Timestamp) -> Object {
    let ends = [
        (property(tool, &STARTS), from),
        (property(tool, &ENDS), until),
    ];
    ends.into_iter()
        .filter_map(|(name, at)| Some((name?, json!(at.to_string()))))
        .collect()
}

/// Returns the first of these names that is a parameter of the tool.
fn property(tool: &ToolInfo, names: &[&str]) -> Option<String> {
    let properties = tool.input_schema.get("properties")?;
    let known = names.iter().find(|name| properties.get(**name).is_some());
    known.map(|name| (*name).to_owned())
}

fn requires(tool: &ToolInfo, name: &str) -> bool {
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    required.is_some_and(|all| all.iter().any(|one| one == name))
}

/// Returns calendars as the tool takes them: names, or objects with an `id` as in Google's API.
fn several(tool: &ToolInfo, key: &str, calendars: &[String]) -> Value {
    let primary = ["primary".to_owned()];
    let calendars = if calendars.is_empty() {
        &primary
    } else {
        calendars
    };
    let items = tool.input_schema.get("properties");
    let items = items.and_then(|all| all.get(key)?.get("items")?.get("type"));
    let as_objects = items.and_then(Value::as_str) == Some("object");
    let one = |id: &String| {
        if as_objects {
            json!({ "id": id })
        } else {
            json!(id)
        }
    };
    calendars.iter().map(one).collect()
}

/// Returns the names of calendars in the result of a tool.
fn names(listed: &Value) -> Vec<String> {
    let items = match listed {
        Value::Array(items) => items.as_slice(),
        Value::Object(map) => match LISTS.iter().find_map(|key| map.get(*key)) {
            Some(inner) => return names(inner),
            None => &[],
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => &[],
    };
    let name = |item: &Value| match item {
        Value::String(name) => Some(name.clone()),
        Value::Object(map) => {
            let name = NAMES.iter().find_map(|key| map.get(*key)?.as_str());
            name.map(str::to_owned)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    items.iter().filter_map(name).take(MAX_CALENDARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendars_are_read_from_tool_results() {
        let listed = [
            json!(["a", "b"]),
            json!({"calendars": [{"id": "a", "summary": "Work"}, {"id": "b"}]}),
            json!({"success": true, "data": {"items": [{"calendarId": "a"}, {"email": "b"}]}}),
        ];
        for value in listed {
            assert_eq!(names(&value), ["a", "b"], "{value}");
        }
        for nothing in [json!("none"), json!({}), json!([{"summary": "Work"}])] {
            assert_eq!(names(&nothing), Vec::<String>::new(), "{nothing}");
        }
    }
}
