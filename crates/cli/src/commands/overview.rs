//! `deft` alone: the state of the home, and what to try next.
use std::process::ExitCode;

use deft_service::skills;

use crate::args::Global;
use crate::failure::Done;
use crate::output::{Output, counted};

pub(crate) fn run(global: &Global, output: &Output) -> Done {
    let overview = skills::overview(&global.workspace())?;
    if output.json {
        output.document(&overview)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("{} in {}", counted(overview.skills, "skill"), overview.home);
    if overview.broken > 0 {
        text.push_str(&format!(", {} broken", counted(overview.broken, "file")));
    }
    text.push_str("\n\n");
    if overview.models == 0 {
        text.push_str(
            "  deft setup                        choose a model, import skills and servers\n",
        );
    }
    text.push_str(match (overview.skills, overview.broken) {
        (0, _) => "  deft skills new my-skill          write a first skill\n  deft skills import FOLDER         bring skills from elsewhere\n",
        (_, 0) => "  deft skills list                  all skills\n  deft run NAME                     run one now\n  deft cmd get_skill                what a model sees first\n",
        _ => "  deft skills doctor                what is broken, and why\n  deft skills list                  all skills\n",
    });
    text.push_str("  deft --help                       all commands\n");
    output.data(text)?;
    Ok(ExitCode::SUCCESS)
}
