//! The `deft` binary: parses arguments, prints text or JSON, and returns an exit code.

mod args;
mod audit;
mod changes;
mod commands;
mod complete;
mod confirm;
mod exit;
mod failure;
mod fold;
mod logging;
mod output;
mod pages;
mod progress;
mod prompt;
mod question_text;
mod questions;
mod report;
mod shell;
mod table;
#[cfg(test)]
mod talk_fake;
mod terminal;
mod when;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use args::{Args, Global};

/// Prints help. The examples are added only here, because help is rare.
fn help() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let global = Global::from_words(&words);
    if let Some(page) = commands::run_help::page(&words, &global) {
        return commands::run_help::print(&page, &global.output());
    }
    match args::command_with_examples().try_get_matches_from(args::rewrite(words)) {
        Ok(_) => ExitCode::SUCCESS,
        Err(problem) => failure::usage(&problem, None),
    }
}

fn main() -> ExitCode {
    if commands::is_worker() {
        // A caller waits for the worker, so it skips the slow setup of clap.
        return deft_service::worker_main();
    }
    shell::answer_shell(Args::command);
    let args = match Args::try_parse_from(args::rewrite(std::env::args_os())) {
        Ok(args) => args,
        Err(problem) if problem.kind() == ErrorKind::DisplayHelp => return help(),
        Err(problem) => {
            let flag = args::mistaken_flag(std::env::args_os());
            return failure::usage(&problem, flag.map(|flag| args::own_flag_hint(&flag)));
        }
    };
    let output = args.global.output();
    let code = match commands::run(args, &output) {
        Ok(code) => code,
        Err(failure) => output.fail(&failure),
    };
    match output::check_write(terminal::pager::finish()) {
        Ok(()) => code,
        Err(failure) => output.fail(&failure),
    }
}
