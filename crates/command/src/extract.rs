//! Finds the `cmd` blocks in the reply of a model (S2.36, S2.37).
//!
//! Fences at the top level and in list items count, whatever the case of their tag: a model that
//! numbers its steps means what it writes there. Those in a quotation, a longer fence or an indented
//! block are shown and not meant (X22). A block that is never closed was cut off, and half a command
//! is never run.
//!
//! Not here: tool results and messages of people; the caller passes the model's own text only.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::problem::{Problem, ProblemKind};
use crate::split::{Line, split};

/// A reply, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    /// The blocks, in order; [`lines`](Self::lines) are their commands.
    pub blocks: Vec<Block>,
    /// The reply without them.
    pub text: String,
    /// A last block that is not closed; it stays in the text.
    pub unclosed: Option<Problem>,
}

/// The commands of one fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What stands between the fences.
    pub commands: String,
    /// The place of the whole block in the reply.
    pub span: Range<usize>,
}

/// The `cmd` blocks of a reply, and the rest of it.
pub fn extract(reply: &str) -> Extraction {
    let mut out = Extraction::default();
    // How many quotations, paragraphs and blocks are open; lists do not count.
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
            _ => {}
        }
    }
    out.text = without(reply, &out.blocks);
    out
}

fn is_cmd(tag: &Tag<'_>) -> bool {
    matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(info)) if info.trim().eq_ignore_ascii_case("cmd"))
}

impl Extraction {
    /// The commands of all blocks, in order. Places count from the start of a block.
    ///
    /// Behind a quote that is never closed nothing counts, in later blocks neither: a quoted text
    /// with a fence in it ends its block, and what follows may be the rest of that text (X22).
    pub fn lines(&self) -> Vec<Result<Line, Problem>> {
        self.placed().map(|(_, line)| line).collect()
    }

    /// The same commands, each as it was written, also when it cannot be read; a block that was cut
    /// off is the last one.
    pub fn written(&self) -> Vec<(String, Option<Problem>)> {
        let mut written: Vec<_> = self.placed().map(as_written).collect();
        let unclosed = self.unclosed.iter();
        written.extend(unclosed.map(|problem| ("```cmd".to_owned(), Some(problem.clone()))));
        written
    }

    /// The commands, each with its block.
    fn placed(&self) -> impl Iterator<Item = (&Block, Result<Line, Problem>)> {
        let mut torn = false;
        let lines = |block| split_block(block).map(move |line| (block, line));
        let placed = self.blocks.iter().flat_map(lines);
        placed.take_while(move |(_, line)| !std::mem::replace(&mut torn, is_torn(line)))
    }

    fn finish(&mut self, reply: &str, block: Block) {
        if is_closed(&reply[block.span.clone()]) {
            self.blocks.push(block);
        } else {
            self.unclosed = Some(Problem::at(ProblemKind::UnclosedBlock, block.span));
        }
    }
}

fn split_block(block: &Block) -> impl Iterator<Item = Result<Line, Problem>> + use<> {
    split(&block.commands).into_iter()
}

/// A command that cannot be read is the whole line in which the reading stopped.
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

/// Whether the last line of a block is a fence of the kind of the first, and at least as long.
fn is_closed(block: &str) -> bool {
    let mut lines = block.trim_end().lines();
    let fence = lines.next().unwrap_or_default().trim_start();
    let mark = fence.chars().next().unwrap_or('`');
    let length = fence.chars().take_while(|c| *c == mark).count();
    let closes = |line: &str| line.chars().all(|c| c == mark) && line.chars().count() >= length;
    lines.last().is_some_and(|line| closes(line.trim()))
}

/// The texts between the blocks, with one empty line for each of them.
fn without(reply: &str, blocks: &[Block]) -> String {
    let starts = std::iter::once(0).chain(blocks.iter().map(|block| block.span.end));
    let ends = blocks.iter().map(|block| block.span.start);
    let texts = starts.zip(ends.chain([reply.len()]));
    // Only empty lines go: spaces before a block can be what makes it a quotation.
    let texts = texts.map(|(start, end)| reply[start..end].trim_end());
    let texts = texts.map(|text| text.trim_start_matches(['\n', '\r']));
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}
