//! The steps of a run and their state, built from events and rendered as lines. Not here: the terminal.

mod calls;

use std::time::{Duration, Instant};

use deft_service::runs::{Change, PlannedStep, Progress};
use deft_wire::run::StepStatus;
use jiff::tz::TimeZone;

use crate::terminal::StyledText;

/// The state of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Pending,
    Running,
    Waiting,
    Done,
    Failed,
    Tolerated,
    Skipped,
}

impl Mark {
    /// Returns the mark for a step of a resumed run. Steps that have not ended count as pending.
    fn from_status(status: StepStatus) -> Self {
        match status {
            StepStatus::Success => Self::Done,
            StepStatus::Skipped => Self::Skipped,
            StepStatus::Error => Self::Failed,
            StepStatus::Pending | StepStatus::Running | StepStatus::Waiting => Self::Pending,
        }
    }
}

#[derive(Debug)]
struct Line {
    path: String,
    /// The name to show, if it differs from the end of the path.
    name: Option<String>,
    mark: Mark,
    /// The kind of work: the tool, `compute`, …
    what: String,
    /// The reason, the duration or the attempt.
    note: String,
    started: Option<Instant>,
    /// The number of finished items of a loop, and of all its items.
    items: Option<(usize, usize)>,
}

impl Line {
    fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            name: None,
            mark: Mark::Pending,
            what: String::new(),
            note: String::new(),
            started: None,
            items: None,
        }
    }
}

/// A run as a tree of steps.
#[derive(Debug)]
pub(crate) struct Tree {
    lines: Vec<Line>,
    color: bool,
    zone: TimeZone,
}

const FRAMES: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠇", "⠏", "⠛"];

/// The maximum length of a note. `deft runs show` prints the full text.
const NOTE: usize = 100;

impl Tree {
    /// Creates a tree of `steps` with their current states. Times are shown in `zone`.
    pub(crate) fn new(steps: Vec<PlannedStep>, color: bool, zone: TimeZone) -> Self {
        let lines = steps.into_iter().map(|step| Line {
            mark: Mark::from_status(step.status),
            note: step.took.map_or(String::new(), duration),
            what: step.what,
            ..Line::new(&step.id)
        });
        Self {
            lines: lines.collect(),
            color,
            zone,
        }
    }

    /// Applies a change. Returns the changed line if plain output should print it.
    pub(crate) fn apply(&mut self, progress: &Progress) -> Option<StyledText> {
        let path = progress.path.as_str();
        if let Change::ItemEnded = progress.change {
            self.end_item(path);
            return None;
        }
        if let Change::Dispatched { agent, mission } = &progress.change {
            self.begin_call(path, agent, clip(mission));
            return Some(self.show_at(path));
        }
        if self.begin(path, &progress.change) {
            return None;
        }
        let (mark, note) = self.state(&progress.change)?;
        let line = self.line_at(path)?;
        if let Change::LookedUp { name } | Change::Refused { name, .. } = &progress.change {
            line.name = Some(name.clone());
        }
        if let Change::Waits { .. } = progress.change {
            line.started.get_or_insert_with(Instant::now);
        }
        if let Some(mark) = mark {
            line.mark = mark;
        }
        line.note = note;
        let is_news = !matches!(progress.change, Change::Answered { .. });
        is_news.then(|| self.show_at(path))
    }

    /// Applies a change that begins a step, a loop or a call. Returns false for any other change.
    fn begin(&mut self, path: &str, change: &Change) -> bool {
        let (note, items) = match change {
            Change::Began { attempt: 0 | 1 } => (String::new(), None),
            Change::Began { attempt } => (format!("attempt {attempt}"), None),
            Change::LoopBegan { items } => (String::new(), Some((0, *items))),
            Change::Called { name, args } => {
                self.begin_call(path, name, calls::arguments(args));
                return true;
            }
            Change::Waits { .. }
            | Change::ItemEnded
            | Change::Retries { .. }
            | Change::Postponed { .. }
            | Change::Heals { .. }
            | Change::Healed { .. }
            | Change::Judged
            | Change::Verifies
            | Change::Done { .. }
            | Change::Tolerated { .. }
            | Change::Failed { .. }
            | Change::Skipped { .. }
            | Change::Reused
            | Change::Asked { .. }
            | Change::Answered { .. }
            | Change::Dispatched { .. }
            | Change::Returned { .. }
            | Change::LookedUp { .. }
            | Change::Refused { .. } => return false,
        };
        if let Some(line) = self.line_at(path) {
            line.mark = Mark::Running;
            line.started.get_or_insert_with(Instant::now);
            match items {
                Some(_) => line.items = items,
                None => line.note = note,
            }
        }
        true
    }

