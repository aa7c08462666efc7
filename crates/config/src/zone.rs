//! Detects the name of the host's time zone: `TZ` if it names one, else the system's.
//!
//! Schedules are stored with the name of their zone, because a rule or an offset does not determine next
//! year's clock changes. If the host's zone has no name, a warning reports which zone is used instead. Not
//! here: `[time] zone`, which has precedence.

use std::fs;
use std::path::{Path, PathBuf};

use deft_schedule::parse_zone;
use jiff::tz::TimeZone;

use crate::env;

/// The time zone of the host.
#[derive(Clone, Debug)]
pub struct Host {
    /// The zone; UTC if the host names none.
    pub zone: TimeZone,
    /// Why this may not be the zone the user expects.
    pub doubt: Option<String>,
}

/// The sources of the host's zone.
#[derive(Clone, Debug, Default)]
struct ZoneSources {
    /// The `TZ` variable.
    tz: Option<String>,
    /// The target of the link `/etc/localtime`; the path itself if it is a file.
    localtime: Option<PathBuf>,
    /// The content of `/etc/timezone`.
    timezone: Option<String>,
}

/// Detects the zone of this host.
pub fn host() -> Host {
    let localtime = Path::new("/etc/localtime");
    let leads_to = fs::read_link(localtime).ok();
    ZoneSources {
        tz: env::get(env::TZ).map(|tz| tz.to_string_lossy().into_owned()),
        localtime: leads_to.or_else(|| localtime.exists().then(|| localtime.to_path_buf())),
        timezone: fs::read_to_string("/etc/timezone").ok(),
    }
    .read()
}

impl ZoneSources {
    fn read(&self) -> Host {
        let tz = self.tz.as_deref().map(|tz| tz.trim_start_matches(':'));
        let tz = tz.filter(|tz| !tz.trim().is_empty());
        if let Some(zone) = tz.and_then(parse_name) {
            return Host { zone, doubt: None };
        }
        let linked = self.localtime.as_deref().and_then(Path::to_str);
        let system = linked.and_then(parse_name);
        let system = system.or_else(|| self.timezone.as_deref().and_then(parse_name));
        let nameless = system.is_none() && self.localtime.is_some();
        let zone = system.unwrap_or(TimeZone::UTC);
        let name = deft_schedule::zone_name(&zone);
        // A path outside `zoneinfo` refers to the system's own zone.
        let tz = tz.filter(|tz| !tz.starts_with('/'));
        let doubt = match tz {
            Some(tz) => Some(format!(
                "`TZ` is `{tz}`, which is not a time zone: times are read in `{name}`"
            )),
            None if nameless => Some(format!(
                "the name of the system's time zone is unknown: times are read in `{name}`"
            )),
            None => None,
        };
        Host { zone, doubt }
    }
}

/// Parses the name of a zone, or a path to its rules.
fn parse_name(text: &str) -> Option<TimeZone> {
    let name = match text.rsplit_once("zoneinfo/") {
        Some((_, name)) => name.trim_start_matches("posix/"),
        None => text,
    };
    parse_zone(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tz: &str, localtime: &str, timezone: &str) -> (String, Option<String>) {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let signs = ZoneSources {
            tz: given(tz),
            localtime: given(localtime).map(PathBuf::from),
            timezone: given(timezone),
        };
        let host = signs.read();
        (deft_schedule::zone_name(&host.zone), host.doubt)
    }

    #[test]
    fn a_named_zone_is_used() {
        let berlin = "../usr/share/zoneinfo/Europe/Berlin";
        let cases = [
            (("Asia/Tokyo", berlin, ""), "Asia/Tokyo"),
            ((":Asia/Tokyo", berlin, ""), "Asia/Tokyo"),
            (("/usr/share/zoneinfo/Asia/Tokyo", berlin, ""), "Asia/Tokyo"),
            (("", berlin, "Asia/Tokyo\n"), "Europe/Berlin"),
            ((":/etc/localtime", berlin, ""), "Europe/Berlin"),
            (
                ("", "/usr/share/zoneinfo/posix/Europe/Berlin", ""),
                "Europe/Berlin",
            ),
            (("", "/etc/localtime", "Europe/Berlin\n"), "Europe/Berlin"),
            (("UTC", berlin, ""), "UTC"),
            (("", "", ""), "UTC"),
        ];
        for ((tz, localtime, timezone), zone) in cases {
            let found = read(tz, localtime, timezone);
            assert_eq!(found, (zone.to_owned(), None), "{tz} {localtime}");
        }
    }

    #[test]
    fn an_invalid_zone_is_reported() {
        let berlin = "/usr/share/zoneinfo/Europe/Berlin";
        let rule = "CET-1CEST,M3.5.0,M10.5.0/3";
        let cases = [
            (
                (rule, berlin, ""),
                (
                    "Europe/Berlin",
                    "`TZ` is `CET-1CEST,M3.5.0,M10.5.0/3`, which is not a time zone: times are read in `Europe/Berlin`",
                ),
            ),
            (
                ("Europe/Berlim", "", ""),
                (
                    "UTC",
                    "`TZ` is `Europe/Berlim`, which is not a time zone: times are read in `UTC`",
                ),
            ),
            (
                ("", "/etc/localtime", ""),
                (
                    "UTC",
                    "the name of the system's time zone is unknown: times are read in `UTC`",
                ),
            ),
        ];
        for ((tz, localtime, timezone), (zone, doubt)) in cases {
            let found = read(tz, localtime, timezone);
            assert_eq!(found, (zone.to_owned(), Some(doubt.to_owned())), "{tz}");
        }
    }
}
