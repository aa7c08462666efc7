//! Values that deft never writes: errors that name the table, key and column of the value.
//!
//! A damaged value is never replaced by a default: the engine would act on it and overwrite data that a
//! person could still repair.

use std::fmt::{self, Display};

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Error, Result, Row};

/// An unreadable value and its location. It is passed on inside an error of `rusqlite`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DamagedValue {
    pub(super) table: &'static str,
    pub(super) key: String,
    pub(super) reason: String,
}

impl Display for DamagedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, key, reason } = self;
        write!(f, "row `{key}` of table `{table}`: {reason}")
    }
}

impl std::error::Error for DamagedValue {}

/// Reads a row whose key is in column `key`.
pub(super) fn read<T>(
    row: &Row<'_>,
    table: &'static str,
    key: usize,
    read: impl FnOnce() -> Result<T>,
) -> Result<T> {
    read().map_err(|error| locate(row, table, || key_text(row, key), error))
}

/// Reads a row that was looked up by a key.
pub(super) fn read_by<T>(
    row: &Row<'_>,
    table: &'static str,
    key: impl Display,
    read: impl FnOnce() -> Result<T>,
) -> Result<T> {
    read().map_err(|error| locate(row, table, || key.to_string(), error))
}

/// Returns the key as text, even if it is damaged itself.
fn key_text(row: &Row<'_>, column: usize) -> String {
    match row.get_ref(column) {
        Ok(ValueRef::Integer(number)) => number.to_string(),
        Ok(ValueRef::Text(text)) => String::from_utf8_lossy(text).into_owned(),
        Ok(ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_)) | Err(_) => "?".to_owned(),
    }
}

fn locate(row: &Row<'_>, table: &'static str, key: impl FnOnce() -> String, error: Error) -> Error {
    let Some((column, cause)) = cause(&error) else {
        return error;
    };
    let reason = match row.as_ref().column_name(column) {
        Ok(name) => format!("column `{name}`: {cause}"),
        Err(_) => cause,
    };
    let key = key();
    let value = DamagedValue { table, key, reason };
    Error::FromSqlConversionFailure(column, Type::Null, Box::new(value))
}

/// Returns the column of an unreadable value and the reason, or `None` for other errors.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the errors of rusqlite are many, and only these are about a value"
)]
fn cause(error: &Error) -> Option<(usize, String)> {
    match error {
        Error::FromSqlConversionFailure(_, _, cause) if cause.is::<DamagedValue>() => None,
        Error::FromSqlConversionFailure(column, _, cause) => Some((*column, cause.to_string())),
        Error::IntegralValueOutOfRange(column, number) => {
            Some((*column, format!("{number} is out of range")))
        }
        Error::Utf8Error(column, _) => Some((*column, "invalid UTF-8".to_owned())),
        Error::InvalidColumnType(column, _, found) => {
            Some((*column, format!("unexpected type {found}")))
        }
        _ => None,
    }
}
