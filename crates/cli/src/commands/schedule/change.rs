//! `deft schedule add`, `pause`, `resume` and `remove`.

use deft_service::schedule;

use crate::args::{Global, ScheduleAdd};
use crate::commands::remind::say_change;
use crate::failure::Done;
use crate::output::Output;

/// The subject of the printed sentence.
const NOUN: &str = "schedule of";

pub(super) fn add(args: &ScheduleAdd, global: &Global, output: &Output) -> Done {
    let (words, zone) = (args.when.join(" "), args.tz.as_deref());
    let change = schedule::add(&global.workspace(), &args.name, &words, zone)?;
    let code = say_change(NOUN, &change, output)?;
    let home_zone = global.workspace().home_to_read()?.moment().zone;
    let home_zone = home_zone.iana_name().filter(|name| *name != change.zone);
    if let (None, Some(home_zone)) = (zone, home_zone) {
        let kept = &change.zone;
        output.note(&format!(
            "hint: times of this skill stay in the zone `{kept}`; `--tz {home_zone}` changes that"
        ));
    }
    Ok(code)
}

pub(super) fn pause(name: &[String], global: &Global, output: &Output) -> Done {
    let change = schedule::pause(&global.workspace(), &name.join(" "))?;
    say_change(NOUN, &change, output)
}

pub(super) fn resume(name: &[String], global: &Global, output: &Output) -> Done {
    let change = schedule::resume(&global.workspace(), &name.join(" "))?;
    say_change(NOUN, &change, output)
}

pub(super) fn remove(name: &[String], global: &Global, output: &Output) -> Done {
    let change = schedule::remove(&global.workspace(), &name.join(" "))?;
    say_change(NOUN, &change, output)
}
