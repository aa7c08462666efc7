//! `deft mcp`: the servers of the configuration.

mod edit;
mod import;
mod install;
mod list;
mod login;
mod probe;

use std::process::ExitCode;

use deft_service::servers::ImportOptions;

use crate::args::{Global, Mcp};
use crate::failure::Done;
use crate::output::Output;

pub(crate) fn run(command: &Mcp, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace();
    match command {
        Mcp::Serve => {
            deft_server::mcp::serve_stdio(&workspace)?;
            Ok(ExitCode::SUCCESS)
        }
        Mcp::List => list::run(&workspace, output),
        Mcp::Probe { name } => probe::run(name.as_deref(), &workspace, output),
        Mcp::Login(args) => login::run(args, global, output),
        Mcp::Logout { name } => login::logout(name, &workspace, output),
        Mcp::Add(args) => edit::add(args, &workspace, output),
        Mcp::Remove { name } => edit::remove(name, &workspace, output),
        Mcp::Install(args) => install::run(args, global, output),
        Mcp::Import {
            file,
            force,
            dry_run,
        } => {
            let options = ImportOptions {
                file: file.clone(),
                force: *force,
                dry_run: *dry_run,
                only: None,
                store_secrets: false,
            };
            import::run(&options, &workspace, output)
        }
    }
}
