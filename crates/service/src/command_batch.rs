//! Batches of command lines from a program. Each is answered or run in order; a failure does not hide the
//! results of the others.

use deft_wire::Done;
use deft_wire::command::{CommandBatch, CommandView};
use deft_wire::model::RunOrigin;

use crate::app::App;
use crate::commands::{Answer, CommandRun, CommandShell, failed_command, read_commands};
use crate::runs::{self, Answers, RunWork, StartRun, Update};
use crate::workspace::Workspace;

/// Carries out the commands in `text`. This process drives their runs until they end or wait.
pub fn carry_out(workspace: &Workspace, text: &str, origin: &RunOrigin) -> Done<CommandBatch> {
    let shell = CommandShell::open(workspace)?;
    let app = App::open(workspace)?;
    let commands = read_commands(text)?;
    let results = commands
        .iter()
        .map(|command| match shell.answer_in_batch(command) {
            Answer::Result(result) => result,
            Answer::Run(run) => drive(&app, &run, origin)
                .unwrap_or_else(|failure| failed_command(run.command(), &failure)),
        });
    let results: Vec<CommandView> = results.collect();
    app.close();
    Ok(CommandBatch {
        ok: results.iter().all(|result| result.ok),
        results,
    })
}

fn drive(app: &App, command: &CommandRun, origin: &RunOrigin) -> Done<CommandView> {
    let start = StartRun {
        origin: origin.clone(),
        ..command.start.clone()
    };
    let mut drive = runs::drive(app, RunWork::Start(start), Answers::default())?;
    let ended = app.block_on(async {
        loop {
            if let Update::Ended(run) = drive.next().await? {
                return Ok(run);
            }
        }
    })?;
    Ok(command.result(app, &ended)?.0)
}
