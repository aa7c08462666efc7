//! `time.now`: the current time in a zone.

use deft_model::{Effects, Failure, Object};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{BuiltinTool, Context, Definition, handler, invalid};
use crate::environment::Environment;

pub(super) fn tool(environment: &Environment) -> BuiltinTool {
    let definition = Definition::new(
        "time.now",
        "Return the time in a zone. Without a zone it is the host's.",
        Effects::None,
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "zone": {"type": "string", "description": "An IANA zone such as `Europe/Berlin`"}
            }
        }),
    )
    .local();
    let environment = environment.clone();
    BuiltinTool::new(
        definition,
        handler(move |arguments: Object, _: Context| {
            let result = describe_time((environment.now)(), environment.zone.get(), &arguments);
            async move { result }
        }),
    )
}

/// Describes an instant in the zone of the arguments, or else in the zone of the host.
fn describe_time(now: Timestamp, host: TimeZone, arguments: &Object) -> Result<Value, Failure> {
    let zone = match arguments.get("zone").and_then(Value::as_str) {
        Some(name) => TimeZone::get(name).map_err(|_| {
            invalid(format!("unknown zone `{name}`")).hint("zones look like `Europe/Berlin`")
        })?,
        None => host,
    };
    let now = now.to_zoned(zone);
    Ok(json!({
        "iso": now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        "date": now.date().to_string(),
        "time": now.strftime("%H:%M:%S").to_string(),
        "weekday": now.strftime("%A").to_string(),
        "zone": now.time_zone().iana_name().unwrap_or("UTC"),
        "unix": now.timestamp().as_second(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(arguments: &Value) -> Result<Value, String> {
        let now = "2026-03-29T01:30:00Z".parse().unwrap();
        let host = TimeZone::get("America/New_York").unwrap();
        let arguments = arguments.as_object().unwrap();
        describe_time(now, host, arguments).map_err(|failure| failure.message)
    }

    #[test]
    fn the_zone_of_the_arguments_replaces_that_of_the_host() {
        let berlin = json!({
            "iso": "2026-03-29T03:30:00+02:00",
            "date": "2026-03-29",
            "time": "03:30:00",
            "weekday": "Sunday",
            "zone": "Europe/Berlin",
            "unix": 1_774_747_800,
        });
        assert_eq!(describe(&json!({"zone": "Europe/Berlin"})), Ok(berlin));
        let host = describe(&json!({})).unwrap();
        assert_eq!(host["iso"], "2026-03-28T21:30:00-04:00");
        let unknown = Err("unknown zone `Mars/Base`".to_owned());
        assert_eq!(describe(&json!({"zone": "Mars/Base"})), unknown);
    }
}
