//! `deft skills import`: copies skills into the home.

use std::process::ExitCode;

use deft_service::skills::{ImportFormat, ImportRequest, import};
use deft_wire::skill_files::{ImportEffect, ImportItem, ImportKind, ImportReport, UnmappedNode};

use crate::args::{Global, Import, SourceFormat};
use crate::failure::Done;
use crate::output::{Output, format_count};
use crate::table::columns_of;

pub(crate) fn run(args: &Import, global: &Global, output: &Output) -> Done {
    let request = ImportRequest {
        paths: args.sources.clone(),
        format: args.from.map(|format| match format {
            SourceFormat::Crontab => ImportFormat::Crontab,
            SourceFormat::N8n => ImportFormat::N8n,
        }),
        force: args.force,
        keep: args.keep,
        dry_run: args.dry_run,
    };
    let imported = import(&global.workspace(), &request)?;
    let report = &imported.report;
    if output.json {
        output.document(report)?;
    } else {
        print(report, output)?;
        let conflict = "`--force` replaces existing skills, `--keep` skips them";
        let hints = imported.hints.iter().map(String::as_str);
        let hints = hints.chain(imported.has_conflicts.then_some(conflict));
        for hint in hints {
            output.note(&format!("hint: {hint}"));
        }
        output.note(&summary(report));
    }
    Ok(ExitCode::from(u8::from(!report.ok)))
}

/// The column in which the text after the first word of a line begins.
const MARGIN: usize = 10;

/// Prints a line for each skill, then notes, then refused files.
fn print(report: &ImportReport, output: &Output) -> Done<()> {
    let width = output.width();
    let line =
        |word: &str, text: &str| output.data(hang_indent(&format!("{word:9} "), text, width));
    let names = report.items.iter().map(|item| item.id.chars().count());
    let names = names.max().unwrap_or_default().min(40);
    for item in &report.items {
        let text = format!("{:names$}  {}", item.id, about(item));
        line(item.effect.word(), &text)?;
    }
    let removed = report.files.iter();
    for file in removed.filter(|file| file.effect == ImportEffect::Removed) {
        line(file.effect.word(), &file.path)?;
    }
    for item in &report.items {
        for note in &item.notes {
            line("note", &format!("{}: {note}", item.id))?;
        }
    }
    for file in &report.refused {
        line("refused", &format!("{}: {}", file.path, file.reason))?;
        let nodes = report.unmapped.iter().filter(|node| node.path == file.path);
        let table = unmapped_table(nodes, width);
        if !table.is_empty() {
            output.data(table)?;
        }
    }
    for also in &report.also_defined {
        output.note(&format!(
            "`{}` is also defined in `{}`; remove one of them",
            also.skill, also.path
        ));
    }
    Ok(())
}

fn about(item: &ImportItem) -> String {
    let mut text = item.kind.word().to_owned();
    if item.files > 1 {
        text.push_str(&format!(", {}", format_count(item.files, "file")));
    }
    if item.disabled {
        text.push_str(", disabled");
    }
    text
}

/// Formats nodes as a table with a wrapped last column.
fn unmapped_table<'a>(
    nodes: impl Iterator<Item = &'a UnmappedNode>,
    width: Option<usize>,
) -> String {
    let row = |node: &'a UnmappedNode| {
        let kind = node.kind.strip_prefix("n8n-nodes-base.");
        (
            node.node.as_str(),
            kind.unwrap_or(&node.kind),
            node.reason.as_str(),
        )
    };
    let rows: Vec<_> = nodes.map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let rows = [vec![("node", "type", "reason")], rows].concat();
    let widest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or_default();
    let first = widest(&mut rows.iter().map(|row| row.0.chars().count()));
    let second = widest(&mut rows.iter().map(|row| row.1.chars().count()));
    let line = |(node, kind, reason): &(&str, &str, &str)| {
        let head = format!("{:MARGIN$}{node:first$}  {kind:second$}  ", "");
        hang_indent(&head, reason, width) + "\n"
    };
    rows.iter().map(line).collect()
}

/// Formats `text` after `head` with a hanging indent: wrapped lines align with the start of the text, or with
/// the margin if too little room is left. Spaces that align columns are kept.
fn hang_indent(head: &str, text: &str, width: Option<usize>) -> String {
    let width = width.unwrap_or(usize::MAX);
    let length = columns_of(head);
    let indent = if length + 24 > width {
        MARGIN + 2
    } else {
        length
    };
    let mut out = head.to_owned();
    let mut used = length;
    for (at, word) in text.split(' ').enumerate() {
        let size = columns_of(word);
        if at > 0 && used + 1 + size > width {
            out.truncate(out.trim_end().len());
            out.push_str(&format!("\n{:indent$}", ""));
            used = indent;
        } else if at > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += size;
    }
    out
}

fn summary(report: &ImportReport) -> String {
    let done = if report.dry_run {
        "would be imported"
    } else {
        "imported"
    };
    let mut text = format_count(report.skills.len(), "skill");
    if !report.agents.is_empty() {
        text.push_str(&format!(
            " and {}",
            format_count(report.agents.len(), "agent")
        ));
    }
    text.push_str(&format!(" {done}"));
    // Agents are counted too; a domain is not, because its index belongs to its skills.
    let items = report.items.iter();
    let items = items.filter(|item| item.kind != ImportKind::Domain);
    let count = |effect| items.clone().filter(|item| item.effect == effect).count();
    let rest = [
        (count(ImportEffect::Unchanged), "unchanged"),
        (count(ImportEffect::Kept), "kept"),
        (report.refused.len(), "refused"),
    ];
    for (count, word) in rest.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!(", {count} {word}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::hang_indent;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(
            hang_indent("refused   ", "a: b c", None),
            "refused   a: b c"
        );
        assert_eq!(
            hang_indent(
                "refused   ",
                "some/long/path.md: the reason is long",
                Some(36)
            ),
            "refused   some/long/path.md: the\n          reason is long"
        );
        // A word too long for any line is not broken: it may be a path to copy.
        assert_eq!(
            hang_indent(
                "new       ",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                Some(36)
            )
            .lines()
            .count(),
            1
        );
    }
}
