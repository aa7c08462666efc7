//! Converts triggers of n8n into cron expressions.

use serde_json::Value;

use super::document::Node;

/// When a workflow fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trigger {
    Manual,
    Schedule(String),
}

/// Returns the trigger of a node. `None` if the node is not a trigger.
pub(super) fn trigger(node: &Node<'_>) -> Option<Result<Trigger, String>> {
    let schedule = match node.kind {
        "manualTrigger" | "start" => return Some(Ok(Trigger::Manual)),
        "scheduleTrigger" => schedule(node),
        "cron" => cron(node),
        "interval" => {
            let unit = node.text(&["unit"]).unwrap_or("seconds");
            every(number(node.parameter(&["interval"]), 1), unit)
        }
        kind if kind.ends_with("Trigger") || kind == "webhook" => {
            Err("deft has no such trigger".to_owned())
        }
        _ => return None,
    };
    Some(schedule.map(Trigger::Schedule))
}

/// Returns the number, or the default: n8n omits default values.
fn number(value: &Value, default: u64) -> u64 {
    value.as_u64().unwrap_or(default)
}

fn one<'a>(items: &'a [Value], empty: &'a Value) -> Result<&'a Value, String> {
    match items {
        [] => Ok(empty),
        [one] => Ok(one),
        _ => Err("it has several times; a skill of deft has one".to_owned()),
    }
}

fn schedule(node: &Node<'_>) -> Result<String, String> {
    let rule = one(node.list(&["rule", "interval"]), &Value::Null)?;
    let minute = number(&rule["triggerAtMinute"], 0);
    let hour = number(&rule["triggerAtHour"], 0);
    let field = rule["field"].as_str().unwrap_or("days");
    let count = |key: &str, default: u64| number(&rule[key], default);
    match field {
        "cronExpression" => {
            let expression = rule["expression"].as_str().unwrap_or_default();
            Ok(expression.trim_start_matches('=').to_owned())
        }
        "seconds" => every(count("secondsInterval", 30), "seconds"),
        "minutes" => every(count("minutesInterval", 5), "minutes"),
        "hours" => {
            let hours = count("hoursInterval", 1);
            divides(hours, 24, "hours")?;
            Ok(format!("{minute} {} * * *", step(hours)))
        }
        "days" if count("daysInterval", 1) == 1 => Ok(format!("{minute} {hour} * * *")),
        "weeks" if count("weeksInterval", 1) == 1 => {
            let days = rule["triggerAtDay"].as_array();
            let days: Vec<String> = days.into_iter().flatten().map(Value::to_string).collect();
            let days = if days.is_empty() {
                "0".to_owned()
            } else {
                days.join(",")
            };
            Ok(format!("{minute} {hour} * * {days}"))
        }
        "months" => {
            let months = count("monthsInterval", 1);
            divides(months, 12, "months")?;
            let day = count("triggerAtDayOfMonth", 1);
            Ok(format!("{minute} {hour} {day} {} *", step(months)))
        }
        field => Err(format!(
            "it fires every few {field}, which no cron expression can express"
        )),
    }
}

/// Converts the older `cron` node, which `scheduleTrigger` replaced.
fn cron(node: &Node<'_>) -> Result<String, String> {
    let time = one(node.list(&["triggerTimes", "item"]), &Value::Null)?;
    let hour = number(&time["hour"], 14);
    let minute = number(&time["minute"], 0);
    match time["mode"].as_str().unwrap_or("everyDay") {
        "everyMinute" => Ok("* * * * *".to_owned()),
        "everyHour" => Ok(format!("{minute} * * * *")),
        "everyDay" => Ok(format!("{minute} {hour} * * *")),
        "everyWeek" => {
            let day = time["weekday"].as_str().unwrap_or("1");
            Ok(format!("{minute} {hour} * * {day}"))
        }
        "everyMonth" => {
            let day = number(&time["dayOfMonth"], 1);
            Ok(format!("{minute} {hour} {day} * *"))
        }
        "everyX" => {
            let unit = time["unit"].as_str().unwrap_or("hours");
            every(number(&time["value"], 2), unit)
        }
        "custom" => Ok(time["cronExpression"]
            .as_str()
            .unwrap_or_default()
            .to_owned()),
        mode => Err(format!("its mode `{mode}` is not known")),
    }
}

fn every(count: u64, unit: &str) -> Result<String, String> {
    match unit {
        "seconds" => {
            divides(count, 60, unit)?;
            Ok(format!("{} * * * * *", step(count)))
        }
        "minutes" => {
            divides(count, 60, unit)?;
            Ok(format!("{} * * * *", step(count)))
        }
        "hours" => {
            divides(count, 24, unit)?;
            Ok(format!("0 {} * * *", step(count)))
        }
        unit => Err(format!("its unit `{unit}` is not known")),
    }
}

fn step(count: u64) -> String {
    if count == 1 {
        "*".to_owned()
    } else {
        format!("*/{count}")
    }
}

/// Fails unless `count` divides `whole`: otherwise a cron step would restart in each period, so that
/// intervals differ.
fn divides(count: u64, whole: u64, unit: &str) -> Result<(), String> {
    if count > 0 && whole.is_multiple_of(count) {
        return Ok(());
    }
    Err(format!(
        "it fires every {count} {unit}, which no cron expression can express"
    ))
}
