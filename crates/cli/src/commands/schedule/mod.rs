//! `deft schedule …`: shows, simulates and changes schedules.

mod change;
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
        Command::Add(args) => change::add(args, global, output),
        Command::Pause { name } => change::pause(name, global, output),
        Command::Resume { name } => change::resume(name, global, output),
        Command::Remove { name } => change::remove(name, global, output),
    }
}
