//! `deft skills new`.

use std::process::ExitCode;

use deft_service::skills::{NewSkill, NewSkillKind, create};
use deft_wire::skill_files::CreatedSkill;

use crate::args::{Global, New, NewKind};
use crate::failure::Done;
use crate::output::Output;

pub(crate) fn run(args: &New, global: &Global, output: &Output) -> Done {
    let kind = args.kind.map(|kind| match kind {
        NewKind::Skill => NewSkillKind::Skill,
        NewKind::Manpage => NewSkillKind::ManPage,
        NewKind::Workflow => NewSkillKind::Workflow,
    });
    let path = create(
        &global.workspace(),
        &NewSkill {
            name: args.name.clone(),
            kind,
            description: args.description.clone(),
            folder: args.dir.clone(),
        },
    )?;
    let path = path.display().to_string();
    if output.json {
        output.document(&CreatedSkill { ok: true, path })?;
    } else {
        output.data(&path)?;
        output.note("hint: edit it, then check it with `deft skills validate`");
    }
    Ok(ExitCode::SUCCESS)
}
