//! Rendering of `deft status` as lines: a label on the left, aligned rows beside it.

use deft_wire::budget::BudgetScope;
use deft_wire::model::{RunStatus, SpendSubject};
use deft_wire::status::{ActiveRun, FailedRun, StatusView};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr;

use crate::output::format_count;
use crate::question_text::question_lines;
use crate::table::wrap_at_most;
use crate::terminal::StyledText;
use crate::when::short;

/// The width of the labels.
const LABEL: usize = 11;

/// The width from which rows end with the id of their run.
const WIDE: usize = 100;

/// The number of characters shown of an id: enough as a prefix for commands.
pub(crate) const SHORT_ID: usize = 20;

const GREEN: &str = "32";
const RED: &str = "31";
const YELLOW: &str = "33";
const DIM: &str = "2";
const BOLD: &str = "1";
const SELECTED: &str = "7";

/// A status and the options to render it.
pub(crate) struct Frame<'a> {
    pub view: &'a StatusView,
    pub zone: &'a TimeZone,
    pub width: usize,
    pub color: bool,
    /// The index of the approval that keys answer.
    pub selected: Option<usize>,
}

/// The maximum number of lines of wrapped text.
const MAX_LINES: usize = 3;

/// The minimum width of wrapped text. With less room, text is truncated.
const NARROWEST: usize = 20;

/// A row of a section with aligned cells. On a narrow terminal the last cell wraps between words.
struct Row {
    cells: Vec<String>,
    /// A line about the row, below it.
    below: Option<String>,
    /// The colour of the whole row; plain when absent.
    code: Option<&'static str>,
}

impl Row {
    fn new(cells: impl IntoIterator<Item = String>) -> Self {
        Self {
            cells: cells.into_iter().collect(),
            below: None,
            code: None,
        }
    }

    fn with_below(mut self, below: Option<String>) -> Self {
        self.below = below;
        self
    }

    fn note(text: impl Into<String>) -> Self {
        Self::new([text.into()]).with_color(DIM)
    }

    fn with_color(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }
}

