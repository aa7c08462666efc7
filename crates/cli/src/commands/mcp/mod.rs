//! `deft mcp`: the servers of the configuration.
//!
//! Only `probe` starts a server; everything else reads and writes the file.

mod edit;
mod import;
mod list;
mod probe;

use crate::args::{Global, Mcp};
use crate::failure::Done;
use crate::output::Output;
use deft_service::app;

pub(crate) fn run(command: &Mcp, global: &Global, output: &Output) -> Done {
    match command {
        Mcp::List => {
            let home = global.workspace().home_to_read()?;
            app::runtime()?.block_on(list::run(&home, output))
        }
        Mcp::Probe { name } => {
            let home = global.workspace().home()?;
            app::runtime()?.block_on(probe::run(name.as_deref(), &home, output))
        }
        // These also work on a file with a mistake in it, and may mend it.
        Mcp::Add(args) => edit::add(args, &global.workspace().locate()?, output),
        Mcp::Remove { name } => edit::remove(name, &global.workspace().locate()?, output),
        Mcp::Import {
            file,
            force,
            dry_run,
        } => {
            let home = global.workspace().locate()?;
            let how = import::How {
                force: *force,
                dry_run: *dry_run,
            };
            import::run(file, how, &home, output)
        }
    }
}
