//! Integration tests of the schedule maths.

#![allow(clippy::expect_used, reason = "helpers of tests may fail the test")]

mod cases;
mod dst;
mod due;
mod properties;
mod simulated;

/// Zones with all kinds of clock changes: by half an hour, at midnight, by a whole day, with negative
/// daylight saving time, around Ramadan, and none.
const ZONES: [&str; 12] = [
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/New_York",
    "America/Santiago",
    "America/St_Johns",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Dublin",
    "Pacific/Apia",
    "Pacific/Chatham",
];
