//! `deft logs`: the log of the home as readable text.

use std::process::ExitCode;
use std::time::Duration;

use deft_service::logs::LogReader;
use deft_wire::log::LogLine;
use jiff::tz::TimeZone;

use crate::args::{Global, Logs};
use crate::failure::Done;
use crate::output::Output;
use crate::terminal::StyledText;
use deft_wire::model::value_text;

/// The interval at which to look for new lines.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) fn run(args: &Logs, global: &Global, output: &Output) -> Done {
    let workspace = global.workspace();
    let zone = workspace.home_to_read()?.moment().zone;
    let mut reader = LogReader::open(&workspace)?;
    let document = reader.tail(args.n)?;
    if output.json && !args.follow {
        output.document(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    if document.lines.is_empty() && !args.follow {
        let path = &document.path;
        output.note(&format!("no lines in `{path}` yet; `deft up` writes them"));
    }
    print(&document.lines, &zone, output)?;
    if !args.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::sleep(POLL_INTERVAL);
        print(&reader.read_new()?, &zone, output)?;
    }
}

fn print(lines: &[LogLine], zone: &TimeZone, output: &Output) -> Done<()> {
    for line in lines {
        if output.json {
            output.line_of_json(line)?;
        } else {
            output.data(text(line, zone, output.styles_stdout()))?;
        }
    }
    Ok(())
}

/// Formats a log line: the time, the level, the message and its fields. Continuation lines of a message are
/// indented, so they cannot be mistaken for log lines.
fn text(line: &LogLine, zone: &TimeZone, color: bool) -> StyledText {
    let at = line.at.map(|at| at.to_zoned(zone.clone()));
    let at = at.map(|at| at.strftime("%Y-%m-%d %H:%M:%S").to_string());
    let code = match line.level.as_str() {
        "ERROR" => "31",
        "WARN" => "33",
        _ => "32",
    };
    let mut text = line.message.replace('\n', "\n    ");
    for (name, value) in &line.fields {
        let value = value_text(value);
        text.push_str(&format!(" {name}={}", value.replace('\n', " ")));
    }
    let Some(at) = at else {
        return StyledText::from(text);
    };
    let level = format!("{:<5}", line.level);
    StyledText::paint("2", &at, color)
        .with(" ")
        .with(StyledText::paint(code, &level, color))
        .with(format!(" {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_local_and_readable() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let shown = |json: &str| {
            let line: LogLine = serde_json::from_str(json).unwrap();
            text(&line, &zone, false).as_str().to_owned()
        };
        assert_eq!(
            shown(
                r#"{"timestamp":"2026-02-14T13:00:00.5Z","level":"WARN","message":"a\nb","target":"t","run":"run_1","woken":2}"#
            ),
            "2026-02-14 14:00:00 WARN  a\n    b run=run_1 woken=2"
        );
    }
}
