//! `deft status`: the state of the home on one screen.

mod keyboard;
pub(crate) mod render;
mod watch;

use std::process::ExitCode;

use deft_service::status::{StatusReader, status};
use deft_wire::status::StatusView;
use jiff::tz::TimeZone;

use crate::args::{Global, Status};
use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::terminal::StyledText;
use render::Frame;

/// The width of the screen without a terminal.
const PLAIN_WIDTH: usize = 100;

pub(crate) fn run(args: &Status, global: &Global, output: &Output) -> Done {
    if args.watch {
        if output.json {
            let message = "`--watch` draws on a terminal and prints no JSON";
            return Err(Failure::input("usage", message).hint("leave out `--json` or `--watch`"));
        }
        return watch::run(global, output);
    }
    if output.json {
        output.document(&status(&global.workspace())?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut reader = StatusReader::open(&global.workspace())?;
    let view = reader.read()?;
    output.data(text(&view, reader.zone(), output))?;
    if !view.home_exists {
        output.note("hint: there is no home yet; `deft setup` creates it and connects a model");
    }
    Ok(ExitCode::SUCCESS)
}

/// Renders the screen for printing once.
pub(super) fn text(view: &StatusView, zone: &TimeZone, output: &Output) -> StyledText {
    let frame = Frame {
        view,
        zone,
        width: output.width().unwrap_or(PLAIN_WIDTH),
        color: output.styles_stdout(),
        selected: None,
    };
    frame.text()
}
