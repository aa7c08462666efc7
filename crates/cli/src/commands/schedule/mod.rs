//! `deft schedule …`: when skills fire, and what would become of their slots.

mod list;
mod next;
mod simulate;

use crate::args::{Global, Schedule as Command};
use crate::failure::Done;
use crate::output::Output;

pub(crate) fn run(command: &Command, global: &Global, output: &Output) -> Done {
    match command {
        Command::List { roots } => list::run(global, roots, output),
        Command::Next(args) => next::next(args, global, output),
        Command::Preview(args) => next::preview(args, global, output),
        Command::Simulate(args) => simulate::run(args, global, output),
    }
}
