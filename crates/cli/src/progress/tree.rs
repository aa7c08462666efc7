//! The steps of a run and what is known of them. Events in, lines out; no terminal.

mod calls;

use deft_engine::Published;
use deft_workflow::{Call, Event, Next, Path, warning};
use jiff::tz::TimeZone;

use crate::terminal::Styled;

/// Where a step stands.
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

#[derive(Debug)]
struct Line {
    path: String,
    /// What it is called, if that is not the end of its path.
    name: Option<String>,
    mark: Mark,
    /// What it does: the tool, `compute`, …
    what: String,
    /// Why, how long, how often.
    note: String,
    started: Option<std::time::Instant>,
    /// Items of a loop that have ended, and all of them.
    items: Option<(usize, usize)>,
}

/// A run as a tree of steps.
#[derive(Debug)]
pub(crate) struct Tree {
    lines: Vec<Line>,
    color: bool,
    zone: TimeZone,
}

const FRAMES: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠇", "⠏", "⠛"];

/// The longest note; the rest is in `deft runs show`.
const NOTE: usize = 100;

impl Tree {
    /// A tree of steps that have not begun: their ids and what they do. Times are shown in `zone`.
    pub(crate) fn new(
        steps: impl IntoIterator<Item = (String, String)>,
        color: bool,
        zone: TimeZone,
    ) -> Self {
        let lines = steps.into_iter().map(|(path, what)| Line {
            path,
            name: None,
            what,
            mark: Mark::Pending,
            note: String::new(),
            started: None,
            items: None,
        });
        Self {
            lines: lines.collect(),
            color,
            zone,
        }
    }

    /// Takes in an event. Gives back the lines that say something new, for plain output.
    pub(crate) fn apply(&mut self, published: &Published) -> Option<Styled> {
        match &published.event {
            Event::Begun(begun) => {
                let retried = begun.attempt > 1;
                if let Call::Wait { until } = *begun.call {
                    return self.waits(&begun.path, until);
                }
                let line = self.line(&begun.path)?;
                line.mark = Mark::Running;
                line.started.get_or_insert_with(std::time::Instant::now);
                line.note = if retried {
                    format!("attempt {}", begun.attempt)
                } else {
                    String::new()
                };
                None
            }
            Event::Listed { path, items, .. } => {
                let line = self.line(path)?;
                line.mark = Mark::Running;
                line.started.get_or_insert_with(std::time::Instant::now);
                line.items = Some((0, items.len()));
                None
            }
            Event::Ended(ended) => {
                let error = ended.error.as_ref().map(|failure| clip(&failure.message));
                if self.is_item(&ended.path) {
                    return self.item_ended(&ended.path, &ended.next);
                }
                let said = (error, ended.value.as_deref().and_then(warning));
                self.ended((&ended.path, ended.ms), &ended.next, said, ended.cached)
            }
            Event::Closed {
                path, error, ms, ..
            } => {
                let error = error.as_ref().map(|failure| clip(&failure.message));
                let next = if error.is_some() {
                    Next::Fail
                } else {
                    Next::Done
                };
                self.ended((path, *ms), &next, (error, None), false)
            }
            Event::Skipped { path, reason } if !self.is_item(path) => {
                let line = self.line(path)?;
                line.mark = Mark::Skipped;
                line.note = clip(reason);
                Some(self.show(path))
            }
            Event::Reused { path, .. } => {
                let line = self.line(path)?;
                line.mark = Mark::Done;
                "as in the earlier run".clone_into(&mut line.note);
                Some(self.show(path))
            }
            Event::Asked { path, message, .. } => {
                let line = self.line(path)?;
                line.mark = Mark::Waiting;
                line.note = clip(message);
                Some(self.show(path))
            }
            Event::Answered { path, by, .. } => {
                let line = self.line(path)?;
                line.mark = Mark::Pending;
                line.note = format!("answered by {by}");
                None
            }
            Event::Healed { path, error, .. } => {
                let line = self.line(path)?;
                line.note = match error {
                    None => "mended, trying again".to_owned(),
                    Some(failure) => clip(&format!("the remedy failed: {}", failure.message)),
                };
                Some(self.show(path))
            }
            Event::Agent { path, event } => self.agent(path, event),
            _ => None,
        }
    }

    /// A step lets time pass.
    fn waits(&mut self, path: &Path, until: jiff::Timestamp) -> Option<Styled> {
        let until = crate::output::local(until, &self.zone);
        let line = self.line(path)?;
        line.mark = Mark::Waiting;
        line.started.get_or_insert_with(std::time::Instant::now);
        line.note = format!("until {until}");
        Some(self.show(path))
    }

