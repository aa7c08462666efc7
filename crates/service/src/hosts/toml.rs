//! Edits of TOML texts; `toml_edit` keeps comments and order.

use deft_skillfile::Lines;
use deft_wire::model::Object;
use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, TomlError};

/// Parses a text. The error message begins with line and column.
pub(super) fn read(text: &str) -> Result<Object, String> {
    let document = text.parse::<DocumentMut>().map_err(|problem: TomlError| {
        let start = problem.span().map_or(0, |span| span.start);
        let (line, column) = Lines::new(text).position(start);
        format!("{line}:{column}: {}", problem.message())
    })?;
    Ok(object(document.as_table()))
}

/// Adds or replaces the entry `name` in the table below `key`; creates the table if it is missing. Returns
/// `None` if the text cannot be edited.
pub(super) fn put(text: &str, key: &str, name: &str, entry: &Object) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let has_content = !text.trim().is_empty();
    let list = document.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let list = list.as_table_like_mut()?;
    if let Some(old) = list.get_mut(name).and_then(Item::as_table_like_mut) {
        update(old, entry);
    } else {
        let mut table = Table::new();
        update(&mut table, entry);
        if has_content {
            table.decor_mut().set_prefix("\n");
        }
        list.insert(name, Item::Table(table));
    }
    Some(document.to_string())
}

/// Removes the entry `name` from the table below `key`. Returns `None` if it is not found.
pub(super) fn remove(text: &str, key: &str, name: &str) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let list = document.get_mut(key)?.as_table_like_mut()?;
    list.remove(name)?;
    Some(document.to_string())
}

/// Formats the entry for a person who adds it by hand.
pub(super) fn snippet(key: &str, name: &str, entry: &Object) -> String {
    put("", key, name, entry).unwrap_or_default()
}

/// Makes `table` equal to `entry`. Values that are already equal keep their formatting.
fn update(table: &mut dyn TableLike, entry: &Object) {
    let current = object(table);
    for key in current.keys().filter(|key| !entry.contains_key(*key)) {
        table.remove(key);
    }
    for (key, value) in entry {
        if current.get(key) != Some(value)
            && let Some(value) = to_toml(value)
        {
            table.insert(key, Item::Value(value));
        }
    }
}

fn to_toml(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.into(),
        Value::Array(items) => {
            let items: Array = items.iter().filter_map(to_toml).collect();
            items.into()
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            let table: InlineTable = fields
                .filter_map(|(key, value)| Some((key.as_str(), to_toml(value)?)))
                .collect();
            table.into()
        }
    })
}

fn object(table: &dyn TableLike) -> Object {
    let fields = table.iter();
    fields
        .map(|(key, item)| (key.to_owned(), json(item)))
        .collect()
}

fn json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => plain(value),
        Item::Table(table) => Value::Object(object(table)),
        Item::ArrayOfTables(tables) => tables
            .iter()
            .map(|table| Value::Object(object(table)))
            .collect(),
    }
}

fn plain(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(truth) => Value::from(*truth.value()),
        toml_edit::Value::Datetime(time) => Value::from(time.value().to_string()),
        toml_edit::Value::Array(items) => items.iter().map(plain).collect(),
        toml_edit::Value::InlineTable(table) => Value::Object(object(table)),
    }
}
