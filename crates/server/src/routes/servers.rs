//! `/api/v1/servers`: MCP servers whose tools deft uses.

use std::path::PathBuf;

use deft_service::servers::{self, ImportOptions, NewServer, ServerAddress};
use deft_wire::requests::{ProbeRequest, ServerImportRequest, ServerRequest};
use deft_wire::server::{ProbeList, ServerAdded, ServerImport, ServerList, ServerRemoved};
use deft_wire::token::TokenScope as Scope;
use deft_wire::{Done, Failure};

use super::absolute;
use crate::route::{Call, Nothing, Route, Verb};

pub(super) fn routes() -> Vec<Route> {
    use Scope::{Admin, Read};
    use Verb::{Delete, Get, Post};
    vec![
        Route::new(
            Get,
            "/api/v1/servers",
            "List MCP servers with their last known state",
            Read,
            list,
        ),
        Route::new(Post, "/api/v1/servers", "Add an MCP server", Admin, add),
        Route::new(
            Post,
            "/api/v1/servers/probe",
            "Connect to MCP servers and report what they offer",
            Admin,
            probe,
        ),
        Route::new(
            Post,
            "/api/v1/servers/import",
            "Import the MCP servers of another host's file",
            Admin,
            import,
        ),
        Route::new(
            Delete,
            "/api/v1/servers/{name}",
            "Remove an MCP server",
            Admin,
            remove,
        ),
    ]
}

fn list(call: &Call) -> Done<ServerList> {
    let server = &call.server;
    let listed = server.app.block_on(servers::list(&server.workspace))?;
    Ok(listed.value)
}

fn add(call: &Call<Nothing, ServerRequest>) -> Done<ServerAdded> {
    let body = &call.body;
    let address = match (&body.url, body.command.split_first()) {
        (Some(url), None) => ServerAddress::Url(url.clone()),
        (None, Some((program, rest))) => ServerAddress::Command {
            program: program.clone(),
            args: rest.to_vec(),
        },
        (Some(_), Some(_)) | (None, None) => {
            let message = "a server needs either `url` or `command`";
            return Err(Failure::input("invalid_input", message).hint("give exactly one of them"));
        }
    };
    let pairs = |pairs: &std::collections::BTreeMap<String, String>| {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    let server = NewServer {
        name: body.name.clone(),
        address,
        env: pairs(&body.env),
        headers: pairs(&body.headers),
        force: body.force,
    };
    Ok(servers::add(&call.server.workspace, &server)?.0)
}

fn remove(call: &Call) -> Done<ServerRemoved> {
    servers::remove(&call.server.workspace, call.param())
}

fn probe(call: &Call<Nothing, ProbeRequest>) -> Done<ProbeList> {
    let server = &call.server;
    let probe = servers::probe(&server.workspace, call.body.server.as_deref());
    Ok(server.app.block_on(probe)?.value)
}

fn import(call: &Call<Nothing, ServerImportRequest>) -> Done<ServerImport> {
    let body = &call.body;
    let options = ImportOptions {
        file: PathBuf::from(absolute(&body.path)?),
        force: body.force,
        dry_run: body.dry_run,
        only: body.only.clone(),
        store_secrets: body.store_secrets,
    };
    servers::import(&call.server.workspace, &options)
}