    fn ended(
        &mut self,
        (path, ms): (&Path, u64),
        next: &Next,
        (error, warning): (Option<String>, Option<String>),
        cached: bool,
    ) -> Option<Styled> {
        let zone = self.zone.clone();
        let line = self.line(path)?;
        let took = duration(std::time::Duration::from_millis(ms));
        (line.mark, line.note) = match next {
            Next::Retry { at } => (
                Mark::Waiting,
                format!(
                    "{}; again at {}",
                    error.unwrap_or_default(),
                    at.to_zoned(zone).strftime("%H:%M:%S")
                ),
            ),
            Next::Postponed { .. } => (
                Mark::Waiting,
                format!("waits: {}", error.unwrap_or_default()),
            ),
            Next::Heal(heal) => (
                Mark::Running,
                format!("{}: calling `{}`", error.unwrap_or_default(), heal.tool),
            ),
            Next::Tolerate => (Mark::Tolerated, error.unwrap_or_default()),
            Next::Fail | Next::Interrupt | Next::Block => (Mark::Failed, error.unwrap_or_default()),
            Next::Judged => (Mark::Pending, String::new()),
            Next::Verify { .. } => (Mark::Running, String::new()),
            Next::Done if cached => (Mark::Done, "cached".to_owned()),
            Next::Done => match warning {
                Some(warning) => (Mark::Done, format!("{took}; {warning}")),
                None => (Mark::Done, took),
            },
        };
        Some(self.show(path))
    }

    fn item_ended(&mut self, path: &Path, next: &Next) -> Option<Styled> {
        let goes_on = matches!(
            next,
            Next::Retry { .. }
                | Next::Postponed { .. }
                | Next::Heal(_)
                | Next::Judged
                | Next::Verify { .. }
        );
        if goes_on {
            return None;
        }
        let parent = path.as_str().rsplit_once('[').map(|(parent, _)| parent)?;
        let line = self.lines.iter_mut().find(|line| line.path == parent)?;
        if let Some((done, _)) = &mut line.items {
            *done += 1;
        }
        None
    }

    /// True for one item of a loop, which has no line of its own.
    fn is_item(&self, path: &Path) -> bool {
        path.as_str().ends_with(']')
    }

    /// The line of a step; a nested one gets its line below the step that runs its skill.
    fn line(&mut self, path: &Path) -> Option<&mut Line> {
        if self.is_item(path) || path.is_outputs() {
            return None;
        }
        self.line_at(path.as_str())
    }

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
        let line = Line {
            path: text.to_owned(),
            name: None,
            mark: Mark::Pending,
            what: String::new(),
            note: String::new(),
            started: None,
            items: None,
        };
        self.lines.insert(at, line);
        self.lines.get_mut(at)
    }

    fn show(&self, path: &Path) -> Styled {
        self.show_at(path.as_str())
    }

    fn show_at(&self, path: &str) -> Styled {
        let line = self.lines.iter().find(|line| line.path == path);
        line.map_or_else(Styled::default, |line| self.render(line, 0))
    }

    /// All lines, as they stand; `frame` turns the spinner.
    pub(crate) fn render_all(&self, frame: usize) -> Vec<Styled> {
        self.lines
            .iter()
            .map(|line| self.render(line, frame))
            .collect()
    }

    fn render(&self, line: &Line, frame: usize) -> Styled {
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
        let mut text = Styled::from(indent)
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

    fn paint(&self, code: &str, text: &str) -> Styled {
        Styled::paint(code, text, self.color)
    }
}

fn clip(text: &str) -> String {
    let masked = deft_workflow::mask(text);
    let text = masked.as_deref().unwrap_or(text);
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(NOTE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// A length of time for people.
pub(crate) fn duration(length: std::time::Duration) -> String {
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
    use deft_model::RunId;

    use super::*;

    /// 21:30 in the evening in New York is the next day in Greenwich.
    #[test]
    fn a_retry_is_announced_in_the_zone_of_who_looks() {
        let at = "2026-07-02T01:30:05Z".parse().unwrap();
        let ended = serde_json::json!({"ended": {
            "path": "get", "attempt": 1, "ms": 5, "error": {"class": "network", "message": "no route"},
            "next": {"retry": {"at": "2026-07-02T01:30:05Z"}},
        }});
        let event = serde_json::from_value(ended).unwrap();
        let published = Published {
            seq: 1,
            at,
            run: RunId::new("run_1"),
            skill: "demo".to_owned(),
            event,
        };
        let steps = [("get".to_owned(), "fetch".to_owned())];
        let zone = TimeZone::get("America/New_York").unwrap();
        let line = Tree::new(steps, false, zone).apply(&published);
        assert_eq!(
            line.as_ref().map(Styled::as_str),
            Some("  ? get  fetch  no route; again at 21:30:05")
        );
    }
}
