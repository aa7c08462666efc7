//! The calendar check before a run (S0.70): every calendar, two hours ahead.

use deft_model::Effects;
use deft_tools::Definition;
use serde_json::{Value, json};

use crate::time_world::{Times, both, record, with};

impl Times {
    /// Installs a tool with the given answers that records its calls.
    fn install_reader(&self, name: &'static str, parameters: &[&str], answer: fn(&Value) -> Value) {
        let properties = parameters
            .iter()
            .map(|name| ((*name).to_owned(), json!({})));
        let properties: serde_json::Map<String, Value> = properties.collect();
        let schema = json!({"type": "object", "properties": properties});
        let calls = self.world.calls.clone();
        self.world.engine.router().register_fn(
            Definition::new(name, "for tests", Effects::None, schema),
            move |args, _| {
                calls.lock().unwrap().push((name.to_owned(), args.clone()));
                let answer = answer(&Value::Object(args));
                async move { Ok(answer) }
            },
        );
    }

    async fn add_prep(&self) {
        let prep = record("Prep", json!({"interval_minutes": 30}), "act");
        self.add(with(prep, json!({"preflight": {"calendar": "2h"}})))
            .await;
    }

    fn calls(&self) -> Vec<Value> {
        let calls = self.world.calls.lock().unwrap();
        let calls = calls.iter().map(|(tool, args)| json!([tool, args]));
        calls.collect()
    }
}

const EVENTS: &str = "gmail_list_events";

#[tokio::test]
async fn one_calendar_is_queried_for_the_next_two_hours() {
    both(async |t: Times| {
        t.install_reader(EVENTS, &["time_min", "time_max"], |_| json!({"events": []}));
        t.add_prep().await;
        t.tick("13:30").await;
        let stretch =
            json!({"time_min": "2026-01-26T13:30:00Z", "time_max": "2026-01-26T15:30:00Z"});
        assert_eq!(t.calls(), [json!([EVENTS, stretch])]);
        assert_eq!(
            t.slots("prep").await,
            ["13:30 skipped: the calendar is empty for the next 2h"]
        );
    })
    .await;
}

#[tokio::test]
async fn each_calendar_is_queried() {
    both(async |t: Times| {
        t.install_reader(
            "gmail_list_calendars",
            &[],
            |_| json!({"calendars": [{"id": "work"}, {"id": "home"}]}),
        );
        t.install_reader(EVENTS, &["calendar_id"], |args| {
            let busy = args["calendar_id"] == "home";
            json!({"events": if busy { json!([{"id": 1}]) } else { json!([]) }})
        });
        t.add_prep().await;
        t.tick("13:30").await;
        assert_eq!(t.slots("prep").await, ["13:30 success"]);
        let asked: Vec<Value> = t.calls().into_iter().take(3).collect();
        assert_eq!(
            asked,
            [
                json!(["gmail_list_calendars", {}]),
                json!([EVENTS, {"calendar_id": "work"}]),
                json!([EVENTS, {"calendar_id": "home"}]),
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn free_and_busy_times_of_all_calendars_use_one_query() {
    both(async |t: Times| {
        t.install_reader("gmail_list_calendars", &[], |_| json!(["work", "home"]));
        t.install_reader(EVENTS, &["calendar_id"], |_| json!({"events": []}));
        t.install_reader(
            "gmail_query_free_busy",
            &["timeMin", "timeMax", "calendar_ids"],
            |_| json!({"calendars": {"work": {"busy": []}, "home": {"busy": []}}}),
        );
        t.add_prep().await;
        t.tick("13:30").await;
        let asked = json!({
            "timeMin": "2026-01-26T13:30:00Z",
            "timeMax": "2026-01-26T15:30:00Z",
            "calendar_ids": ["work", "home"],
        });
        let all = [
            json!(["gmail_list_calendars", {}]),
            json!(["gmail_query_free_busy", asked]),
        ];
        assert_eq!(t.calls(), all);
        assert_eq!(
            t.slots("prep").await,
            ["13:30 skipped: the calendar is empty for the next 2h"]
        );
    })
    .await;
}