    /// Returns the mark and the note of a step after `change`. Without a mark, the step keeps its mark.
    fn state(&mut self, change: &Change) -> Option<(Option<Mark>, String)> {
        let (mark, note) = match change {
            Change::Waits { until } => {
                let until = crate::output::local(*until, &self.zone);
                (Mark::Waiting, format!("until {until}"))
            }
            Change::Retries { error, at } => {
                let at = at.to_zoned(self.zone.clone());
                let at = at.strftime("%H:%M:%S");
                (Mark::Waiting, format!("{}; again at {at}", clip(error)))
            }
            Change::Postponed { error } => (Mark::Waiting, format!("waits: {}", clip(error))),
            Change::Heals { error, tool } => {
                (Mark::Running, format!("{}: calling `{tool}`", clip(error)))
            }
            Change::Healed { error: None } => {
                return Some((None, "healed, trying again".to_owned()));
            }
            Change::Healed { error: Some(error) } => {
                return Some((None, clip(&format!("the heal rule failed: {error}"))));
            }
            Change::Judged => (Mark::Pending, String::new()),
            Change::Verifies => (Mark::Running, String::new()),
            Change::Done { cached: true, .. } => (Mark::Done, "cached".to_owned()),
            Change::Done { took, warning, .. } => {
                let took = duration(*took);
                let note = match warning {
                    Some(warning) => format!("{took}; {warning}"),
                    None => took,
                };
                (Mark::Done, note)
            }
            Change::Tolerated { error } => (Mark::Tolerated, clip(error)),
            Change::Failed { error }
            | Change::Returned {
                error: Some(error), ..
            } => (Mark::Failed, clip(error)),
            Change::Skipped { reason } => (Mark::Skipped, clip(reason)),
            Change::Reused => (Mark::Done, "as in the earlier run".to_owned()),
            Change::Asked { message } => (Mark::Waiting, clip(message)),
            Change::Answered { by } => (Mark::Pending, format!("answered by {by}")),
            Change::Returned { took, error: None } => (Mark::Done, duration(*took)),
            Change::LookedUp { .. } => (
                Mark::Tolerated,
                "not called yet; the model gets its description first".to_owned(),
            ),
            Change::Refused { reason, .. } => {
                (Mark::Tolerated, format!("refused: {}", clip(reason)))
            }
            Change::Dispatched { .. }
            | Change::Began { .. }
            | Change::LoopBegan { .. }
            | Change::ItemEnded
            | Change::Called { .. } => return None,
        };
        Some((Some(mark), note))
    }

    fn end_item(&mut self, path: &str) {
        let line = self.lines.iter_mut().find(|line| line.path == path);
        if let Some((done, _)) = line.and_then(|line| line.items.as_mut()) {
            *done += 1;
        }
    }

    /// Returns the line of a step. A line for a nested step is inserted below the step that runs its skill.
    fn line_at(&mut self, text: &str) -> Option<&mut Line> {
        if let Some(at) = self.lines.iter().position(|line| line.path == text) {
            return self.lines.get_mut(at);
        }
        let parent = text.rsplit_once('/').map_or("", |(parent, _)| parent);
        let below =
            |line: &Line| line.path == parent || line.path.starts_with(&format!("{parent}/"));
        let at = self
            .lines
            .iter()
            .rposition(below)
            .map_or(self.lines.len(), |at| at + 1);
        self.lines.insert(at, Line::new(text));
        self.lines.get_mut(at)
    }

    fn show_at(&self, path: &str) -> StyledText {
        let line = self.lines.iter().find(|line| line.path == path);
        line.map_or_else(StyledText::default, |line| self.render(line, 0))
    }

    /// Renders all lines. `frame` selects the frame of the spinner.
    pub(crate) fn render_all(&self, frame: usize) -> Vec<StyledText> {
        self.lines
            .iter()
            .map(|line| self.render(line, frame))
            .collect()
    }

    fn render(&self, line: &Line, frame: usize) -> StyledText {
        let (sign, code) = match line.mark {
            Mark::Pending => ("·", "2"),
            Mark::Running => (FRAMES[frame % FRAMES.len()], "36"),
            Mark::Waiting => ("?", "33"),
            Mark::Done => ("✓", "32"),
            Mark::Failed => ("✗", "31"),
            Mark::Tolerated => ("!", "33"),
            Mark::Skipped => ("-", "2"),
        };
        let indent = "  ".repeat(line.path.matches('/').count() + 1);
        let last = line.path.rsplit('/').next().unwrap_or(&line.path);
        let name = line.name.as_deref().unwrap_or(last);
        let items = line.items.map(|(done, all)| format!("{done}/{all}"));
        let running = (line.mark == Mark::Running && line.note.is_empty())
            .then_some(line.started)
            .flatten()
            .map(|started| duration(started.elapsed()));
        let notes = [items, Some(line.note.clone()), running];
        let note: Vec<String> = notes
            .into_iter()
            .flatten()
            .filter(|note| !note.is_empty())
            .collect();
        let mut text = StyledText::from(indent)
            .with(self.paint(code, sign))
            .with(format!(" {name}"));
        if !line.what.is_empty() {
            text = text.with("  ").with(self.paint("2", &line.what));
        }
        if !note.is_empty() {
            let dim = if line.mark == Mark::Failed { "31" } else { "2" };
            text = text.with("  ").with(self.paint(dim, &note.join("  ")));
        }
        text
    }

    fn paint(&self, code: &str, text: &str) -> StyledText {
        StyledText::paint(code, text, self.color)
    }
}

fn clip(text: &str) -> String {
    deft_wire::model::clip(text.lines().next().unwrap_or_default(), NOTE)
}

/// Formats a duration, such as `120 ms`, `1.5 s` or `2 m 3 s`.
pub(crate) fn duration(length: Duration) -> String {
    let seconds = length.as_secs();
    match seconds {
        0 => format!("{} ms", length.as_millis()),
        1..60 => format!("{:.1} s", length.as_secs_f64()),
        60..3600 => format!("{} m {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} m", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 21:30 in New York is already the next day in UTC.
    #[test]
    fn a_retry_time_is_in_the_zone_of_the_person() {
        let progress = Progress {
            path: "get".to_owned(),
            change: Change::Retries {
                error: "no route".to_owned(),
                at: "2026-07-02T01:30:05Z".parse().unwrap(),
            },
        };
        let steps = vec![PlannedStep {
            id: "get".to_owned(),
            what: "fetch".to_owned(),
            status: StepStatus::Pending,
            took: None,
        }];
        let zone = TimeZone::get("America/New_York").unwrap();
        let line = Tree::new(steps, false, zone).apply(&progress);
        assert_eq!(
            line.as_ref().map(StyledText::as_str),
            Some("  ? get  fetch  no route; again at 21:30:05")
        );
    }
}
