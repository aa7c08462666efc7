//! Integration tests of the schedule maths.

#![allow(clippy::expect_used, reason = "helpers of tests may fail the test")]

mod cases;
mod dst;
mod due;
mod properties;
mod simulated;

/// Zones whose clocks change in every way there is: by half an hour, at midnight, by a whole day,
/// against the season, around Ramadan, and not at all.
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
