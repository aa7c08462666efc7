//! Finds the `cmd` blocks in the reply of a model (S2.36, S2.37).
//!
//! Fences at the top level and in list items count, whatever the case of their tag: a model that
//! numbers its steps wants them run. Fences in a quotation, a longer fence or an indented block are
//! only quoted (X22). An unclosed block was cut off, and half a command is never run.
//!
//! Not here: tool results and messages of people; the caller passes the model's own text only.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::problem::{Problem, ProblemKind};
use crate::split::{Line, split};

/// A model's reply, split into `cmd` blocks and text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    /// The blocks, in order; [`lines`](Self::lines) returns their commands.
    pub blocks: Vec<Block>,
    /// The reply without the blocks.
    pub text: String,
    /// The problem of an unclosed last block, which stays in `text`.
    pub unclosed: Option<Problem>,
}

/// The commands in one fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The text between the fences.
    pub commands: String,
    /// The byte range of the whole block in the reply.
    pub span: Range<usize>,
}

/// Splits a reply into its `cmd` blocks and the remaining text.
pub fn extract(reply: &str) -> Extraction {
    let mut out = Extraction::default();
    // Number of open quotations, paragraphs and blocks; lists do not count.
    let mut depth = 0_usize;
    let mut open: Option<Block> = None;
    for (event, span) in Parser::new(reply).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 && is_cmd(&tag) {
                    let commands = String::new();
                    open = Some(Block { commands, span });
                }
                depth += usize::from(!matches!(tag, Tag::List(_) | Tag::Item));
            }
            Event::End(end) => {
                let in_list = matches!(end, TagEnd::List(_) | TagEnd::Item);
                depth = depth.saturating_sub(usize::from(!in_list));
                if end == TagEnd::CodeBlock
                    && let Some(block) = open.take()
                {
                    out.finish(reply, block);
                }
            }
            Event::Text(text) => {
                if let Some(block) = &mut open {
                    block.commands.push_str(&text);
                }
            }
            Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
    }
    out.text = without(reply, &out.blocks);
    out
}

fn is_cmd(tag: &Tag<'_>) -> bool {
    matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(info)) if info.trim().eq_ignore_ascii_case("cmd"))
}

impl Extraction {
    /// Returns the commands of all blocks, in order. Spans are relative to the start of a block.
    ///
    /// Everything after an unclosed quote is ignored, in later blocks too: a fence inside a quoted text
    /// ends the block early, and what follows may be the rest of that text (X22).
    pub fn lines(&self) -> Vec<Result<Line, Problem>> {
        self.parsed_commands().map(|(_, line)| line).collect()
    }

    /// Returns the commands as written, with the problem of each command that cannot be parsed. An
    /// unclosed block is the last item.
    pub fn written_commands(&self) -> Vec<(String, Option<Problem>)> {
        let mut written: Vec<_> = self.parsed_commands().map(as_written).collect();
        let unclosed = self.unclosed.iter();
        written.extend(unclosed.map(|problem| ("```cmd".to_owned(), Some(problem.clone()))));
        written
    }

    /// Returns the parsed commands, each with its block.
    fn parsed_commands(&self) -> impl Iterator<Item = (&Block, Result<Line, Problem>)> {
        let mut torn = false;
        let lines = |block| split_block(block).map(move |line| (block, line));
        let placed = self.blocks.iter().flat_map(lines);
        placed.take_while(move |(_, line)| !std::mem::replace(&mut torn, is_torn(line)))
    }

    fn finish(&mut self, reply: &str, block: Block) {
        if is_closed(&reply[block.span.clone()]) {
            self.blocks.push(block);
        } else {
            self.unclosed = Some(Problem::new_at(ProblemKind::UnclosedBlock, block.span));
        }
    }
}

fn split_block(block: &Block) -> impl Iterator<Item = Result<Line, Problem>> + use<> {
    split(&block.commands).into_iter()
}

/// Returns the text of a command. For a command that cannot be parsed, this is the whole line where
/// parsing stopped.
fn as_written((block, line): (&Block, Result<Line, Problem>)) -> (String, Option<Problem>) {
    match line {
        Ok(line) => (line.raw, None),
        Err(problem) => {
            let text = &block.commands;
            let at = problem.span.as_ref().map_or(0, |span| span.start);
            let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let line = text[start..].lines().next().unwrap_or_default();
            (line.trim().to_owned(), Some(problem))
        }
    }
}

fn is_torn(line: &Result<Line, Problem>) -> bool {
    matches!(line, Err(problem) if matches!(problem.kind, ProblemKind::UnclosedQuote { .. }))
}

/// Whether the last line of a block is a closing fence: the same character as the first, and at least
/// as long.
fn is_closed(block: &str) -> bool {
    let mut lines = block.trim_end().lines();
    let fence = lines.next().unwrap_or_default().trim_start();
    let mark = fence.chars().next().unwrap_or('`');
    let length = fence.chars().take_while(|c| *c == mark).count();
    let closes = |line: &str| line.chars().all(|c| c == mark) && line.chars().count() >= length;
    lines.last().is_some_and(|line| closes(line.trim()))
}

/// Joins the texts between the blocks with one empty line in place of each block.
fn without(reply: &str, blocks: &[Block]) -> String {
    let starts = std::iter::once(0).chain(blocks.iter().map(|block| block.span.end));
    let ends = blocks.iter().map(|block| block.span.start);
    let texts = starts.zip(ends.chain([reply.len()]));
    // Removes only empty lines: spaces before a block can make it a quotation.
    let texts = texts.map(|(start, end)| reply[start..end].trim_end());
    let texts = texts.map(|text| text.trim_start_matches(['\n', '\r']));
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}
