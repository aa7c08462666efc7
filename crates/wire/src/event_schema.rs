//! JSON Schema of public events, both live and exported.
//!
//! Derived from [`crate::event`]. Unknown fields are allowed, because later versions may add some.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::event::EventView;
use crate::schema::instant;

/// An event of deft.
#[derive(JsonSchema)]
#[schemars(untagged, title = "an event of deft")]
#[expect(
    dead_code,
    clippy::large_enum_variant,
    reason = "only its schema is used"
)]
enum AnyEvent {
    Run(EventView),
    Other(OtherEvent),
}

/// Events in a stream that do not belong to a run. So far deft sends only `resync`, but clients should expect
/// all of them.
#[derive(JsonSchema)]
#[schemars(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum OtherEvent {
    /// A notice was delivered.
    NoticeSent(NoticeEvent),
    /// A notice could not be delivered.
    NoticeFailed(NoticeEvent),
    /// Events were missed; the client should read the state again.
    Resync {
        seq: u64,
        #[schemars(schema_with = "instant")]
        at: String,
    },
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct NoticeEvent {
    seq: u64,
    #[schemars(schema_with = "instant")]
    at: String,
    execution_id: String,
    skill: String,
}

/// Returns the JSON Schema of one event.
pub fn event_schema() -> Value {
    let settings = SchemaSettings::draft07().for_serialize();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<AnyEvent>();
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs rely on the printed schema, so a change of it must show in review (S3.30).
    #[test]
    fn the_schema_of_events_is_stable() {
        insta::assert_json_snapshot!(event_schema());
    }
}
