//! Routes of the home: status, checks, log, memory, trash, schemas, and command lines written by models.

use deft_service::logs::LogReader;
use deft_service::memory::{self, FactQuery};
use deft_service::schemas::{self, SchemaKind};
use deft_service::{command_batch, doctor, hooks, status, trash};
use deft_wire::api::FactListQuery;
use deft_wire::check::CheckList;
use deft_wire::command::CommandBatch;
use deft_wire::fact::{FactList, ForgottenFact};
use deft_wire::hook::HookList;
use deft_wire::log::LogDocument;
use deft_wire::requests::{CommandRequest, LogQuery};
use deft_wire::skill_files::SchemaDocument;
use deft_wire::status::StatusView;
use deft_wire::token::TokenScope as Scope;
use deft_wire::trash::{TrashList, UndoResult};
use deft_wire::{Done, Failure};

use super::page_size;
use crate::route::{Call, Nothing, Route, Verb};

/// Maximum number of log lines in one response.
const MAX_LINES: u32 = 5_000;

pub(super) fn routes() -> Vec<Route> {
    [state_routes(), memory_routes(), other_routes()].concat()
}

fn state_routes() -> Vec<Route> {
    use Scope::{Admin, Read};
    use Verb::{Get, Post};
    vec![
        Route::new(
            Get,
            "/api/v1/status",
            "Show the state of the home",
            Read,
            show_status,
        ),
        Route::new(
            Get,
            "/api/v1/doctor",
            "Check the home; nothing is repaired",
            Read,
            examine,
        ),
        Route::new(
            Post,
            "/api/v1/doctor/fix",
            "Check the home and make safe repairs",
            Admin,
            fix,
        ),
        Route::new(
            Get,
            "/api/v1/hooks",
            "List hooks and the skills that they start",
            Read,
            list_hooks,
        ),
        Route::new(
            Get,
            "/api/v1/logs",
            "Show the last lines of the log, oldest first",
            Read,
            show_log,
        ),
    ]
}

fn memory_routes() -> Vec<Route> {
    use Scope::{Admin, Read};
    use Verb::{Delete, Get};
    vec![
        Route::new(
            Get,
            "/api/v1/memory",
            "List the facts that agents stored",
            Read,
            list_facts,
        ),
        Route::new(
            Delete,
            "/api/v1/memory/{id}",
            "Delete a fact",
            Admin,
            forget_fact,
        ),
    ]
}

fn other_routes() -> Vec<Route> {
    use Scope::{Admin, Read, Run};
    use Verb::{Get, Post};
    vec![
        Route::new(
            Get,
            "/api/v1/trash",
            "List deleted items, latest first",
            Read,
            list_trash,
        ),
        Route::new(
            Post,
            "/api/v1/undo",
            "Restore the last deleted item",
            Admin,
            undo,
        ),
        Route::new(
            Post,
            "/api/v1/commands",
            "Run command lines as a model would write them",
            Run,
            run_commands,
        ),
        Route::new(
            Get,
            "/api/v1/schemas/{kind}",
            "Get a JSON Schema: `skill`, `workflow`, `record`, `agent`, `config` or `events`",
            Read,
            show_schema,
        ),
    ]
}

fn show_status(call: &Call) -> Done<StatusView> {
    status::status(&call.server.workspace)
}

fn examine(call: &Call) -> Done<CheckList> {
    doctor::examine(&call.server.workspace, false)
}

fn fix(call: &Call) -> Done<CheckList> {
    doctor::examine(&call.server.workspace, true)
}

fn list_hooks(call: &Call) -> Done<HookList> {
    hooks::list(&call.server.workspace)
}

fn show_log(call: &Call<LogQuery>) -> Done<LogDocument> {
    let lines = call.query.lines.unwrap_or(50).clamp(1, MAX_LINES);
    let lines = usize::try_from(lines).unwrap_or(usize::MAX);
    LogReader::open(&call.server.workspace)?.tail(lines)
}

fn list_facts(call: &Call<FactListQuery>) -> Done<FactList> {
    let query = &call.query;
    let wanted = FactQuery {
        search: query.search.clone(),
        category: query.category.clone(),
        agent: query.agent.clone(),
        limit: page_size(query.limit),
    };
    memory::list(&call.server.app, wanted)
}

fn forget_fact(call: &Call) -> Done<ForgottenFact> {
    let id = call.param().parse().map_err(|_| {
        let message = format!("`{}` is not the number of a fact", call.param());
        Failure::input("invalid_input", message)
    })?;
    memory::forget(&call.server.app, id)
}

fn list_trash(call: &Call) -> Done<TrashList> {
    let trash = trash::list(&call.server.workspace)?;
    Ok(TrashList { trash })
}

fn undo(call: &Call) -> Done<UndoResult> {
    trash::undo(&call.server.workspace)
}

fn run_commands(call: &Call<Nothing, CommandRequest>) -> Done<CommandBatch> {
    command_batch::carry_out(&call.server.workspace, &call.body.text, &call.origin)
}

fn show_schema(call: &Call) -> Done<SchemaDocument> {
    let kind = SchemaKind::from_word(call.param()).ok_or_else(|| {
        let message = format!("unknown schema `{}`", call.param());
        Failure::input("no_such_page", message)
            .hint("`skill`, `workflow`, `record`, `agent`, `config` or `events`")
    })?;
    Ok(schemas::schema(kind))
}
