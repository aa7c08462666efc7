//! Text reports for people: source excerpts with carets.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use deft_service::skills::{CheckedFile, Finding};
use deft_wire::diagnostic::Severity;
use deft_wire::model::visible;

use crate::failure::Done;
use crate::output::{Output, format_count};
use crate::terminal::StyledText;

/// The maximum number of problems shown per file; more would only hide the first.
const MAX_SHOWN: usize = 100;

pub(super) fn print(files: &[CheckedFile], output: &Output) -> Done<()> {
    for file in files {
        // `--quiet` prints only results and errors, and a hint is neither.
        let wanted = |one: &&Finding| one.severity > Severity::Hint || !output.quiet;
        let found: Vec<Finding> = file.findings.iter().filter(wanted).cloned().collect();
        if !found.is_empty() {
            output.data(excerpts(&file.shown, &file.text(), &found, output))?;
        }
    }
    output.note(&summary(files));
    Ok(())
}

/// Renders each problem with an excerpt of its source line.
pub(crate) fn excerpts(path: &str, text: &str, found: &[Finding], output: &Output) -> StyledText {
    let renderer = if output.styles_stdout() {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let path = &visible(path);
    let mut out = String::new();
    for one in found.iter().take(MAX_SHOWN) {
        let message = visible(&one.message);
        let excerpt = Excerpt::new(one, text);
        out.push_str(&renderer.render(&[group(path, &message, one, excerpt)]));
        out.push_str("\n\n");
    }
    if found.len() > MAX_SHOWN {
        out.push_str(&format!("{path}: and {} more\n\n", found.len() - MAX_SHOWN));
    }
    // The renderer shows control characters of the file as symbols, so all control sequences are its own.
    StyledText::from_renderer(&out)
}

/// The source line of a problem, and the range in it.
struct Excerpt<'a> {
    line: &'a str,
    number: usize,
    range: Range<usize>,
}

impl<'a> Excerpt<'a> {
    /// Returns the excerpt of a problem. Only the first line of a longer range is included, and the range is
    /// rounded to character boundaries.
    fn new(found: &Finding, text: &'a str) -> Option<Self> {
        let place = found.place.as_ref()?;
        let range = &place.bytes;
        let boundary = |at: usize| {
            (0..=at.min(text.len()))
                .rev()
                .find(|at| text.is_char_boundary(*at))
        };
        let start = boundary(range.start).unwrap_or_default();
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let to = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = boundary(range.end).unwrap_or_default().clamp(start, to);
        Some(Self {
            line: &text[from..to],
            number: place.line,
            range: start - from..end - from,
        })
    }
}

fn group<'a>(
    path: &'a str,
    message: &'a str,
    found: &'a Finding,
    excerpt: Option<Excerpt<'a>>,
) -> Group<'a> {
    let title = level(found.severity).primary_title(message).id(found.rule);
    let mut group = Group::with_title(title);
    group = match excerpt {
        Some(excerpt) => {
            let annotation = AnnotationKind::Primary.span(excerpt.range);
            let snippet = Snippet::source(excerpt.line).line_start(excerpt.number);
            group.element(snippet.path(path).annotation(annotation))
        }
        None => group.element(annotate_snippets::Origin::path(path)),
    };
    match &found.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Hint => Level::NOTE.with_name("hint"),
    }
}

fn summary(files: &[CheckedFile]) -> String {
    let total = |severity| files.iter().map(|file| file.count(severity)).sum::<usize>();
    let broken = files.iter().filter(|file| !file.is_ok()).count();
    let verdict = if broken == 0 {
        "all ok".to_owned()
    } else {
        format!("{broken} with errors")
    };
    format!(
        "{}: {verdict} ({}, {}, {})",
        format_count(files.len(), "file"),
        format_count(total(Severity::Error), "error"),
        format_count(total(Severity::Warning), "warning"),
        format_count(total(Severity::Hint), "hint"),
    )
}
