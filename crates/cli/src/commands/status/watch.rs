//! `deft status --watch`: redraws the screen on changes, and answers approvals with keys.

use std::process::ExitCode;
use std::time::Duration;

use deft_service::approvals::answer;
use deft_service::status::StatusReader;
use deft_service::{App, Lock};
use deft_wire::approval::{ApprovalAnswer, ApprovalView};
use deft_wire::status::StatusView;

use super::PLAIN_WIDTH;
use super::keyboard::{Key, Keyboard};
use super::render::{Frame, SHORT_ID};
use crate::args::Global;
use crate::exit::Exit;
use crate::failure::Done;
use crate::output::Output;
use crate::terminal::{Stream, StyledText};

/// The interval at which the state is read again.
const REFRESH: Duration = Duration::from_secs(1);

/// The name stored as the author of an answer.
const BY: &str = "deft status";

const KEYS: &str = "↑↓ select  a approve  r reject  q quit";
const QUIT: &str = "q quit";

pub(super) fn run(global: &Global, output: &Output) -> Done {
    let mut reader = StatusReader::open(&global.workspace())?;
    let mut view = reader.read()?;
    let mut keyboard = Keyboard::take()?;
    let mut selected = Selection::default();
    let mut note = String::new();
    loop {
        selected.follow(&view);
        draw(&view, &reader, selected.at, &note, output);
        match keyboard.next(REFRESH) {
            Some(Key::Quit) => return Ok(ExitCode::SUCCESS),
            Some(Key::Interrupt) => return Ok(ExitCode::from(Exit::Interrupted)),
            Some(Key::Up) => selected.move_by(-1, &view),
            Some(Key::Down) => selected.move_by(1, &view),
            Some(Key::Approve) => note = selected.decide(&view, ApprovalAnswer::Yes, global),
            Some(Key::Reject) => note = selected.decide(&view, ApprovalAnswer::No, global),
            Some(Key::Other) | None => {}
        }
        view = reader.read()?;
    }
}

/// The approval that keys answer. It stays selected when others are added or removed.
#[derive(Default)]
struct Selection {
    at: usize,
    id: Option<String>,
}

impl Selection {
    fn follow(&mut self, view: &StatusView) {
        let same = |approval: &ApprovalView| Some(&approval.id) == self.id.as_ref();
        let last = view.approvals.len().saturating_sub(1);
        let found = view.approvals.iter().position(same);
        self.select(found.unwrap_or(self.at.min(last)), view);
    }

    fn move_by(&mut self, step: isize, view: &StatusView) {
        let last = view.approvals.len().saturating_sub(1);
        self.select(self.at.saturating_add_signed(step).min(last), view);
    }

    /// Answers the selected approval and returns a message about the result.
    fn decide(&self, view: &StatusView, given: ApprovalAnswer, global: &Global) -> String {
        let approval = view.approvals.get(self.at);
        approval.map_or(String::new(), |approval| decide(approval, given, global))
    }

    fn select(&mut self, at: usize, view: &StatusView) {
        self.at = at;
        self.id = view.approvals.get(at).map(|approval| approval.id.clone());
    }
}

fn decide(approval: &ApprovalView, given: ApprovalAnswer, global: &Global) -> String {
    let word = match given {
        ApprovalAnswer::Yes => "approved",
        ApprovalAnswer::No => "rejected",
        ApprovalAnswer::Skip => "skipped",
    };
    let answered = App::without_skills(&global.workspace()).and_then(|app| {
        let answered = answer(&app, &approval.id, given, false, BY);
        let is_up = Lock::holder(app.home()).is_some();
        app.close();
        answered.map(|_| is_up)
    });
    let skill = &approval.skill;
    // Commands accept prefixes of ids, and the line must fit 80 columns.
    let run: String = approval.run.as_str().chars().take(SHORT_ID).collect();
    match answered {
        Ok(true) => format!("{word}: {skill}; the daemon continues the run"),
        Ok(false) => format!("{word}: {skill}; `deft runs resume {run}` continues it"),
        Err(failure) => format!("error: {}", failure.message),
    }
}

fn draw(view: &StatusView, reader: &StatusReader, selected: usize, note: &str, output: &Output) {
    let size = terminal_size::terminal_size();
    let (width, height) = size.map_or((PLAIN_WIDTH, 24), |(width, height)| {
        (usize::from(width.0), usize::from(height.0))
    });
    let color = output.styles_stdout();
    let frame = Frame {
        view,
        zone: reader.zone(),
        width,
        color,
        selected: (!view.approvals.is_empty()).then_some(selected),
    };
    let keys = if view.approvals.is_empty() {
        QUIT
    } else {
        KEYS
    };
    let mut lines = frame.lines();
    // The last lines show the result of the last key, and the available keys.
    lines.truncate(height.saturating_sub(3));
    let mut text = StyledText::first_line();
    for line in lines {
        text.push(StyledText::clear_line());
        text.push(line.with("\n"));
    }
    text.push(StyledText::clear_below());
    text.push("\n");
    text.push(StyledText::from(note).fit(width).with("\n"));
    text.push(StyledText::paint("2", keys, color).fit(width));
    // The keyboard notices a closed terminal.
    drop(Stream::Out.write(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_stays_inside_the_list() {
        let mut selection = Selection { at: 3, id: None };
        let view = serde_json::from_value(serde_json::json!({
            "home": "/h", "home_exists": true, "skills": 0, "broken": 0, "models": 1,
            "at": "2026-02-14T13:00:00Z", "zone": "UTC",
            "daemon": {"running": false, "pid": null, "since": null},
            "scheduled": 0, "next": [], "active": [], "active_total": 0, "failed": [],
            "failed_total": 0, "approvals": [], "day": "2026-02-14", "spending": [],
            "paused_agents": [],
        }));
        let view: StatusView = view.unwrap();
        selection.follow(&view);
        assert_eq!(selection.at, 0);
        selection.move_by(-1, &view);
        selection.move_by(5, &view);
        assert_eq!(selection.at, 0);
    }
}
