//! The commands of the command line, one file each.

mod approvals;
mod budget;
mod chat;
mod cmd;
mod config;
mod demo;
mod doctor;
mod home_summary;
mod hooks;
mod init;
mod jobs;
mod logs;
mod man;
mod mcp;
mod notices;
mod open;
mod remind;
mod run;
mod runs;
mod schedule;
mod schema;
mod secrets;
mod setup;
mod skills;
mod status;
mod tick;
mod tokens;
pub(crate) mod tools;
mod undo;
pub(crate) mod up;

use std::process::ExitCode;

use crate::args::{Args, Command, Skills};
use crate::audit;
use crate::changes::describe_change;
use crate::failure::{Done, exit_code};
use crate::output::Output;
pub(crate) use run::help as run_help;

/// The hint printed after a schedule is set while no daemon is running.
const NOT_RUNNING_HINT: &str = "no daemon is running, so schedules do not run: `deft up` starts it, `deft tick` runs due \
     schedules once";

/// Whether this process is the sandbox, which takes no other arguments.
pub(crate) fn is_worker() -> bool {
    let mut args = std::env::args_os().skip(1);
    args.next()
        .is_some_and(|name| name == deft_service::app::WORKER)
        && args.next().is_none()
}

/// Runs a command. If it is a change, the audit log gets an entry.
pub(crate) fn run(args: Args, output: &Output) -> Done {
    if let Some(change) = describe_change(&args) {
        audit::begin(args.global.workspace(), change);
    }
    let done = dispatch(args, output);
    audit::end(match &done {
        Ok(code) => *code,
        Err(failure) => exit_code(failure.kind),
    });
    done
}

fn dispatch(args: Args, output: &Output) -> Done {
    let global = &args.global;
    match args.command {
        None => home_summary::run(global, output),
        Some(Command::Up(args)) => up::run(&args, global, output),
        Some(Command::Setup(args)) => setup::run(&args, global, output),
        // `init` never asks, so `--yes` changes nothing.
        Some(Command::Init { yes: _ }) => init::run(global, output),
        Some(Command::Doctor { fix }) => doctor::run(fix, global, output),
        Some(Command::Status(args)) => status::run(&args, global, output),
        Some(Command::Logs(args)) => logs::run(&args, global, output),
        Some(Command::Remind(args)) => remind::run(&args, global, output),
        Some(Command::Demo(command)) => demo::run(&command, output),
        Some(Command::Tick(args)) => tick::run(&args, global, output),
        Some(Command::Jobs(command)) => jobs::run(&command, global, output),
        Some(Command::Notices(command)) => notices::run(&command, global, output),
        Some(Command::Run(args)) => run::run(&args, global, output),
        Some(Command::Runs(command)) => runs::run(&command, global, output),
        Some(Command::Schedule(command)) => schedule::run(&command, global, output),
        Some(Command::Approvals(command)) => approvals::run(&command, global, output),
        Some(Command::Chat(args)) => chat::run(&args, global, output),
        Some(Command::Budget(command)) => budget::run(&command, global, output),
        Some(Command::Tools(command)) => tools::run(&command, global, output),
        Some(Command::Mcp(command)) => mcp::run(&command, global, output),
        Some(Command::Undo { list }) => undo::run(list, global, output),
        Some(Command::Config(command)) => config::run(&command, global, output),
        Some(Command::Secrets(command)) => secrets::run(&command, global, output),
        Some(Command::Tokens(command)) => tokens::run(&command, global, output),
        Some(Command::Hooks(command)) => hooks::run(&command, global, output),
        Some(Command::Open(args)) => open::run(&args, global, output),
        Some(Command::ComputeWorker) => Ok(deft_service::worker_main()),
        Some(Command::Cmd { line, roots }) => cmd::run(&line, global, &roots, output),
        Some(Command::Schema { what }) => schema::run(what, output),
        Some(Command::Completions { shell }) => {
            output.content(&crate::complete::script(shell)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Man { dir }) => man::run(&dir, output),
        Some(Command::Skills(skills)) => run_skills(skills, global, output),
        Some(Command::Export(args)) => skills::export::run(&args, global, output),
    }
}

fn run_skills(command: Skills, global: &crate::args::Global, output: &Output) -> Done {
    match command {
        Skills::List(args) => skills::list::run(&args, global, output),
        Skills::Show { name, roots } => skills::show::run(&name, global, &roots, output),
        Skills::New(args) => skills::new::run(&args, global, output),
        Skills::Validate(args) => skills::validate::run(&args, global, output),
        Skills::Doctor { roots } => skills::doctor::run(global, &roots, output),
        Skills::Enable { name } => skills::switch::enable(&name, global, output),
        Skills::Disable { name } => skills::switch::disable(&name, global, output),
        Skills::Approve { skill, revision } => {
            skills::remote::approve(&skill, revision.as_deref(), global, output)
        }
        Skills::Revoke { skill } => skills::remote::revoke(&skill, global, output),
        Skills::Restore { name } => skills::switch::restore(&name, global, output),
        Skills::Delete { name, yes } => skills::delete::run(&name, yes, global, output),
        Skills::Import(args) => skills::import::run(&args, global, output),
        Skills::Export(args) => skills::export::run(&args, global, output),
        Skills::Prompt(args) => skills::prompt::run(&args, global, output),
        Skills::Watch { roots } => skills::watch::run(global, &roots, output),
    }
}
