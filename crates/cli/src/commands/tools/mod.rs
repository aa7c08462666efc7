//! `deft tools`: lists and calls tools.
mod call;
mod list;

use crate::args::{Global, Tools};
use crate::failure::Done;
use crate::output::Output;

pub(crate) use call::arguments;

pub(crate) fn run(command: &Tools, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace();
    match command {
        Tools::List(args) => list::list(args, &workspace, output),
        Tools::Show { name } => list::show(name, &workspace, output),
        Tools::Call(args) => call::run(args, &workspace, output),
        Tools::Forget { name } => list::forget(name, &workspace, output),
        Tools::Catalog => list::catalog(&workspace, output),
    }
}
