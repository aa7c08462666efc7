//! Counts the fires of a cron expression in a time range without enumerating them.
//!
//! Every matching day has as many fires as the time fields have combinations, so only days are enumerated; a
//! year of every second costs 365 steps. Days with a clock change follow the rules that `cron` applies to
//! each fire; a test verifies that both agree.

use jiff::civil::{DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use crate::cron::Cron;
use crate::fields::Fields;
use crate::zone::second_run_ends;

/// The wall times at which an expression fires on a matching day.
struct Clock {
    hours: Vec<u16>,
    minutes: Vec<u16>,
    seconds: Vec<u16>,
}

impl Cron {
    /// Returns the number of fires later than `after` and not later than `until`.
    pub(crate) fn count(&self, zone: &TimeZone, after: Timestamp, until: Timestamp) -> u64 {
        if self.impossible() {
            return 0;
        }
        let clock = Clock::new(self.fields());
        let mut offset = zone.to_offset(after);
        let mut from = self.first_wall_time(zone, after, offset);
        let mut count = 0;
        for change in zone.following(after) {
            let at = change.timestamp();
            if at > until {
                break;
            }
            count += self.count_wall_times(&clock, from, offset.to_datetime(at));
            let (was, is) = (offset.to_datetime(at), change.offset().to_datetime(at));
            offset = change.offset();
            from = is;
            if !self.follows_clock() {
                from = is.max(was);
                if is > was && self.count_wall_times(&clock, was, later(is)) > 0 {
                    // All wall times in a gap, and those at its end, share one fire.
                    count += 1;
                    from = later(is);
                }
            }
        }
        count + self.count_wall_times(&clock, from, later(offset.to_datetime(until)))
    }

    /// Returns the wall time at which counting starts: after the second run of a repeated hour, which adds no
    /// fires.
    fn first_wall_time(&self, zone: &TimeZone, after: Timestamp, offset: Offset) -> DateTime {
        let end = if self.follows_clock() {
            None
        } else {
            second_run_ends(zone, after, offset)
        };
        end.unwrap_or_else(|| later(offset.to_datetime(after)))
    }

    /// Counts the matching wall times from `from` to `to`, exclusive.
    fn count_wall_times(&self, clock: &Clock, from: DateTime, to: DateTime) -> u64 {
        let mut count = 0;
        let mut from = from;
        while from < to {
            let Some(wall) = self.next_wall(from, true).filter(|wall| *wall < to) else {
                break;
            };
            let end = if wall.date() == to.date() {
                clock.count_before(to.time())
            } else {
                clock.per_day()
            };
            count += end - clock.count_before(wall.time());
            let Ok(tomorrow) = wall.date().tomorrow() else {
                break;
            };
            from = tomorrow.to_datetime(Time::midnight());
        }
        count
    }
}

impl Clock {
    fn new(fields: &Fields) -> Clock {
        Clock {
            hours: fields.hour.values(),
            minutes: fields.minute.values(),
            seconds: fields.second.values(),
        }
    }

    fn per_day(&self) -> u64 {
        len(&self.hours) * len(&self.minutes) * len(&self.seconds)
    }

    /// Counts the day's times before `time`.
    fn count_before(&self, time: Time) -> u64 {
        let (hours, same_hour) = rank(&self.hours, time.hour());
        let (minutes, same_minute) = rank(&self.minutes, time.minute());
        let (seconds, _) = rank(&self.seconds, time.second());
        let in_minute = u64::from(same_minute) * seconds;
        let in_hour = u64::from(same_hour) * (minutes * len(&self.seconds) + in_minute);
        hours * len(&self.minutes) * len(&self.seconds) + in_hour
    }
}

/// Returns the number of smaller values, and whether `values` contains `value`.
fn rank(values: &[u16], value: i8) -> (u64, bool) {
    let value = u16::try_from(value).unwrap_or_default();
    match values.binary_search(&value) {
        Ok(index) => (index as u64, true),
        Err(index) => (index as u64, false),
    }
}

fn len(values: &[u16]) -> u64 {
    values.len() as u64
}

/// Returns the next whole second; fires have no fractions.
fn later(wall: DateTime) -> DateTime {
    let (date, time) = (wall.date(), wall.time());
    let whole = Time::constant(time.hour(), time.minute(), time.second(), 0);
    date.to_datetime(whole)
        .saturating_add(SignedDuration::from_secs(1))
}
