//! Changes of records by assistants: the result describes what is stored.

use deft_records::Target;
use serde_json::{Value, json};

use crate::time_world::{Times, at, both, clock};

fn object(value: Value) -> deft_model::Object {
    match value {
        Value::Object(object) => object,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn the_reply_to_a_change_has_the_stored_slot() {
    both(async |t: Times| {
        let engine = &t.world.engine;
        let grid = json!({"name": "Grid", "instructions": "Echo.", "interval_minutes": 5,
            "execution_plan": [{"toolName": "echo", "parameters": {}}]});
        let new = engine.library().store_skill(&object(grid)).await.unwrap();
        assert_eq!(
            new.words,
            "every 5 minutes, first at 13:05, direct, no model"
        );
        let target = Target::Name("grid".to_owned());
        t.world.clock.set(at("13:03"));
        let steps = [
            // The grid is kept unless the interval changes.
            (
                json!({"description": "other words"}),
                "13:05",
                "next at 13:05",
            ),
            (json!({"interval_minutes": 5}), "13:05", "next at 13:05"),
            (json!({"interval_minutes": 6}), "13:09", "first at 13:09"),
        ];
        for (change, next, said) in steps {
            let changed = engine
                .library()
                .update_skill(&target, &object(change))
                .await
                .unwrap();
            assert_eq!(
                changed.row.timeline.next_at.map(clock).as_deref(),
                Some(next)
            );
            assert!(changed.words.contains(said), "{}", changed.words);
        }
        let off = json!({"enabled": false});
        let off = engine
            .library()
            .update_skill(&target, &object(off))
            .await
            .unwrap();
        assert_eq!(off.words, "every 6 minutes, direct, no model, disabled");
    })
    .await;
}
