//! Sample values for each type of field, for tests that read all rows of a table.

use serde_json::{Map, Value, json};

use super::{Field, Kind};
use crate::diagnostic::Sink;
use crate::read::Fields;
use crate::severity::Severity;
use crate::yaml;

/// Returns a valid value of the field that differs from the usual default.
pub(crate) fn sample(field: &Field) -> Value {
    match field.kind {
        Kind::Text | Kind::Filled | Kind::Name => json!("text"),
        // Differs from the default: of these fields, `expose` is false by default.
        Kind::Truth => json!(field.name == "expose"),
        Kind::Count | Kind::Positive | Kind::Integer => json!(7),
        Kind::Number => json!(0.5),
        Kind::Texts | Kind::List | Kind::Choices | Kind::Loop => json!(["one", "two"]),
        Kind::Duration | Kind::Wait => json!(90),
        Kind::Cron => json!("0 9 * * *"),
        Kind::Any => json!({"calendar": "2h"}),
        Kind::Object => json!({"type": "object"}),
        Kind::Words(words) => json!(words.last()),
        Kind::OnError => json!("continue"),
        Kind::Classes => json!(["network"]),
        Kind::Table(tables) | Kind::Open(tables) => fields(tables),
        Kind::Tables(tables) => json!([fields(tables)]),
    }
}

fn fields(tables: &[&[Field]]) -> Value {
    let fields = tables.iter().copied().flatten();
    let fields = fields.map(|field| (field.name.to_owned(), sample(field)));
    Value::Object(fields.collect::<Map<_, _>>())
}

/// Reads the keys of a mapping that must be valid.
pub(crate) fn read_sample<T>(
    given: &[(&str, Value)],
    read: impl FnOnce(&Fields<'_>, &mut Sink) -> T,
) -> T {
    let lines = given.iter().map(|(key, value)| format!("{key}: {value}\n"));
    let file: String = lines.collect();
    let root = yaml::parse(&file, 0).unwrap().unwrap();
    let fields = Fields {
        map: root.as_mapping().unwrap(),
        file: &file,
        severity: Severity::Error,
    };
    let mut sink = Sink::default();
    let value = read(&fields, &mut sink);
    assert_eq!(sink.finish(), []);
    value
}
