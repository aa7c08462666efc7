//! What `deft doctor` finds about times: the zone in which they are read.

use super::Findings;
use deft_config::Home;

pub(super) fn check_zone(home: &Home, found: &mut Findings) {
    if let Some(doubt) = home.zone_doubt() {
        let hint = "set `time.zone`: `deft config set time.zone Europe/Berlin`";
        found.bad("time.zone", doubt, Some(hint.to_owned()));
    }
}
