//! Time, time zones and random bytes as functions of the job; the prelude builds its clock on them.
//!
//! Python calls the functions, which read one value that the host sets before each job. None of them reads a
//! system clock, a zone file or a source of entropy.

use std::cell::RefCell;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Dst, Offset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan as _};
use rustpython_vm::builtins::{PyDictRef, PyStrRef};
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

/// Maximum number of random bytes per request.
const ENTROPY: usize = 1 << 20;

/// The current time and zone of a job, and the state of its random generator.
pub(crate) struct Moment {
    now: Timestamp,
    zone: TimeZone,
    chance: u64,
}

thread_local! {
    static MOMENT: RefCell<Moment> = const {
        RefCell::new(Moment {
            now: Timestamp::UNIX_EPOCH,
            zone: TimeZone::UTC,
            chance: 0,
        })
    };
    static ZONES: TimeZoneDatabase = TimeZoneDatabase::bundled();
}

impl Moment {
    /// Sets the time, zone and seed of the next job. Fails for an unknown zone.
    pub(crate) fn set(now: Timestamp, zone: &str, seed: u64) -> Result<(), String> {
        let zone = find(zone).ok_or_else(|| format!("unknown time zone `{zone}`"))?;
        let chance = seed;
        MOMENT.set(Moment { now, zone, chance });
        Ok(())
    }

    /// Returns abbreviation and offset in seconds of the local zone at the current time.
    pub(crate) fn zone() -> (String, i32) {
        MOMENT.with_borrow(|moment| {
            let info = moment.zone.to_offset_info(moment.now);
            (info.abbreviation().to_owned(), info.offset().seconds())
        })
    }
}

/// Returns a zone by its IANA name or an offset such as `+02:00`.
fn find(name: &str) -> Option<TimeZone> {
    if name.eq_ignore_ascii_case("utc") {
        return Some(TimeZone::UTC);
    }
    let named = ZONES.with(|zones| zones.get(name)).ok();
    named.or_else(|| parse_fixed_offset(name).map(TimeZone::fixed))
}

