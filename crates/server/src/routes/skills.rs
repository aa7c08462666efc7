//! `/api/v1/skills`.

use std::path::{Component, Path};

use deft_service::skills::{self, SkillCatalog, SkillQuery};
use deft_wire::api::{SkillListQuery, SkillSource, SkillWrite, ValidateRequest};
use deft_wire::diagnostic::ValidatedFile;
use deft_wire::skill::{DeletedSkill, SkillDocument, SkillList, SkillView};
use deft_wire::token::TokenScope as Scope;
use deft_wire::{Done, Failure};

use crate::route::{Call, Nothing, Route, Verb};

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Read};
    use Verb::{Delete, Get, Post, Put};
    vec![
        Route::new(Get, "/api/v1/skills", "List skills", Read, list),
        Route::new(
            Post,
            "/api/v1/skills/validate",
            "Check the text of a skill file; nothing is written",
            Read,
            validate,
        ),
        Route::new(
            Get,
            "/api/v1/skills/{name}",
            "Show a skill with all its details",
            Read,
            show,
        ),
        Route::new(
            Delete,
            "/api/v1/skills/{name}",
            "Move a skill to the trash",
            Admin,
            delete,
        ),
        Route::new(
            Get,
            "/api/v1/skills/{name}/source",
            "Read the file of a skill, with the hash that a write needs",
            Read,
            source,
        ),
        Route::new(
            Put,
            "/api/v1/skills/{name}/source",
            "Write the file of a skill, unless it has changed",
            Admin,
            write,
        ),
        Route::new(
            Post,
            "/api/v1/skills/{name}/enable",
            "Enable a skill and reset its failure count",
            Admin,
            enable,
        ),
        Route::new(
            Post,
            "/api/v1/skills/{name}/disable",
            "Disable a skill",
            Admin,
            disable,
        ),
        Route::new(
            Post,
            "/api/v1/skills/{name}/restore",
            "Discard the changes of assistants and use the file again",
            Admin,
            restore,
        ),
    ]
}

fn list(call: &Call<SkillListQuery>) -> Done<SkillList> {
    let words = call.query.search.as_deref().unwrap_or_default();
    let query = SkillQuery {
        words: words.split_whitespace().map(str::to_owned).collect(),
        domain: call.query.domain.clone(),
        tag: call.query.tag.clone(),
        ..SkillQuery::default()
    };
    Ok(SkillCatalog::open(&call.server.workspace)?
        .list(&query)?
        .list)
}

fn show(call: &Call) -> Done<SkillDocument> {
    let catalog = SkillCatalog::open(&call.server.workspace)?;
    let skill = catalog.show(call.param())?.skill;
    Ok(SkillDocument { skill })
}

fn delete(call: &Call) -> Done<DeletedSkill> {
    let deleted = skills::delete(&call.server.workspace, call.param())?;
    Ok(DeletedSkill {
        deleted: deleted.skill,
    })
}

fn source(call: &Call) -> Done<SkillSource> {
    skills::source(&call.server.workspace, call.param())
}

fn write(call: &Call<Nothing, SkillWrite>) -> Done<SkillSource> {
    skills::write_source(&call.server.workspace, call.param(), &call.body)
}

fn enable(call: &Call) -> Done<SkillDocument> {
    let switched = skills::enable(&call.server.workspace, call.param())?;
    let skill = SkillView::Stored(Box::new(switched.skill));
    Ok(SkillDocument { skill })
}

fn disable(call: &Call) -> Done<SkillDocument> {
    let switched = skills::disable(&call.server.workspace, call.param())?;
    let skill = SkillView::Stored(Box::new(switched.skill));
    Ok(SkillDocument { skill })
}

fn restore(call: &Call) -> Done<SkillDocument> {
    let switched = skills::restore(&call.server.workspace, call.param())?;
    let skill = SkillView::Stored(Box::new(switched.skill));
    Ok(SkillDocument { skill })
}

fn validate(call: &Call<Nothing, ValidateRequest>) -> Done<ValidatedFile> {
    let path = Path::new(&call.body.path);
    let is_plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !is_plain || call.body.path.is_empty() {
        let message = "`path` must be a path below the folder of skills, such as `notes/SKILL.md`";
        return Err(Failure::input("invalid_input", message));
    }
    skills::validate_text(path, &call.body.text)
}
