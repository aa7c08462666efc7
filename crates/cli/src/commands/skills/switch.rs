//! `deft skills enable|disable|restore`.

use std::process::ExitCode;

use deft_service::skills;
use deft_wire::skill::{SkillDocument, SkillView, StoredSkill};
use deft_wire::words::disabled_words;

use crate::args::Global;
use crate::failure::Done;
use crate::output::Output;

pub(crate) fn enable(name: &str, global: &Global, output: &Output) -> Done {
    let switched = skills::enable(&global.workspace(), name)?;
    let fires = switched.skill.head.enabled;
    print_state(switched.skill, output)?;
    if !switched.missing_tools.is_empty() && fires {
        output.note(&format!(
            "warning: no connected server provides `{}`, which it requires\nhint: `deft mcp add` \
             adds servers; `deft tools list` shows all tools",
            switched.missing_tools.join("`, `")
        ));
    }
    for off in switched.switched_off.iter().filter(|_| fires) {
        output.note(&format!("warning: {}", off.message));
        if let Some(hint) = &off.hint {
            output.note(&format!("hint: {hint}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn disable(name: &str, global: &Global, output: &Output) -> Done {
    let switched = skills::disable(&global.workspace(), name)?;
    print_state(switched.skill, output)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn restore(name: &str, global: &Global, output: &Output) -> Done {
    let skill = skills::restore(&global.workspace(), name)?.skill;
    if output.json {
        print_state(skill, output)?;
    } else {
        let state = match skill.head.disabled_reason {
            Some(why) => format!("; it is disabled ({})", disabled_words(why)),
            None => String::new(),
        };
        output.prose(format!("`{}` restored from its file{state}", skill.head.id))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print_state(skill: StoredSkill, output: &Output) -> Done<()> {
    if output.json {
        let skill = SkillView::Stored(Box::new(skill));
        return output.document(&SkillDocument { skill });
    }
    let id = &skill.head.id;
    let text = match (skill.head.disabled_reason, skill.head.trigger.next.first()) {
        (Some(why), _) => {
            let why = disabled_words(why);
            format!("`{id}` is disabled ({why})")
        }
        (None, Some(at)) => format!("`{id}` is enabled; next run at {at}"),
        (None, None) => format!("`{id}` is enabled"),
    };
    output.prose(text)
}
