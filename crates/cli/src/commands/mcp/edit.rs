//! `deft mcp add` and `remove`: changes to the servers in the configuration file.

use std::process::ExitCode;

use deft_service::Workspace;
use deft_service::servers::{self, NewServer, ServerAddress};

use crate::args::McpAdd;
use crate::failure::{Done, Failure};
use crate::output::Output;

pub(super) fn add(args: &McpAdd, workspace: &Workspace, output: &Output) -> Done {
    let (added, replaces) = servers::add(workspace, &new_server(args)?)?;
    if output.json {
        output.document(&added)?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = &added.server;
    let done = if replaces { "replaced" } else { "added" };
    output.prose(format!("{done} {name}"))?;
    output.warn(added.warnings);
    output.note(&format!(
        "written to {}; `deft mcp probe {name}` tries it",
        added.path
    ));
    Ok(ExitCode::SUCCESS)
}

fn new_server(args: &McpAdd) -> Done<NewServer> {
    let address = match (&args.url, args.command.split_first()) {
        (Some(url), None) => ServerAddress::Url(url.clone()),
        (None, Some((program, rest))) => ServerAddress::Command {
            program: program.clone(),
            args: rest.to_vec(),
        },
        (Some(_), Some(_)) | (None, None) => {
            return Err(
                Failure::input("usage", "a server needs either a URL or a command")
                    .hint("give `--url URL`, or the command after `--`"),
            );
        }
    };
    let env = args.env.iter().map(|text| pair(text, '=', "NAME=value"));
    let headers = args
        .headers
        .iter()
        .map(|text| pair(text, ':', "Name: value"));
    Ok(NewServer {
        name: args.name.clone(),
        address,
        env: env.collect::<Done<_>>()?,
        headers: headers.collect::<Done<_>>()?,
        force: args.force,
    })
}

fn pair(text: &str, sign: char, form: &str) -> Done<(String, String)> {
    match text.split_once(sign) {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(Failure::input(
            "usage",
            format!("`{text}` is not of the form `{form}`"),
        )),
    }
}

pub(super) fn remove(name: &str, workspace: &Workspace, output: &Output) -> Done {
    let removed = servers::remove(workspace, name)?;
    if output.json {
        output.document(&removed)?;
    } else {
        output.prose(format!("removed {name}"))?;
    }
    Ok(ExitCode::SUCCESS)
}
