//! Durations in options, as a number of seconds. The configuration parses units such as `1m30s` and
//! passes seconds.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

pub(super) fn serialize<S: Serializer>(length: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(length.as_secs_f64())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(from)?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| D::Error::custom(format!("`{seconds}` is not a number of seconds")))
}
