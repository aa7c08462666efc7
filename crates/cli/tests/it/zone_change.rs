//! A daemon applies changes of the configured time zone.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::daemon::{Daemon, used_home};

/// Returns a skill that fires every two seconds in the current and the next hour of `zone`.
fn skill(zone: &str) -> String {
    let now = Timestamp::now().to_zoned(TimeZone::get(zone).unwrap());
    let (hour, next) = (now.hour(), (now.hour() + 1) % 24);
    format!(
        "name: ticks\ndescription: Ticks\nschedule: \"*/2 * {hour},{next} * * *\"\n\
         steps:\n  - {{id: say, tool: log, args: {{message: tick}}}}\n"
    )
}

/// In Berlin the hour differs, so nothing fires before the change.
#[test]
fn a_changed_zone_setting_applies_at_once() {
    let world = used_home();
    world.write("home/skills/ticks.yaml", skill("Asia/Tokyo"));
    let mut daemon = Daemon::start(&world);
    assert_eq!(world.code(&["config", "set", "time.zone", "Asia/Tokyo"]), 0);
    daemon.until("time zone changed to `Asia/Tokyo`: rescheduled 1 skill");
    daemon.until("log: info: tick");
    let output = daemon.stop();
    let (before, _) = output.split_once("time zone changed").unwrap();
    assert!(!before.contains("log: info: tick"), "{output}");
}

/// The stored slot was planned in the old zone.
#[test]
fn a_zone_changed_while_stopped_applies_at_the_start() {
    let world = used_home();
    world.write("home/skills/ticks.yaml", skill("Asia/Tokyo"));
    let output = Daemon::start(&world).stop();
    assert!(!output.contains("tick"), "{output}");
    assert_eq!(world.code(&["config", "set", "time.zone", "Asia/Tokyo"]), 0);
    let mut daemon = Daemon::start(&world);
    daemon.until("rescheduled 1 skill");
    daemon.until("log: info: tick");
    daemon.stop();
}