fn parse_fixed_offset(text: &str) -> Option<Offset> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: Vec<i32> = text
        .get(1..)?
        .chars()
        .filter(|c| *c != ':')
        .map(|c| c.to_digit(10).and_then(|digit| i32::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    let [h1, h2, rest @ ..] = digits.as_slice() else {
        return None;
    };
    let minutes = match rest {
        [] => 0,
        [m1, m2] => m1 * 10 + m2,
        _ => return None,
    };
    Offset::from_seconds(sign * ((h1 * 10 + h2) * 3600 + minutes * 60)).ok()
}

/// Returns the functions for the prelude.
pub(super) fn natives(vm: &VirtualMachine) -> PyResult<PyDictRef> {
    let natives = vm.ctx.new_dict();
    let add = |name: &'static str, function: PyObjectRef| natives.set_item(name, function, vm);
    add("now", vm.new_function("now", now).into())?;
    add("local", vm.new_function("local", local).into())?;
    add("absolute", vm.new_function("absolute", absolute).into())?;
    add("entropy", vm.new_function("urandom", entropy).into())?;
    add("zone_utc", vm.new_function("zone_utc", zone_utc).into())?;
    add(
        "zone_local",
        vm.new_function("zone_local", zone_local).into(),
    )?;
    add("zones", vm.new_function("zones", zones).into())?;
    Ok(natives)
}

fn now(vm: &VirtualMachine) -> PyObjectRef {
    let now = MOMENT.with_borrow(|moment| moment.now);
    // Python counts from the second below, even before the epoch.
    let nanos = now.subsec_nanosecond();
    let (seconds, nanos) = match nanos {
        ..0 => (now.as_second() - 1, nanos + 1_000_000_000),
        _ => (now.as_second(), nanos),
    };
    let items = vec![vm.ctx.new_int(seconds).into(), vm.ctx.new_int(nanos).into()];
    vm.ctx.new_tuple(items).into()
}

/// Returns the eleven fields of a `struct_time` in the local zone.
fn local(seconds: i64, vm: &VirtualMachine) -> PyResult {
    let stamp = stamp(seconds, vm)?;
    let zone = MOMENT.with_borrow(|moment| moment.zone.clone());
    let info = zone.to_offset_info(stamp);
    let civil = info.offset().to_datetime(stamp);
    let number = |value: i64| -> PyObjectRef { vm.ctx.new_int(value).into() };
    Ok(vm
        .ctx
        .new_tuple(vec![
            number(civil.year().into()),
            number(civil.month().into()),
            number(civil.day().into()),
            number(civil.hour().into()),
            number(civil.minute().into()),
            number(civil.second().into()),
            number(civil.weekday().to_monday_zero_offset().into()),
            number(civil.day_of_year().into()),
            number(i64::from(info.dst() == Dst::Yes)),
            vm.ctx.new_str(info.abbreviation()).into(),
            number(info.offset().seconds().into()),
        ])
        .into())
}

/// Converts a local time to an instant. Out-of-range fields carry over to the next larger one, as in
/// `mktime`.
fn absolute(
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    vm: &VirtualMachine,
) -> PyResult<i64> {
    let range = || vm.new_overflow_error("mktime argument out of range");
    let months = year
        .checked_mul(12)
        .and_then(|months| months.checked_add(month - 1))
        .ok_or_else(range)?;
    let year = i16::try_from(months.div_euclid(12)).map_err(|_| range())?;
    let month = i8::try_from(months.rem_euclid(12) + 1).map_err(|_| range())?;
    let civil = DateTime::new(year, month, 1, 0, 0, 0, 0).map_err(|_| range())?;
    let span = 0
        .days()
        .try_days(day.saturating_sub(1))
        .and_then(|span| span.try_hours(hour))
        .and_then(|span| span.try_minutes(minute))
        .and_then(|span| span.try_seconds(second))
        .map_err(|_| range())?;
    let civil = civil.checked_add(span).map_err(|_| range())?;
    let zone = MOMENT.with_borrow(|moment| moment.zone.clone());
    let stamp = zone.to_timestamp(civil).map_err(|_| range())?;
    Ok(stamp.as_second())
}

/// Returns random bytes generated from the seed of the job (`SplitMix64`).
fn entropy(count: usize, vm: &VirtualMachine) -> PyResult {
    if count > ENTROPY {
        return Err(vm.new_memory_error("too many random bytes at once"));
    }
    let bytes = MOMENT.with_borrow_mut(|moment| {
        let mut bytes = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            moment.chance = moment.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = moment.chance;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            bytes.extend_from_slice(&(word ^ (word >> 31)).to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    });
    Ok(vm.ctx.new_bytes(bytes).into())
}

/// Returns offset, daylight saving and abbreviation of a zone at an instant, or `None` for an unknown zone.
#[expect(clippy::needless_pass_by_value, reason = "arguments come from Python")]
fn zone_utc(name: PyStrRef, seconds: i64, vm: &VirtualMachine) -> PyResult {
    let Some(zone) = find(&name.to_string_lossy()) else {
        return Ok(vm.ctx.none());
    };
    Ok(info(&zone, stamp(seconds, vm)?, None, vm))
}

/// Like [`zone_utc`], for a local time; `fold` selects the later of two instants, and the later offset in a
/// gap.
///
/// The local time is given as the seconds since the epoch that its fields would be in UTC.
#[expect(clippy::needless_pass_by_value, reason = "arguments come from Python")]
fn zone_local(name: PyStrRef, seconds: i64, fold: i8, vm: &VirtualMachine) -> PyResult {
    let range = |error: jiff::Error| vm.new_value_error(error.to_string());
    let zone = find(&name.to_string_lossy())
        .ok_or_else(|| vm.new_value_error("this zone is not known"))?;
    let civil = Offset::UTC.to_datetime(stamp(seconds, vm)?);
    let offset = match zone.to_ambiguous_timestamp(civil).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset,
        AmbiguousOffset::Gap { before, after } | AmbiguousOffset::Fold { before, after } => {
            if fold == 0 { before } else { after }
        }
    };
    let stamp = offset.to_timestamp(civil).map_err(range)?;
    Ok(info(&zone, stamp, Some(offset), vm))
}

fn zones(vm: &VirtualMachine) -> PyObjectRef {
    let names: Vec<String> =
        ZONES.with(|zones| zones.available().map(|name| name.to_string()).collect());
    let names = names
        .into_iter()
        .map(|name| vm.ctx.new_str(name).into())
        .collect();
    vm.ctx.new_list(names).into()
}

fn info(
    zone: &TimeZone,
    stamp: Timestamp,
    offset: Option<Offset>,
    vm: &VirtualMachine,
) -> PyObjectRef {
    let info = zone.to_offset_info(stamp);
    let saving = if info.dst() == Dst::Yes { 3600 } else { 0 };
    let offset = offset.unwrap_or(info.offset()).seconds();
    vm.ctx
        .new_tuple(vec![
            vm.ctx.new_int(offset).into(),
            vm.ctx.new_int(saving).into(),
            vm.ctx.new_str(info.abbreviation()).into(),
        ])
        .into()
}

fn stamp(seconds: i64, vm: &VirtualMachine) -> PyResult<Timestamp> {
    Timestamp::from_second(seconds)
        .map_err(|_| vm.new_overflow_error("timestamp out of range for platform time_t"))
}
