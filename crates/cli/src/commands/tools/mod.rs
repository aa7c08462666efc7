//! `deft tools`: what there is to call, and calling it.
//!
//! Reading commands start no server: they show what servers said when they were
//! last asked, and say which were never asked.

mod call;
mod list;
mod remembered;

use crate::args::{Global, Tools};
use crate::failure::Done;
use crate::output::Output;
use deft_service::app;

pub(crate) use call::arguments;
pub(crate) use list::no_such_server;

/// Whether a tool needs the engine: to do its work, or to have its message carried to a person.
fn needs_engine(tool: &str) -> bool {
    deft_engine::is_own_tool(tool) || tool == "notify"
}

pub(crate) fn run(command: &Tools, global: &Global, output: &Output) -> Done {
    if let Tools::Call(args) = command
        && needs_engine(&args.name)
    {
        return call::run_own(args, global, output);
    }
    let home = match command {
        Tools::Call(_) | Tools::Forget { .. } => global.workspace().home()?,
        // What servers say is stored.
        Tools::List(args) if args.refresh => global.workspace().home()?,
        Tools::List(_) | Tools::Show { .. } | Tools::Catalog => {
            global.workspace().home_to_read()?
        }
    };
    let runtime = app::runtime()?;
    match command {
        Tools::List(args) => runtime.block_on(list::list(args, &home, output)),
        Tools::Show { name } => runtime.block_on(list::show(name, &home, output)),
        Tools::Call(args) => runtime.block_on(call::run(args, &home, output)),
        Tools::Forget { name } => runtime.block_on(remembered::forget(name, &home, output)),
        Tools::Catalog => runtime.block_on(list::catalog(&home, output)),
    }
}
