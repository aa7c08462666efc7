//! `deft cmd`: runs command lines as a model would write them.

use std::process::ExitCode;

use deft_service::App;
use deft_service::commands::{
    Answer, CommandRun, CommandShell, WrittenCommand, failed_command, read_commands,
};
use deft_service::runs::RunWork;
use deft_wire::command::{CommandBatch, CommandView};
use deft_wire::model::RunStatus;

use super::run::Watch;
use crate::args::{Global, Roots};
use crate::exit::Exit;
use crate::failure::Done;
use crate::output::Output;

pub(crate) fn run(text: &str, global: &Global, roots: &Roots, output: &Output) -> Done {
    let mut session = Session {
        shell: CommandShell::open(&global.workspace_of(roots))?,
        global,
        roots,
        output,
        interrupted: false,
        is_waiting: false,
    };
    match read_commands(text)?.as_slice() {
        [only] => {
            let result = session.run_one(only)?;
            session.print(&[result])
        }
        several => {
            let results = session.run_several(several);
            session.print(&results)
        }
    }
}

/// The state shared by the commands of one text.
struct Session<'a> {
    shell: CommandShell,
    global: &'a Global,
    roots: &'a Roots,
    output: &'a Output,
    /// Whether a signal asked the process to end.
    interrupted: bool,
    /// Whether the last run waits for an approval.
    is_waiting: bool,
}

impl Session<'_> {
    /// Runs a single command. Its failure is the failure of the process.
    fn run_one(&mut self, command: &WrittenCommand) -> Done<CommandView> {
        match self.shell.answer(command)? {
            Answer::Result(result) => Ok(result),
            Answer::Run(run) => self.perform(&run),
        }
    }

    /// Runs several commands in order. A failed command does not prevent the others (S2.48).
    fn run_several(&mut self, commands: &[WrittenCommand]) -> Vec<CommandView> {
        let mut results = Vec::new();
        for command in commands {
            // A signal also stops the remaining commands.
            if self.interrupted {
                break;
            }
            results.push(match self.shell.answer_in_batch(command) {
                Answer::Result(result) => result,
                Answer::Run(run) => self
                    .perform(&run)
                    .unwrap_or_else(|failure| failed_command(run.command(), &failure)),
            });
        }
        results
    }

    fn perform(&mut self, command: &CommandRun) -> Done<CommandView> {
        self.output.maybe_error_message(command.warning.clone());
        let app = App::open(&self.global.workspace_of(self.roots))?;
        // A model sees no progress and cannot answer prompts.
        let alone = Global {
            quiet: true,
            no_input: true,
            ..self.global.clone()
        };
        let watch = Watch {
            steps: Vec::new(),
            yes: false,
            global: &alone,
            output: &alone.output(),
        };
        let driven = watch.drive(&app, RunWork::Start(command.start.clone()))?;
        self.interrupted = driven.interrupted;
        let (result, run) = command.result(&app, &driven.run)?;
        self.is_waiting = run.status == RunStatus::Waiting;
        app.close_or_interrupt(async move {
            let mut ends = driven.ends;
            ends.next().await
        });
        Ok(result)
    }

    fn print(&self, results: &[CommandView]) -> Done {
        let worked = results.iter().all(|result| result.ok);
        match results {
            [only] if self.output.json => self.output.document(only)?,
            several if self.output.json => self.output.document(&CommandBatch {
                ok: worked,
                results: several.to_vec(),
            })?,
            results => {
                for result in results {
                    print_text(result, results.len() > 1, self.output)?;
                }
            }
        }
        Ok(match results {
            _ if self.interrupted => ExitCode::from(Exit::Interrupted),
            _ if worked => ExitCode::SUCCESS,
            [_] if self.is_waiting => ExitCode::from(Exit::Waiting),
            _ => ExitCode::from(Exit::Unsuccessful),
        })
    }
}

/// Prints a result to stdout, or a failure to stderr. With several commands, each result is printed below its
/// command.
fn print_text(result: &CommandView, with_command: bool, output: &Output) -> Done<()> {
    let head = if with_command {
        format!("command: {}\n", result.command)
    } else {
        String::new()
    };
    if result.ok {
        return output.data(format!("{head}{}", result.content));
    }
    let message = result.content.strip_prefix("error: ");
    let message = message.unwrap_or(&result.content);
    output.complain(&format!("{head}error: {message}"));
    Ok(())
}
