//! Skills of MCP servers: `deft skills show SERVER/NAME`, `approve` and `revoke`, and their table in
//! `deft skills list`.

use std::process::ExitCode;

use deft_service::{runtime, skills};
use deft_wire::remote_skill::{RemoteSkillPage, RemoteSkillView, SkillApproval};
use deft_wire::skill::SkillList;

use crate::args::Global;
use crate::failure::Done;
use crate::fold::fold_markdown;
use crate::output::Output;
use crate::table::{Cell, Column, Row, Table, Tone};

/// The name stored as the author of an approval.
const BY: &str = "deft skills approve";

/// The number of digits shown of a digest.
const DIGEST_DIGITS: usize = 12;

pub(crate) fn show(name: &str, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace();
    let read = skills::read_remote(&workspace, name);
    let page = runtime::start()?.block_on(read)?;
    if output.json {
        output.document(&page)?;
    } else {
        output.prose(facts(&page))?;
        match &page.text {
            Some(text) => output.data(fold_markdown(&format!("\n{text}\n"), output.width()))?,
            None => output.note("the file is not text"),
        }
        output.note(&format!(
            "this is from the server `{}`, not from you",
            page.skill.server
        ));
        note_approval(&page.skill, output);
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn approve(
    skill: &str,
    revision: Option<&str>,
    global: &Global,
    output: &Output,
) -> Done {
    let workspace = global.workspace();
    let approve = skills::approve_remote(&workspace, skill, revision, BY);
    let approved = runtime::start()?.block_on(approve)?;
    if output.json {
        output.document(&approved)?;
    } else {
        let skill = &approved.skill;
        let files = skill.files.as_ref().map_or(0, Vec::len);
        let files = crate::output::format_count(files, "file");
        output.prose(format!(
            "approved: agents may load `{}` of the server `{}` as long as its {files} stay the same",
            skill.id, skill.server
        ))?;
        if skill.allowed_tools.is_some() {
            output.note("the tools that it requests are not granted");
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn revoke(skill: &str, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace();
    let revoked = runtime::start()?.block_on(skills::revoke_remote(&workspace, skill))?;
    if output.json {
        output.document(&revoked)?;
    } else {
        output.prose(format!("agents no longer load `{}`", revoked.revoked))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the skills of servers, below those of the home.
pub(super) fn print_list(list: &SkillList, output: &Output) -> Done<()> {
    if !list.remote.is_empty() {
        let columns = [
            Column::keep("from servers"),
            Column::keep("agents"),
            Column::text("description"),
        ];
        output.table(&Table::new(columns, list.remote.iter().map(row)))?;
    }
    for skill in &list.remote {
        if let Some(own) = &skill.same_name_as {
            output.note(&format!(
                "`{}` has the name of your skill `{own}`, which stays in use",
                skill.id
            ));
        }
    }
    for refused in &list.refused_remote {
        output.note(&format!(
            "a skill of the server `{}` cannot be used: {} ({})",
            refused.server, refused.reason, refused.uri
        ));
    }
    Ok(())
}

fn row(skill: &RemoteSkillView) -> Row {
    let (words, tone) = match skill.approval {
        SkillApproval::Approved => ("may load it", Tone::Good),
        SkillApproval::Changed => ("changed: approve again", Tone::Bad),
        SkillApproval::Needed => ("not approved", Tone::Dim),
        SkillApproval::Impossible => ("never: no digests", Tone::Dim),
    };
    let about: Vec<&str> = skill.description.split_whitespace().collect();
    Row::new([
        skill.id.as_str().into(),
        Cell::with_tone(words, tone),
        about.join(" ").into(),
    ])
}

fn facts(page: &RemoteSkillPage) -> String {
    let skill = &page.skill;
    let mut out = String::new();
    let mut line = |key: &str, value: &str| {
        if !value.is_empty() {
            out.push_str(&format!("{key:12} {value}\n"));
        }
    };
    line("id", &skill.id);
    line("server", &skill.server);
    line("address", &skill.uri);
    line("description", &skill.description);
    line("approved", skill.approved_by.as_deref().unwrap_or("no"));
    line("revision", skill.revision.as_deref().unwrap_or_default());
    if let Some(tools) = &skill.allowed_tools {
        line("asks for", &format!("{tools} (not granted)"));
    }
    for file in skill.files.iter().flatten() {
        let digest = file.sha256.get(..DIGEST_DIGITS).unwrap_or_default();
        line(
            "includes",
            &format!("{}  {} bytes  {digest}", file.path, file.size),
        );
    }
    line("shown", &page.file);
    out
}

fn note_approval(skill: &RemoteSkillView, output: &Output) {
    let id = &skill.id;
    let note = match (skill.approval, &skill.revision) {
        (SkillApproval::Approved, _) => return,
        (SkillApproval::Impossible, _) | (_, None) => {
            "agents do not load it: its server lists no digests".to_owned()
        }
        (SkillApproval::Changed | SkillApproval::Needed, Some(revision)) => {
            format!("hint: `deft skills approve {id} --revision {revision}` lets agents load it")
        }
    };
    output.note(&note);
}
