//! `/api/v1/remote-skills`: skills provided by MCP servers. They are listed with all other skills.

use deft_service::skills;
use deft_wire::Done;
use deft_wire::remote_skill::{
    ApproveSkillRequest, RemoteSkillDocument, RemoteSkillPage, RemoteSkillRequest, RevokedSkill,
};
use deft_wire::token::TokenScope as Scope;

use crate::route::{Call, Nothing, Route, Verb};

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Run};
    use Verb::Post;
    vec![
        Route::new(
            Post,
            "/api/v1/remote-skills/read",
            "Read a skill of an MCP server, or one file of it",
            Run,
            read,
        ),
        Route::new(
            Post,
            "/api/v1/remote-skills/approve",
            "Allow agents to load a skill of an MCP server, with its current content",
            Admin,
            approve,
        ),
        Route::new(
            Post,
            "/api/v1/remote-skills/revoke",
            "Revoke the approval of an MCP server's skill",
            Admin,
            revoke,
        ),
    ]
}

fn read(call: &Call<Nothing, RemoteSkillRequest>) -> Done<RemoteSkillPage> {
    let server = &call.server;
    let read = skills::read_remote(&server.workspace, &call.body.skill);
    server.app.block_on(read)
}

fn approve(call: &Call<Nothing, ApproveSkillRequest>) -> Done<RemoteSkillDocument> {
    let (server, body, by) = (&call.server, &call.body, call.record_name());
    let seen = body.revision.as_deref();
    let approve = skills::approve_remote(&server.workspace, &body.skill, seen, &by);
    server.app.block_on(approve)
}

fn revoke(call: &Call<Nothing, RemoteSkillRequest>) -> Done<RevokedSkill> {
    let server = &call.server;
    let revoke = skills::revoke_remote(&server.workspace, &call.body.skill);
    server.app.block_on(revoke)
}
