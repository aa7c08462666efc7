//! Lengths of time in a configuration: a number of seconds, or words as `1m30s`.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Seconds(f64),
    Words(String),
}

pub(super) fn serialize<S: Serializer>(length: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(length.as_secs_f64())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    match Written::deserialize(from)? {
        Written::Seconds(seconds) => Duration::try_from_secs_f64(seconds)
            .map_err(|_| D::Error::custom(format!("`{seconds}` is not a number of seconds"))),
        Written::Words(words) => words
            .parse::<jiff::SignedDuration>()
            .ok()
            .and_then(|length| Duration::try_from(length).ok())
            .ok_or_else(|| {
                D::Error::custom(format!(
                    "`{words}` is not a length of time such as `90s` or `2m`"
                ))
            }),
    }
}
