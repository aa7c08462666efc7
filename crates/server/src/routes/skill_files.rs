//! Routes for skill files: create, import, export, revisions, and the list of skills in prompts.

use deft_service::skills::{
    self, ExportDialect, ImportFormat, ImportRequest, NewSkill, NewSkillKind,
};
use deft_wire::diagnostic::SkillsReport;
use deft_wire::requests::{
    ExportFormat, ExportQuery, ForeignFormat, NewSkillRequest, RevisionQuery, SkillFileKind,
    SkillImportRequest, SkillPromptQuery,
};
use deft_wire::skill_files::{CreatedSkill, ImportReport, PrintedExport, SkillPrompt};
use deft_wire::stats::{RevisionDocument, RevisionList};
use deft_wire::token::TokenScope as Scope;
use deft_wire::{Done, Failure};

use super::absolute;
use crate::route::{Call, Nothing, Route, Verb};

/// Default length of the list of skills in prompts, in characters.
const PROMPT: u32 = 15_000;

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Read};
    use Verb::{Get, Post};
    vec![
        Route::new(Post, "/api/v1/skills", "Create a skill file", Admin, create),
        Route::new(
            Post,
            "/api/v1/skills/import",
            "Import skills into the home",
            Admin,
            import,
        ),
        Route::new(
            Get,
            "/api/v1/skills/{name}/export",
            "Export a skill as files, as they are or in another dialect",
            Read,
            export,
        ),
        Route::new(
            Get,
            "/api/v1/skills/{name}/revisions",
            "List the revisions of a skill, latest first",
            Read,
            revisions,
        ),
        Route::new(
            Get,
            "/api/v1/skills/{name}/revisions/{revision}",
            "Show a revision with its text and its changes",
            Read,
            revision,
        ),
        Route::new(
            Get,
            "/api/v1/doctor/skills",
            "Explain which skill files are loaded, hidden or broken",
            Read,
            examine,
        ),
        Route::new(
            Get,
            "/api/v1/prompts/skills",
            "Show the list of skills that models get",
            Read,
            prompt,
        ),
    ]
}

fn create(call: &Call<Nothing, NewSkillRequest>) -> Done<CreatedSkill> {
    let body = &call.body;
    let new = NewSkill {
        name: body.name.clone(),
        kind: body.kind.map(|kind| match kind {
            SkillFileKind::Skill => NewSkillKind::Skill,
            SkillFileKind::Manpage => NewSkillKind::ManPage,
            SkillFileKind::Workflow => NewSkillKind::Workflow,
        }),
        description: body.description.clone(),
        folder: None,
    };
    let path = skills::create(&call.server.workspace, &new)?;
    Ok(CreatedSkill {
        ok: true,
        path: path.display().to_string(),
    })
}

fn import(call: &Call<Nothing, SkillImportRequest>) -> Done<ImportReport> {
    let body = &call.body;
    if body.paths.is_empty() {
        let message = "`paths` names nothing to import";
        return Err(Failure::input("invalid_input", message));
    }
    for path in &body.paths {
        let is_elsewhere = path == "crontab" || path.contains("://");
        if !is_elsewhere {
            absolute(path)?;
        }
    }
    let request = ImportRequest {
        paths: body.paths.iter().map(Into::into).collect(),
        format: body.format.map(|format| match format {
            ForeignFormat::Crontab => ImportFormat::Crontab,
            ForeignFormat::N8n => ImportFormat::N8n,
        }),
        force: body.force,
        keep: body.keep,
        dry_run: body.dry_run,
    };
    Ok(skills::import(&call.server.workspace, &request)?.report)
}

fn export(call: &Call<ExportQuery>) -> Done<PrintedExport> {
    let dialect = call.query.format.map(|format| match format {
        ExportFormat::Agentskills => ExportDialect::AgentSkills,
        ExportFormat::Manpage => ExportDialect::ManPage,
        ExportFormat::Workflow => ExportDialect::Workflow,
        ExportFormat::Record => ExportDialect::Record,
    });
    let names = [call.param().to_owned()];
    let exported = skills::export(&call.server.workspace, &names, dialect, false)?;
    Ok(exported.document())
}

fn revisions(call: &Call) -> Done<RevisionList> {
    skills::revisions(&call.server.app, call.param())
}

fn revision(call: &Call<RevisionQuery>) -> Done<RevisionDocument> {
    let base = call.query.base.as_deref();
    skills::revision(&call.server.app, call.param(), call.second_param(), base)
}

fn examine(call: &Call) -> Done<SkillsReport> {
    Ok(skills::examine(&call.server.workspace)?.report)
}

fn prompt(call: &Call<SkillPromptQuery>) -> Done<SkillPrompt> {
    let budget = call.query.budget.unwrap_or(PROMPT).min(1_000_000);
    let budget = usize::try_from(budget).unwrap_or(usize::MAX);
    skills::prompt(&call.server.workspace, budget)
}
