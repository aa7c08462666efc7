//! The JSON Schema of public events: what follows a run live, and what is exported of it.
//!
//! It is derived from [`crate::event`]. Fields may be added, so unknown ones are allowed.

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

/// What a stream of events may contain beside the events of runs. deft does not send these yet; who
/// reads a stream has to expect them.
#[derive(JsonSchema)]
#[schemars(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum OtherEvent {
    /// A message to a person was delivered.
    NoticeSent(NoticeEvent),
    /// A message to a person could not be delivered.
    NoticeFailed(NoticeEvent),
    /// Events were left out; ask for the state anew.
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

/// The schema of one event.
pub fn event_schema() -> Value {
    let settings = SchemaSettings::draft07().for_serialize();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<AnyEvent>();
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs rely on the printed schema, so a change of it has to be seen (S3.30).
    #[test]
    fn the_schema_of_events_is_stable() {
        insta::assert_json_snapshot!(event_schema());
    }
}
