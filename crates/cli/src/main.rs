//! The `deft` binary: arguments in, text or JSON out, an exit code.

mod args;
mod commands;
mod failure;
mod logging;
mod output;
mod pages;
mod progress;
mod prompt;
mod question;
mod report;
#[cfg(test)]
mod talk_fake;
mod terminal;
mod when;

use std::process::ExitCode;

use clap::Parser;

use args::Args;

fn main() -> ExitCode {
    if commands::is_worker() {
        // It is waited for, and the table of all arguments takes its time.
        return deft_service::worker_main();
    }
    let args = match Args::try_parse_from(args::rewrite(std::env::args_os())) {
        Ok(args) => args,
        Err(problem) => {
            let flag = args::mistaken_flag(std::env::args_os());
            return failure::usage(&problem, flag.map(|flag| args::own_flag_hint(&flag)));
        }
    };
    let output = args.global.output();
    match commands::run(args, &output) {
        Ok(code) => code,
        Err(failure) => output.fail(&failure),
    }
}
