//! `deft skills import`: copies skills into the home.
//!
//! First everything is found (`gather`), then what becomes of each skill is
//! decided (`decide`), and only then is anything written.

mod decide;
mod gather;
pub(super) mod layout;
mod report;

use std::fs;
use std::process::ExitCode;

use self::decide::{Decided, Verdict, decide};
use self::gather::Gathered;
use self::report::Report;
use super::files::{Effect, Refused};
use crate::args::{Global, Import};
use crate::failure::{Done, Failure};
use crate::output::Output;

pub(crate) fn run(args: &Import, global: &Global, output: &Output) -> Done {
    let home = global.workspace().home()?;
    let mut gathered = Gathered::new(&home);
    for path in &args.paths {
        gathered.add(path)?;
    }
    if gathered.items.is_empty() && gathered.refused.is_empty() {
        return Err(
            Failure::input("nothing_to_import", "there are no skills in what was given")
                .hint("`deft skills validate PATH` says what deft sees there"),
        );
    }
    let decided = decide(gathered.items, &home, args);
    let refused = all_refused(gathered.refused, &decided);
    if !args.dry_run && decided.iter().any(Decided::changes) {
        home.ensure()?;
        decided.iter().try_for_each(apply)?;
    }
    let report = Report {
        decided: &decided,
        refused: &refused,
        dry_run: args.dry_run,
    };
    report.print(output)?;
    Ok(ExitCode::from(u8::from(!refused.is_empty())))
}

/// Everything that is refused, each once however often it was given.
fn all_refused(found: Vec<Refused>, decided: &[Decided]) -> Vec<Refused> {
    let mut all: Vec<Refused> = Vec::new();
    for one in found.into_iter().chain(decided.iter().flat_map(refusals)) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// A skill that is refused as a whole, or the files of it that are.
fn refusals(one: &Decided) -> Vec<Refused> {
    match &one.verdict {
        Verdict::Refuse(reason) | Verdict::Conflict(reason) => {
            vec![Refused::new(&one.item.source, reason.as_str())]
        }
        Verdict::Write => one.item.left_out.clone(),
        Verdict::Keep(_) | Verdict::Again => Vec::new(),
    }
}

fn apply(one: &Decided) -> Done<()> {
    for (file, effect) in one.item.files.iter().zip(&one.effects) {
        if *effect != Effect::Same {
            file.write()?;
        }
    }
    for path in &one.removed {
        fs::remove_file(path).map_err(|problem| Failure::file(path, "remove", &problem))?;
    }
    Ok(())
}
