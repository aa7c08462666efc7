//! Excerpts with carets, for people.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use deft_skillfile::{Diagnostic, Severity};

use super::Checked;
use crate::failure::Done;
use crate::output::{Output, counted};

pub(super) fn print(files: &[Checked], output: &Output) -> Done<()> {
    for file in files.iter().filter(|file| !file.diagnostics.is_empty()) {
        output.data(&excerpts(
            &file.shown,
            &file.text(),
            &file.diagnostics,
            output,
        ))?;
    }
    output.note(&summary(files));
    Ok(())
}

/// Every problem with the lines it is about.
pub(crate) fn excerpts(path: &str, text: &str, found: &[Diagnostic], output: &Output) -> String {
    let renderer = if output.styles_stdout() {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut out = String::new();
    for one in found {
        out.push_str(&renderer.render(&[group(path, text, one)]));
        out.push_str("\n\n");
    }
    out
}

fn group<'a>(path: &'a str, text: &'a str, found: &'a Diagnostic) -> Group<'a> {
    let title = level(found.severity)
        .primary_title(found.message.as_str())
        .id(found.rule.id());
    let range = found.span.range().map(|range| clamp(text, range));
    let mut group = Group::with_title(title);
    group = match range {
        Some(range) => {
            let annotation = AnnotationKind::Primary.span(range);
            group.element(Snippet::source(text).path(path).annotation(annotation))
        }
        None => group.element(annotate_snippets::Origin::path(path)),
    };
    match &found.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

/// Only the first line of a long range is marked, and never half a character.
fn clamp(text: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(range.start);
    let end = boundary(range.end).max(start);
    let line_end = text[start..end].find('\n').map_or(end, |at| start + at);
    start..line_end
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Hint => Level::NOTE.with_name("hint"),
    }
}

fn summary(files: &[Checked]) -> String {
    let total = |severity| files.iter().map(|file| file.count(severity)).sum::<usize>();
    let broken = files.iter().filter(|file| !file.is_ok()).count();
    let verdict = if broken == 0 {
        "all ok".to_owned()
    } else {
        format!("{broken} with errors")
    };
    format!(
        "{}: {verdict} ({}, {}, {})",
        counted(files.len(), "file"),
        counted(total(Severity::Error), "error"),
        counted(total(Severity::Warning), "warning"),
        counted(total(Severity::Hint), "hint"),
    )
}
