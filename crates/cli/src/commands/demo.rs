//! `deft demo crash`: demonstrates recovery from a crash and explains each step.

use std::process::ExitCode;

use deft_service::demo::{self, DemoProgress};
use deft_wire::demo::{CrashReport, CrashStep};

use crate::args::Demo;
use crate::failure::Done;
use crate::output::Output;
use crate::progress::say_above;
use crate::terminal::StyledText;

pub(crate) fn run(command: &Demo, output: &Output) -> Done {
    match command {
        Demo::Crash => crash(output),
    }
}

fn crash(output: &Output) -> Done {
    output.note(
        "A workflow writes five lines, one step each. Each step may run only once.\n\
         Its process is killed in the middle; another one resumes the run.\n",
    );
    let report = demo::crash(say_above, &mut |progress| {
        output.note(&describe_progress(&progress));
    })?;
    if output.json {
        output.document(&report)?;
    } else {
        output.data(text(&report, output.styles_stdout()))?;
    }
    Ok(ExitCode::from(u8::from(!report.verified)))
}

fn describe_progress(progress: &DemoProgress) -> String {
    match progress {
        DemoProgress::Started { pid } => format!("process {pid} runs `crash-demo`"),
        DemoProgress::StepDone { step } => format!("  ✓ {step}"),
        DemoProgress::Killed { pid } => {
            format!("kill -9 {pid}: the process was killed and could not save anything")
        }
        DemoProgress::Resumed { pid } => {
            format!("process {pid} reads the journal and continues after the last finished step")
        }
        DemoProgress::Verifying => "the run has finished; checking its journal\n".to_owned(),
    }
}

fn text(report: &CrashReport, color: bool) -> StyledText {
    let mut text = StyledText::from("STEP   BEGAN  DONE  BEFORE THE CRASH\n");
    for step in &report.steps {
        text.push(row(step));
    }
    let lines = report.lines;
    text.push(format!("lines in the file: {lines}\n"));
    text.push(if report.verified {
        StyledText::paint("32", "verified: every step ran once", color)
    } else {
        StyledText::paint("31", "not verified: the journal shows otherwise", color)
    });
    text
}

fn row(step: &CrashStep) -> String {
    let before = if step.before_crash { "yes" } else { "no" };
    let (id, begun, done) = (&step.id, step.begun, step.succeeded);
    format!("{id:<6} {begun:<6} {done:<5} {before}\n")
}
