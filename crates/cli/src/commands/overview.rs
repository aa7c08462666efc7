//! `deft` alone: what there is, and what to try next.

use std::process::ExitCode;

use deft_registry::State;
use serde_json::json;

use crate::args::Global;
use crate::failure::Done;
use crate::output::{Output, counted};
use deft_service::Library;

pub(crate) fn run(global: &Global, output: &Output) -> Done {
    let home = global.workspace().home_to_read()?;
    let snapshot = Library::of_home(&home).load();
    let broken = snapshot
        .files()
        .iter()
        .filter(|file| matches!(file.state, State::Broken { .. }))
        .count();
    let home = home.path.display().to_string();
    if output.json {
        output
            .document(&json!({"home": home, "skills": snapshot.skill_count(), "broken": broken}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("{} in {home}", counted(snapshot.skill_count(), "skill"));
    if broken > 0 {
        text.push_str(&format!(", {} broken", counted(broken, "file")));
    }
    text.push_str("\n\n");
    text.push_str(match (snapshot.skill_count(), broken) {
        (0, _) => "  deft skills new my-skill          write a first skill\n  deft skills import FOLDER         bring skills from elsewhere\n",
        (_, 0) => "  deft skills list                  what there is\n  deft run NAME                     run one now\n  deft cmd get_skill                what a model sees first\n",
        _ => "  deft skills doctor                what is broken, and why\n  deft skills list                  what there is\n",
    });
    text.push_str("  deft --help                       all commands\n");
    output.data(text)?;
    Ok(ExitCode::SUCCESS)
}
