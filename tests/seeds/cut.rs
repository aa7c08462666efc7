//! Cuts documents into what can be tried: fenced blocks, rows of tables and quoted phrases, each with its place.
//!
//! A block inside a block is a cut of its own. Quotation marks count in prose, in rows and in diagrams;
//! inside code they are syntax. What a cut means is not decided here.

use std::fmt;
use std::path::Path;

/// What was cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Block,
    Row,
    /// The phrase of this number on its line, from 1 on.
    Phrase(usize),
}

/// One piece of a document.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// The first three characters of the document's name.
    pub(crate) document: String,
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) kind: Kind,
    /// A block without its fences, a row as it is, a phrase without its quotation marks.
    pub(crate) text: String,
}

impl fmt::Display for Cut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.document, self.first)?;
        match self.kind {
            Kind::Block => write!(out, "-{}", self.last),
            Kind::Row => Ok(()),
            Kind::Phrase(number) => write!(out, "#{number}"),
        }
    }
}

/// A document: its lines and its cuts.
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) lines: Vec<String>,
    pub(crate) cuts: Vec<Cut>,
}

impl Document {
    /// The text of some lines, counted from 1.
    pub(crate) fn text(&self, first: usize, last: usize) -> Option<String> {
        let lines = self.lines.get(first.checked_sub(1)?..last)?;
        Some(lines.join("\n"))
    }
}

/// All documents of a folder.
pub(crate) fn documents(folder: &Path) -> Vec<Document> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == "txt"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            let file = path.file_name().unwrap().to_string_lossy();
            document(&file[..3], &std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// Cuts one document.
pub(crate) fn document(name: &str, text: &str) -> Document {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut cutter = Cutter {
        name,
        lines: &lines,
        open: Vec::new(),
        cuts: Vec::new(),
    };
    for number in 1..=lines.len() {
        cutter.take(number);
    }
    let cuts = cutter.cuts;
    assert!(
        cutter.open.is_empty(),
        "a block of {name} has no end: {:?}",
        cutter.open
    );
    Document {
        name: name.to_owned(),
        lines,
        cuts,
    }
}

struct Cutter<'a> {
    name: &'a str,
    lines: &'a [String],
    /// The blocks that are open: the line of the fence and its word.
    open: Vec<(usize, String)>,
    cuts: Vec<Cut>,
}

impl Cutter<'_> {
    fn take(&mut self, number: usize) {
        let lines = self.lines;
        let line = &lines[number - 1];
        if let Some(word) = line.trim_start().strip_prefix("```") {
            let word = word.trim().to_owned();
            match self.open.last().map(|(first, _)| *first) {
                Some(first) if word.is_empty() => {
                    self.open.pop();
                    let text = lines[first..number - 1].join("\n");
                    self.push(first, number, Kind::Block, text);
                }
                _ => self.open.push((number, word)),
            }
            return;
        }
        let inside = self.open.last().map(|(_, word)| word.clone());
        if inside.is_none() && is_row(line) && !is_rule(line) {
            let below = lines.get(number);
            if !below.is_some_and(|below| is_rule(below)) {
                self.push(number, number, Kind::Row, line.trim().to_owned());
            }
        }
        let quotes = match inside.as_deref() {
            None => quoted(&without_code(line)),
            Some("" | "mermaid") => quoted(line),
            Some(_) => Vec::new(),
        };
        for (index, phrase) in quotes.into_iter().enumerate() {
            self.push(number, number, Kind::Phrase(index + 1), phrase);
        }
    }

    fn push(&mut self, first: usize, last: usize, kind: Kind, text: String) {
        self.cuts.push(Cut {
            document: self.name.to_owned(),
            first,
            last,
            kind,
            text,
        });
    }
}

fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.len() > 1 && line.starts_with('|') && line.ends_with('|')
}

/// The line below the head of a table.
fn is_rule(line: &str) -> bool {
    is_row(line) && line.trim().chars().all(|c| "|-: ".contains(c))
}

/// A line whose code spans are blanked out.
fn without_code(line: &str) -> String {
    let parts = line.split('`').enumerate();
    let kept = parts.map(|(index, part)| if index % 2 == 0 { part } else { "" });
    kept.collect::<Vec<_>>().join("`")
}

/// Phrases of more than one word between quotation marks; one behind a backslash is part of a phrase.
fn quoted(line: &str) -> Vec<String> {
    let line = line.replace("\\\"", "\u{1}");
    let inside = line.split('"').skip(1).step_by(2);
    let closed = line.matches('"').count() / 2;
    inside
        .take(closed)
        .filter(|phrase| is_phrase(phrase))
        .map(|phrase| phrase.replace('\u{1}', "\""))
        .collect()
}

fn is_phrase(text: &str) -> bool {
    text.split_whitespace().count() > 1 && text.chars().any(char::is_alphabetic)
}

/// The cells of a row.
pub(crate) fn cells(row: &str) -> Vec<String> {
    let inner = row.trim().trim_start_matches('|');
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let mut cells = vec![String::new()];
    let mut in_code = false;
    for c in inner.chars() {
        in_code ^= c == '`';
        if c == '|' && !in_code {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(c);
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The code spans of a text.
pub(crate) fn code(text: &str) -> Vec<String> {
    let inside = text.split('`').skip(1).step_by(2);
    inside.map(str::to_owned).collect()
}

/// Eight digits that change with the text (FNV-1a).
pub(crate) fn hash(text: &str) -> String {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    let folded = text.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:08x}", (folded ^ (folded >> 32)) & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_positions() {
        let text = "Say \"hello there\" or `\"not this\"` or \"one\".\n\n| a | b |\n|---|---|\n| \"in the row\" | `x|y` |\n\n```\nouter \"in a diagram\"\n```cmd\nrun it\n```\n```\n```json\n{\"a b\": 1}\n```\n";
        let cut = document("doc", text);
        let shown: Vec<String> = cut
            .cuts
            .iter()
            .map(|cut| format!("{cut} {:?}", cut.text))
            .collect();
        assert_eq!(
            shown,
            [
                "doc:1#1 \"hello there\"",
                "doc:5 \"| \\\"in the row\\\" | `x|y` |\"",
                "doc:5#1 \"in the row\"",
                "doc:8#1 \"in a diagram\"",
                "doc:9-11 \"run it\"",
                "doc:7-12 \"outer \\\"in a diagram\\\"\\n```cmd\\nrun it\\n```\"",
                "doc:13-15 \"{\\\"a b\\\": 1}\"",
            ]
        );
        assert_eq!(cells(&cut.cuts[1].text), ["\"in the row\"", "`x|y`"]);
    }
}