impl Frame<'_> {
    /// Renders all lines as one text.
    pub(crate) fn text(&self) -> StyledText {
        let mut text = StyledText::default();
        for line in self.lines() {
            text.push(line.with("\n"));
        }
        text
    }

    /// Renders the lines of the screen.
    pub(crate) fn lines(&self) -> Vec<StyledText> {
        let mut lines = vec![self.heading()];
        let sections = [
            ("daemon", vec![self.daemon()]),
            ("next", self.next()),
            ("runs", self.active()),
            ("failed", self.failed_rows()),
            ("approvals", self.approvals()),
            ("spend", self.spending()),
        ];
        for (label, rows) in sections {
            lines.extend(self.section(label, &rows));
        }
        lines
    }

    fn heading(&self) -> StyledText {
        let view = self.view;
        let mut rest = format!("  {}  {}", view.home, format_count(view.skills, "skill"));
        if view.broken > 0 {
            rest.push_str(&format!(", {} broken", format_count(view.broken, "file")));
        }
        let line = self.paint(BOLD, "deft").with(rest);
        line.fit(self.width)
    }

    fn section(&self, label: &str, rows: &[Row]) -> Vec<StyledText> {
        let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        // Notes have one cell and are not aligned.
        let aligned = |column: usize| {
            let cells = rows.iter().filter(|row| row.cells.len() > 1);
            let cells = cells.filter_map(|row| row.cells.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(aligned).collect();
        let mut lines = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let mut label = if at == 0 { label } else { "" };
            for text in self.row_lines(row, &widths) {
                let body = match row.code {
                    Some(code) => self.paint(code, &text),
                    None => StyledText::from(text),
                };
                let line = self.paint(DIM, &format!("{label:<LABEL$}")).with(body);
                lines.push(line.fit(self.width));
                label = "";
            }
        }
        lines
    }

    /// Renders the lines of a row. The last cell wraps below itself, and the line below the row is indented.
    fn row_lines(&self, row: &Row, widths: &[usize]) -> Vec<String> {
        let Some((last, before)) = row.cells.split_last() else {
            return Vec::new();
        };
        let mut start = String::new();
        for (cell, width) in before.iter().zip(widths) {
            let pad = width.saturating_sub(cell.width()) + 2;
            start.push_str(&cell.replace('\n', " "));
            start.extend(std::iter::repeat_n(' ', pad));
        }
        let indent = " ".repeat(start.width());
        let room = self.width.saturating_sub(LABEL + indent.len() + 1);
        let texts = if room < NARROWEST {
            vec![last.replace('\n', " ")]
        } else {
            wrap_at_most(last, room, MAX_LINES)
        };
        let mut lines: Vec<String> = Vec::new();
        for text in texts {
            let before = if lines.is_empty() { &start } else { &indent };
            lines.push(format!("{before}{text}").trim_end().to_owned());
        }
        lines.extend(row.below.iter().map(|text| format!("    {text}")));
        lines
    }

    fn daemon(&self) -> Row {
        let daemon = &self.view.daemon;
        if !daemon.running {
            return Row::new(["not running; `deft up` starts it".to_owned()]).with_color(YELLOW);
        }
        let since = daemon.since.map(|at| format!(" since {}", self.short(at)));
        let pid = daemon.pid.map(|pid| format!(", process {pid}"));
        let api = daemon.api.as_ref();
        let url = api.and_then(|api| api.url.as_ref());
        let text = format!(
            "running{}{}{}",
            since.unwrap_or_default(),
            pid.unwrap_or_default(),
            url.map_or(String::new(), |url| format!(", {url}")),
        );
        match api.and_then(|api| api.problem.as_ref()) {
            Some(problem) => {
                Row::new([format!("{text}; the API is not served: {problem}")]).with_color(YELLOW)
            }
            None => Row::new([text]).with_color(GREEN),
        }
    }

    fn next(&self) -> Vec<Row> {
        if self.view.next.is_empty() {
            return vec![Row::note("no skill is scheduled")];
        }
        let rows = self.view.next.iter().map(|fire| {
            let when = self.short(fire.at);
            // The words of a one-shot schedule would repeat its instant.
            let words = if fire.once { "once" } else { &fire.words };
            Row::new([fire.skill.clone(), when, words.to_owned()])
        });
        let mut rows: Vec<Row> = rows.collect();
        let more = self.view.scheduled.saturating_sub(rows.len());
        if more > 0 {
            rows.push(Row::note(format!("{more} more: `deft schedule list`")));
        }
        rows
    }

    fn active(&self) -> Vec<Row> {
        if self.view.active.is_empty() {
            return vec![Row::note("none running or waiting")];
        }
        let mut rows: Vec<Row> = self.view.active.iter().map(|run| self.run(run)).collect();
        let more = more(self.view.active_total, rows.len());
        rows.extend(more.map(|more| Row::note(format!("{more} more: `deft runs list`"))));
        rows
    }

    fn run(&self, run: &ActiveRun) -> Row {
        let step = run.position.map(|at| {
            let (number, total) = (at.number, at.total);
            format!("step {number} of {total}")
        });
        let (state, code) = match run.status {
            RunStatus::Running if run.owner_gone => ("interrupted", Some(RED)),
            RunStatus::Running => ("running", Some(GREEN)),
            RunStatus::Waiting => ("waiting", Some(YELLOW)),
            RunStatus::Queued | RunStatus::Done => ("queued", None),
        };
        let since = self.short(run.since);
        let what = [step, run.waiting_for.clone()];
        let what: Vec<String> = what.into_iter().flatten().collect();
        let mut cells = vec![run.skill.clone(), state.to_owned(), since];
        cells.extend(self.id(run.id.as_str()));
        cells.push(what.join("; "));
        Row {
            code,
            ..Row::new(cells)
        }
    }

    fn failed_rows(&self) -> Vec<Row> {
        if self.view.failed.is_empty() {
            return vec![Row::note("none in 24 h")];
        }
        let mut rows: Vec<Row> = self
            .view
            .failed
            .iter()
            .map(|run| self.failure(run))
            .collect();
        let more = more(self.view.failed_total, rows.len());
        rows.extend(more.map(|more| Row::note(format!("{more} more: `deft runs list`"))));
        rows
    }

    fn failure(&self, run: &FailedRun) -> Row {
        let why = match run.message.as_str() {
            "" => run.outcome.to_string(),
            message => format!("{}: {message}", run.outcome),
        };
        let mut cells = vec![run.skill.clone(), self.short(run.at)];
        cells.extend(self.id(run.id.as_str()));
        cells.push(why);
        Row::new(cells).with_color(RED)
    }

    fn approvals(&self) -> Vec<Row> {
        let approvals = &self.view.approvals;
        if approvals.is_empty() {
            return vec![Row::note("none pending")];
        }
        let rows = approvals.iter().enumerate().map(|(at, approval)| {
            let selected = self.selected == Some(at);
            let mark = match (self.selected, selected) {
                (None, _) => "",
                (Some(_), true) => "> ",
                (Some(_), false) => "  ",
            };
            let (question, call) = question_lines(approval);
            let row = Row::new([
                format!("{mark}{}", approval.skill),
                self.short(approval.asked_at),
                question,
            ]);
            row.with_below(call)
                .with_color(if selected { SELECTED } else { YELLOW })
        });
        rows.collect()
    }

    fn spending(&self) -> Vec<Row> {
        let paused = self.view.paused_agents.iter().map(|paused| {
            let (agent, why) = (&paused.agent, &paused.reason);
            Row::new([format!("agent `{agent}` is paused: {why}")]).with_color(RED)
        });
        let spent = self.view.spending.iter().map(budget_row);
        spent.chain(paused).collect()
    }

    fn id(&self, id: &str) -> Option<String> {
        let shown = || id.chars().take(SHORT_ID).collect();
        (self.width >= WIDE).then(shown)
    }

    fn short(&self, at: Timestamp) -> String {
        short(at, self.view.at, self.zone)
    }

    fn paint(&self, code: &str, text: &str) -> StyledText {
        StyledText::paint(code, text, self.color)
    }
}

fn more(total: u64, shown: usize) -> Option<u64> {
    total.checked_sub(shown as u64).filter(|more| *more > 0)
}

/// Formats today's usage of a scope and its limits. A scope at its limit is red.
fn budget_row(scope: &BudgetScope) -> Row {
    let used = &scope.used;
    let tokens = used.input_tokens + used.output_tokens;
    let dollars = used.cost_usd.dollars();
    let money = match scope.limit_usd {
        Some(limit) => format!("{dollars:.2} of {limit:.2} USD"),
        None => format!("{dollars:.2} USD"),
    };
    let tokens_shown = match scope.limit_tokens {
        Some(limit) => format!("{tokens} of {limit} tokens"),
        None => format!("{tokens} tokens"),
    };
    let name = match &used.scope {
        SpendSubject::All => "today".to_owned(),
        other @ (SpendSubject::Agent(_) | SpendSubject::Skill(_) | SpendSubject::Run(_)) => {
            other.to_string()
        }
    };
    let spent = scope.limit_usd.is_some_and(|limit| dollars >= limit)
        || scope.limit_tokens.is_some_and(|limit| tokens >= limit);
    let row = Row::new([name, money, tokens_shown]);
    if spent { row.with_color(RED) } else { row }
}
