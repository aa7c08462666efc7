//! Checks of the limits in the field tables: lengths of texts and maximum numbers.

use serde_json::Value;

use crate::diagnostic::Sink;
use crate::fields::Field;
use crate::read::Fields;
use crate::rules::Rule;

impl Fields<'_> {
    /// Reports values that exceed the limits of their fields. `read` returns the values by key; it is only
    /// called if a field of the table has a limit.
    pub(crate) fn check_limits(
        &self,
        table: &[Field],
        read: impl FnOnce() -> Vec<(&'static str, Value)>,
        sink: &mut Sink,
    ) {
        if table.iter().all(|field| field.most.is_none()) {
            return;
        }
        let values = read();
        for field in table {
            let value = values.iter().find(|(key, _)| *key == field.name);
            let (Some(most), Some((key, value))) = (field.most, value) else {
                continue;
            };
            if let Some(excess) = excess(value, most) {
                let message = format!("`{key}` {excess}");
                sink.report_as(self.severity, Rule::InvalidValue, self.span(key), message)
                    .help(format!("it takes at most {most}"));
            }
        }
    }
}

/// Returns how a value exceeds its limit, or `None` if it does not.
fn excess(value: &Value, most: u32) -> Option<String> {
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            (length > most as usize).then(|| format!("has {length} characters"))
        }
        Value::Array(items) => items.iter().find_map(|item| excess(item, most)),
        Value::Number(number) => {
            let is_more = number
                .as_f64()
                .is_some_and(|number| number > f64::from(most));
            is_more.then(|| format!("is {number}"))
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diagnostic::Diagnostic;
    use crate::fields::{Kind, optional};
    use crate::severity::Severity;
    use crate::yaml;

    /// Returns the messages for a mapping with these values, whose fields all have a limit of 3.
    fn messages(values: &[(&'static str, Value)]) -> Vec<String> {
        let table: Vec<Field> = (values.iter())
            .map(|(key, _)| Field {
                most: Some(3),
                ..optional(key, Kind::Any, "")
            })
            .collect();
        let file = "z: 1";
        let root = yaml::parse(file, 0).unwrap().unwrap();
        let fields = Fields {
            map: root.as_mapping().unwrap(),
            file,
            severity: Severity::Error,
        };
        let mut sink = Sink::default();
        fields.check_limits(&table, || values.to_vec(), &mut sink);
        let message = |found: Diagnostic| format!("{}; {}", found.message, found.help.unwrap());
        sink.finish().into_iter().map(message).collect()
    }

    #[test]
    fn a_limit_applies_to_strings_and_numbers() {
        let kept = [
            ("a", json!("äöü")),
            ("b", json!(["abc", "d"])),
            ("c", json!(3)),
            ("d", json!(true)),
        ];
        assert_eq!(messages(&kept), Vec::<String>::new());
        let exceeded = [
            ("a", json!("äöüß")),
            ("b", json!(["abc", "defgh"])),
            ("c", json!(3.5)),
        ];
        assert_eq!(
            messages(&exceeded),
            [
                "`a` has 4 characters; it takes at most 3",
                "`b` has 5 characters; it takes at most 3",
                "`c` is 3.5; it takes at most 3",
            ]
        );
    }
}
